/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where a function lies in a program, as the note of its probe says: "0x1139". */
#ifndef WEFT_TEST_UPROBE_ADDRESS_H
#define WEFT_TEST_UPROBE_ADDRESS_H

void address_of(const char *program, const char *function, char out[32]);

#endif
