#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""guide.py BUILD SOURCE: reads docs/writing-a-provider.md as somebody would who has only what is installed.

The blocks of C are plugins/example/task.c from its first line to its last. The commands are run one after the other, in
an empty folder with that file, with an installed weft first in PATH; what they print is what the page says ("..." stands
for anything in a line). `cat FILE` of a file that is not there makes it.
"""
import os
import re
import subprocess
import sys
import tempfile

build, source = sys.argv[1:]
with open(source + "/docs/writing-a-provider.md") as f:
    page = f.read()
with open(source + "/plugins/example/task.c") as f:
    example = f.read()


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


def blocks(kind):
    return re.findall(r"^```%s\n(.*?)^```$" % kind, page, re.M | re.S)


def runs():
    """Each command with what it prints."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def fits(expected, printed):
    return re.fullmatch(re.escape(expected).replace(re.escape("..."), "[^\n]*"), printed)


if "\n".join(blocks("c")) != example:
    fail("the guide's blocks of C are not plugins/example/task.c")
if example.count("\n") >= 100:
    fail("the example has %d lines, and the guide promises less than 100" % example.count("\n"))

n = 0
with tempfile.TemporaryDirectory() as work:
    subprocess.run(["cmake", "--install", build, "--prefix", work + "/usr"], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(work + "/bin")
    os.makedirs(work + "/task")
    # Who reads the guide is somebody; who runs this is root, with a prefix that pkg-config does not know.
    for name, line in (("sudo", 'exec "$@"'), ("pkg-config", 'exec /usr/bin/pkg-config --define-prefix "$@"')):
        with open(work + "/bin/" + name, "w") as f:
            f.write("#!/bin/sh\n%s\n" % line)
        os.chmod(work + "/bin/" + name, 0o755)
    pc = subprocess.run(["find", work + "/usr", "-name", "weft-provider.pc"], stdout=subprocess.PIPE, text=True).stdout.strip()
    environment = {
        "PATH": "%s/bin:%s/usr/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" % (work, work),
        "PKG_CONFIG_PATH": os.path.dirname(pc),
        "HOME": work,
        "LC_ALL": "C",
    }
    with open(work + "/task/task.c", "w") as f:
        f.write(example)
    for command, output in runs():
        file = re.fullmatch(r"cat (\S+)", command)
        if file and not os.path.exists(work + "/task/" + file.group(1)):
            with open(work + "/task/" + file.group(1), "w") as f:
                f.write(output)
            continue
        done = subprocess.run(["bash", "-c", command], cwd=work + "/task", env=environment, text=True, capture_output=True, timeout=60)
        if not fits(output, done.stdout + done.stderr):
            fail("%s\nprints, with status %d:\n%s%sand the guide says:\n%s" % (command, done.returncode, done.stdout, done.stderr, output))
        n += 1
if n < 8:
    fail("the guide has %d commands" % n)
print("%d commands print what the guide says" % n)
