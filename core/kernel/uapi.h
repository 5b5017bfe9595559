/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Constants of the kernel's interface that are newer than the 6.1 headers this is built with. Each
 * names the kernel version that brought it; using one means having tried it on the kernel at hand. */
#ifndef WEFT_KERNEL_UAPI_H
#define WEFT_KERNEL_UAPI_H

/* enum bpf_attach_type */
#define WEFT_BPF_TRACE_UPROBE_MULTI   48u /* 6.6; its pid filter is right since 6.10 */
#define WEFT_BPF_TRACE_KPROBE_SESSION 56u /* 6.10 */
#define WEFT_BPF_TRACE_UPROBE_SESSION 57u /* 6.13 */

/* bpf(2) link_create.uprobe_multi.flags */
#define WEFT_BPF_F_UPROBE_MULTI_RETURN 1u /* 6.6 */

/* The verifier keeps the newest part of a log that outgrows its buffer (6.4); this flag of
 * log_level brings back the older behaviour. */
#define WEFT_BPF_LOG_FIXED 8u

#endif
