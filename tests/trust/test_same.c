/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Programs of everyday, traced and not: what they write and how they end is the same, though
 * functions of their C library have probes on entry and on return, system calls are counted and
 * their stacks are sampled; and something was really traced.
 */
#include "support.h"

static const char set_text[] =
	"version: 1\n"
	"probes:\n"
	"  - probe: ['uprobe:libc.so.6:malloc:entry', 'uprobe:libc.so.6:free:entry',\n"
	"            'uprobe:libc.so.6:read:entry', 'uprobe:libc.so.6:write:entry']\n"
	"    do: [count: {into: calls, by: {f: probefunc}}]\n"
	"  - probe: ['uprobe:libc.so.6:malloc:return', 'uprobe:libc.so.6:read:return',\n"
	"            'uprobe:libc.so.6:qsort:return', 'uprobe:libc.so.6:getenv:return']\n"
	"    do: [quantize: {into: took, value: elapsed, by: {f: probefunc}}]\n"
	"  - probe: 'tracepoint:raw_syscalls::sys_enter'\n"
	"    do: [count: {into: syscalls, by: {s: ustack(8)}}]\n"
	"  - probe: 'profile:::profile-997'\n"
	"    do: [count: {into: samples, by: {s: ustack(16), k: stack(16)}}]\n";

static char dir[] = "/tmp/weft-test-same-XXXXXX";

/* What a shell that runs the program leaves: its output, both ways, and how it ended. */
static void write_script(const char *path, const char *program, const char *out)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	fprintf(f, "export OUT=%s LC_ALL=C PYTHONHASHSEED=0\n{ %s\n} >$OUT 2>&1\n", out, program);
	fprintf(f, "echo \"ended with $?\" >>$OUT\n");
	cr_assert_eq(fclose(f), 0);
}

static char *read_file(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	cr_assert(text && f, "%s", path);
	text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
	fclose(f);
	return text;
}

static void expect_same(const char *program)
{
	char script[128], out[128], command[160], *plain, *traced;
	const char *set = cli_set(set_text);
	struct cli_run c;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(script, sizeof(script), "%s/script", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(command, sizeof(command), "sh %s", script);
	write_script(script, program, out);
	cr_assert_eq(system(command), 0);
	plain = read_file(out);
	cr_expect(strstr(plain, "ended with") && !strstr(plain, "not found"), "%s", plain);
	unlink(out);
	CLI(&c, "run", BUILT_IN, set, "--follow", "-c", command);
	cr_expect(c.status == 0 || c.status == 3, "%d: %s", c.status, c.err);
	cr_expect(strstr(c.out, "\n  malloc "), "it is not traced: %s", c.out);
	cli_finish(&c);
	traced = read_file(out);
	cr_expect_str_eq(traced, plain);
	unlink(out);
	free(plain);
	free(traced);
	unlink(script);
	rmdir(dir);
	cli_unlink_sets();
}

TestSuite(trust_same, .timeout = 120);

Test(trust_same, bash)
{
	expect_same("bash -c 'declare -A a; for i in {1..400}; do a[$i]=$((i * i)); done; "
		    "for i in {1..400}; do echo $i ${a[$i]} $(echo -n $i); done; exit 7'");
}

Test(trust_same, python)
{
	expect_same("python3 -c 'import hashlib, json, sys\n"
		    "h = hashlib.sha256()\n"
		    "for i in range(20000): h.update(json.dumps({\"i\": i, \"s\": str(i) * 3})"
		    ".encode())\n"
		    "print(h.hexdigest()); print(sorted(str(x) for x in range(500)))\n"
		    "try: raise KeyError(5)\n"
		    "except KeyError as e: print(e)\n"
		    "sys.exit(3)'");
}

Test(trust_same, a_compiler)
{
	expect_same("printf 'int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\\n"
		    "int main(void) { return f(9); }\\n' | gcc -x c -O2 -S -o - -");
}

Test(trust_same, what_a_compiler_makes)
{
	expect_same("sh -c 'printf \"int main(void) { return 34; }\\n\" | gcc -x c -o $OUT.exe - && "
		    "$OUT.exe; echo $?; rm -f $OUT.exe'");
}

Test(trust_same, a_pipeline)
{
	expect_same("sh -c 'seq 1 3000 | sort -r | awk \"{ s += \\$1 * NR } END { print s }\"; "
		    "seq 1 2000 | gzip -9n | md5sum; kill -TERM $$'");
}

Test(trust_same, perl)
{
	expect_same("perl -e 'my %h; $h{$_ % 97} += $_ for 1..20000; "
		    "print \"$_ $h{$_}\\n\" for sort keys %h; die 5 if 0; exit 4'");
}
