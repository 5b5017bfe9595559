<?php
// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Made-up orders: orders.php [HOW MANY, default for ever].   sudo trace-cli run examples/user-syscall/orders.yaml
require __DIR__ . "/weft_user.php";

$done = new WeftProbe("shop", "order_done", "uint64 id, text customer, int32 cents, string note, bytes tag");
if (WeftProbe::$reason)
	fwrite(STDERR, "no probes: " . WeftProbe::$reason . "\n");
$limit = (int)($argv[1] ?? 0);
for ($fired = 0; !$limit || $fired < $limit; usleep(1000)) {
	if (!$done->enabled())
		continue;
	$fired++;
	$done->fire($fired, $fired % 4 ? "Smith" : "Jones", $fired % 10 ? 250 : -100, "order $fired", "\0\1");
}
echo "$fired\n";
