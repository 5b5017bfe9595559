#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What the provider ABI's headers promise, read from the type information that the compiler makes of them.

layout.py compare OLD NEW   says each change that is no append; exit status 1 if there is one
layout.py table DIR         prints offsets and sizes as rows for layout_test.c

OLD, NEW and DIR are include directories: DIR/weft/provider.h. The rule is plugins/ABI.md's: structs grow at their
end, and by what was reserved; what lies inside another struct or in an array without a stride does not grow; no
struct has padding; enumerators and constants keep their numbers. Libabigail's abidiff knows neither which structs
have a stride, nor which members were reserved, nor macros, which most of the flags and limits are.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

FROZEN = {"weft_loc_op"}  # elements of arrays without a stride
NOT_PROMISED = {"WEFT_ABI_CURRENT", "WEFT_ABI_OLDEST"}


class Layout:
    def __init__(self, include):
        compiler = os.environ.get("WEFT_CC", "gcc")
        source = "#include <weft/provider.h>\n"
        with tempfile.TemporaryDirectory() as work:
            c, o = work + "/a.c", work + "/a.o"
            with open(c, "w") as f:
                f.write(source)
            subprocess.run([compiler, "-gbtf", "-fno-eliminate-unused-debug-types", "-I", include, "-c", c, "-o", o], check=True)
            btf = subprocess.run(["bpftool", "-j", "btf", "dump", "file", o], check=True, stdout=subprocess.PIPE).stdout
            self.types = {t["id"]: t for t in json.loads(btf)["types"]}
            macros = subprocess.run([compiler, "-E", "-dM", "-I", include, c], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.structs = {t["name"]: t for t in self.types.values() if t["kind"] in ("STRUCT", "UNION") and t["name"].startswith("weft_")}
        self.enums = {
            v["name"]: v["val"]
            for t in self.types.values()
            if t["kind"] in ("ENUM", "ENUM64") and t["name"].startswith("weft_")
            for v in t["values"]
        }
        self.macros = dict(re.findall(r"^#define (WEFT_\w+) +(\S.*)$", macros, re.M))
        for name in NOT_PROMISED:
            self.macros.pop(name, None)
        if not self.structs or not self.enums or not self.macros:
            sys.exit("layout.py: no type information of the headers in " + include)
        # Structs inside of others: they cannot grow.
        self.inside = FROZEN | {
            inner for s in self.structs.values() for m in s["members"] for inner in [self.contained(m["type_id"])] if inner
        }

    def bare(self, number):
        """The type behind typedefs and qualifiers."""
        t = self.types.get(number)
        while t and t["kind"] in ("TYPEDEF", "CONST", "VOLATILE", "RESTRICT"):
            t = self.types.get(t["type_id"])
        return t

    def contained(self, number):
        t = self.bare(number)
        while t and t["kind"] == "ARRAY":
            t = self.bare(t["type_id"])
        return t["name"] if t and t["kind"] in ("STRUCT", "UNION") else None

    def size(self, number):
        t = self.bare(number)
        if t["kind"] == "PTR":
            return 8
        return t["nr_elems"] * self.size(t["type_id"]) if t["kind"] == "ARRAY" else t["size"]

    def text(self, number):
        t = self.types.get(number)
        if not t:
            return "void"
        kind = t["kind"]
        if kind == "PTR":
            return self.text(t["type_id"]) + " *"
        if kind in ("CONST", "VOLATILE", "RESTRICT"):
            return kind.lower() + " " + self.text(t["type_id"])
        if kind == "ARRAY":
            return "%s[%d]" % (self.text(t["type_id"]), t["nr_elems"])
        if kind == "FUNC_PROTO":
            params = ["..." if not p["type_id"] else self.text(p["type_id"]) for p in t["params"]]
            return "%s (%s)" % (self.text(t["ret_type_id"]), ", ".join(params))
        return {"STRUCT": "struct ", "UNION": "union ", "ENUM": "enum ", "FWD": "struct "}.get(kind, "") + t["name"]

    def members(self, struct):
        """name -> (offset, size, type) in bytes"""
        return {
            m["name"]: (m["bits_offset"] // 8, self.size(m["type_id"]), self.text(m["type_id"])) for m in self.structs[struct]["members"]
        }

    def padding(self, struct):
        at = 0
        for name, (offset, size, _) in self.members(struct).items():
            if offset != at:
                return "before " + name
            at = offset + size
        return "at its end" if at != self.structs[struct]["size"] else None


def is_reserved(name):
    return name.startswith("reserved")


def compare_struct(old, new, struct, say):
    before, after = old.members(struct), new.members(struct)
    size, now = old.structs[struct]["size"], new.structs[struct]["size"]
    for name, (offset, width, kind) in before.items():
        if is_reserved(name):
            continue
        if name not in after:
            say("%s.%s is gone" % (struct, name))
        elif after[name][0] != offset:
            say("%s.%s has moved from byte %d to %d" % (struct, name, offset, after[name][0]))
        elif after[name][1] != width:
            say("%s.%s has %d bytes and had %d" % (struct, name, after[name][1], width))
        elif after[name][2] != kind:
            say("%s.%s is `%s` and was `%s`" % (struct, name, after[name][2], kind))
    room = [(o, o + w) for name, (o, w, _) in before.items() if is_reserved(name)]
    for name, (offset, width, _) in after.items():
        if is_reserved(name) or name in before or offset >= size:
            continue
        if not any(a <= offset and offset + width <= b for a, b in room):
            say("%s.%s was put between what was there" % (struct, name))
    if now < size:
        say("%s is smaller: %d bytes and was %d" % (struct, now, size))
    elif now > size and struct in old.inside:
        say("%s lies inside another struct or in an array without a stride, and has grown from %d bytes to %d" % (struct, size, now))


def is_larger_limit(name, before, after):
    try:
        return "_MAX_" in name and int(after.rstrip("u")) > int(before.rstrip("u"))
    except ValueError:
        return False


def compare(old, new):
    found = []
    for struct in old.structs:
        if struct in new.structs:
            compare_struct(old, new, struct, found.append)
        else:
            found.append("struct %s is gone" % struct)
    for struct in new.structs:
        where = new.padding(struct)
        if where:
            found.append("%s has padding %s" % (struct, where))
    for what, a, b in (("enumerator", old.enums, new.enums), ("constant", old.macros, new.macros)):
        for name, value in a.items():
            if name not in b:
                found.append("the %s %s is gone" % (what, name))
            elif b[name] != value and not is_larger_limit(name, value, b[name]):
                found.append("the %s %s is %s and was %s" % (what, name, b[name], value))
    return found


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        found = compare(Layout(sys.argv[2]), Layout(sys.argv[3]))
        for line in found:
            print(line)
        if found:
            print("Append instead; plugins/ABI.md, Versions, says what may change and how.")
        sys.exit(1 if found else 0)
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        layout = Layout(sys.argv[2])
        print("/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */")
        print("/* Made by tests/abi/freeze: struct, size, whether it may grow; struct, member, offset, size. */")
        for struct in sorted(layout.structs):
            print("STRUCT(%s, %d, %d)" % (struct, layout.structs[struct]["size"], struct not in layout.inside))
            for name, (offset, size, _) in layout.members(struct).items():
                if not is_reserved(name):
                    print("MEMBER(%s, %s, %d, %d)" % (struct, name, offset, size))
        return
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
