#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""test_layout.py INCLUDE: that layout.py finds each kind of change that breaks plugins, and lets pass what may change."""
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import layout

# Where, what is replaced by what, and the words that are said of it; None: nothing may be said.
CHANGES = [
    ("abi/probe.h", "\tuint32_t brief;\n\tuint32_t reserved;\n", "\tuint32_t brief;\n\tuint32_t reserved;\n\tuint64_t more;\n", None),
    ("abi/probe.h", "\tuint32_t brief;\n\tuint32_t reserved;\n", "\tuint32_t brief;\n\tuint32_t more;\n", None),
    ("abi/kernel.h", "\tuint32_t proto_id;", "\tuint32_t proto_number;", "weft_func_info.proto_id is gone"),
    ("abi/probe.h", "\tuint64_t period_ns;", "\tuint64_t added;\n\tuint64_t period_ns;", "weft_schedule.period_ns has moved from byte 8 to 16"),
    ("abi/probe.h", "\tuint64_t period_ns;", "\tint64_t period_ns;", "weft_schedule.period_ns is `int64_t` and was `uint64_t`"),
    ("abi/probe.h", "\tuint64_t period_ns;", "\tuint32_t period_ns;\n\tuint32_t rest;", "weft_schedule.period_ns has 4 bytes and had 8"),
    ("abi/probe.h", "\tuint64_t reserved_words[2];\n};", "\tuint64_t flavour;\n\tuint64_t reserved_words[1];\n};", None),
    ("abi/probe.h", "\tuint64_t reserved_words[2];\n};", "\tuint64_t reserved_words[3];\n};", "lies inside another struct"),
    ("abi/values.h", "\tuint32_t aux; ", "\tuint32_t auxiliary; ", "weft_loc_op.aux is gone"),
    ("abi/values.h", "\tint64_t imm;\n};", "\tint64_t imm, more;\n};", "weft_loc_op lies inside another struct or in an array without a stride"),
    ("abi/values.h", "\tuint32_t n_sites; ", "\tuint8_t n_sites; ", "weft_layout has padding"),
    ("abi/values.h", "WEFT_LOC_DUP = 60,", "WEFT_LOC_DUP = 62,", "the enumerator WEFT_LOC_DUP is 62 and was 60"),
    ("abi/values.h", "WEFT_LOC_DUP = 60,", "WEFT_LOC_DUP = 60, WEFT_LOC_OVER = 62,", None),
    ("abi/values.h", "#define WEFT_MAX_ARGS 64u", "#define WEFT_MAX_ARGS 32u", "the constant WEFT_MAX_ARGS is 32u and was 64u"),
    ("abi/values.h", "#define WEFT_MAX_ARGS 64u", "#define WEFT_MAX_ARGS 128u", None),
    ("abi/basics.h", "#define WEFT_OPTION_PER_SET ", "#define WEFT_OPTION_OF_SET ", "the constant WEFT_OPTION_PER_SET is gone"),
    ("provider.h", "\tint (*field_match)(const char *field, const char *text);", "\tint (*field_match)(const char *field, char *text);", "weft_host.field_match is"),
    ("provider.h", "\tvoid (*close)(struct weft_instance *);", "\tint (*close)(struct weft_instance *);", "weft_provider.close is"),
    ("provider.h", "struct weft_provider {", "struct weft_provider {\n\tuint64_t first;", "weft_provider.struct_size has moved"),
]


def main(include):
    old, failed = layout.Layout(include), 0
    with tempfile.TemporaryDirectory() as work:
        for file, before, after, words in CHANGES:
            shutil.rmtree(work + "/weft", ignore_errors=True)
            shutil.copytree(include + "/weft", work + "/weft")
            path = work + "/weft/" + file
            with open(path) as f:
                text = f.read()
            if before not in text:
                print("FAILED: %s has no %r: this test is to be brought up to date" % (file, before))
                failed += 1
                continue
            with open(path, "w") as f:
                f.write(text.replace(before, after, 1))
            found = layout.compare(old, layout.Layout(work))
            if (words is None and found) or (words is not None and not any(words in line for line in found)):
                print("FAILED: %s: %r -> %r: expected %s, found %s" % (file, before, after, words or "nothing", found))
                failed += 1
    print("%d changes, %d of them judged wrongly" % (len(CHANGES), failed))
    sys.exit(1 if failed else 0)


main(sys.argv[1])
