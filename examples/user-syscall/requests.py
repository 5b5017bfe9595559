#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""A service that handles made-up requests: requests.py [HOW MANY, default for ever].

	sudo trace-cli run examples/user-syscall/requests.yaml
"""
import itertools
import sys
import time

import weft_user

done = weft_user.Probe("app", "request_done", "string path, uint32 status, uint64 ns, bytes body")
PATHS = ["/", "/login", "/search", "/images/1.png"]

if weft_user.reason:
	print("no probes:", weft_user.reason, file=sys.stderr)
limit = int(sys.argv[1]) if len(sys.argv) > 1 else None
fired = 0
for i in itertools.count():
	path, status = PATHS[i % len(PATHS)], 404 if i % 10 == 0 else 200
	if done.enabled:
		done.fire(path, status, 1000 * (i % 7 + 1), bytes([i & 255]) * 3)
		fired += 1
	if limit and fired >= limit:
		break
	time.sleep(0.001)
print(fired)
