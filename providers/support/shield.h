/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Work that comes to its end even if the tracer is killed meanwhile.
 *
 * To put a breakpoint into a process, to take it out, to count a semaphore up or down, the kernel
 * reaches for a page of that process on behalf of who asked, and gives up (EINTR) where that one
 * has a fatal signal pending. Who is killed while he closes a link on a thousand places leaves the
 * rest of them in the code of others, for good ("failed to unregister, leaking uprobe"); so does
 * who is killed while he makes one, since what has been made cannot be taken back then. What a
 * killed tracer holds otherwise is safe: when it is torn down the signal is no longer pending.
 *
 * So these calls are made by a child that shares memory and descriptors, but is a process of its
 * own, in a group of its own; the caller waits. If he is killed, the child finishes the call that
 * it is in, and as the last user of the descriptors it closes them all, with no signal pending.
 */
#ifndef WEFT_SUPPORT_SHIELD_H
#define WEFT_SUPPORT_SHIELD_H

/*
 * Calls work(arg) in such a child, and returns when it has been done; signals wait for that. Where
 * there can be no child (a limit on processes) it is called as it is. One costs some 30 us, so that
 * even who makes an event for each of many places does well to ask for each alone.
 *
 * A child that is killed alone leaves its work undone from there on: what it has to tell must say
 * so before it begins.
 *
 * work() reads and writes what the caller could, on 16 KiB of stack. It does nothing but system
 * calls, by syscall(2): the lock of the heap may be held by a thread that was killed, and what is a
 * point of cancellation would cancel the thread that waits.
 */
void support_shielded(void (*work)(void *arg), void *arg);

/* close(), for what keeps uprobes alive. */
void support_shielded_close(int fd);

#endif
