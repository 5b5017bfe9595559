/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Has the section by which Go programs are known. */
__attribute__((section(".go.buildinfo"), used)) static const char info[] = "\xff Go buildinf:";

int main(void)
{
	return 0;
}
