/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Signals by name. The list of names stands in the action's row, for the pages that print it. */
#include "core/lang/clause.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIGNAL 64u /* _NSIG of the kernel */

#define ROW(name)                \
	{                        \
#name, SIG##name \
	}
static const struct {
	const char *name;
	int number;
} signals[] = {
	ROW(HUP),  ROW(INT),  ROW(QUIT), ROW(ILL),  ROW(TRAP),  ROW(ABRT),   ROW(BUS),  ROW(FPE),
	ROW(KILL), ROW(USR1), ROW(SEGV), ROW(USR2), ROW(PIPE),  ROW(ALRM),   ROW(TERM), ROW(CHLD),
	ROW(CONT), ROW(STOP), ROW(TSTP), ROW(TTIN), ROW(TTOU),  ROW(URG),    ROW(XCPU), ROW(XFSZ),
	ROW(PROF), ROW(IO),   ROW(PWR),  ROW(SYS),  ROW(WINCH), ROW(VTALRM),
};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static int number_of(const char *name)
{
	if (!strncmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < N_SIGNALS; i++)
		if (!strcmp(signals[i].name, name))
			return signals[i].number;
	return 0;
}

void weft_take_signal(struct weft_clause_typer *c, const struct weft_item *item)
{
	const char *names[N_SIGNALS], *text = item->text.s, *near;
	unsigned long n;

	c->s.src.text = &item->text;
	if (strspn(text, "0123456789") == strlen(text) && *text) {
		n = strlen(text) < 6 ? strtoul(text, NULL, 10) : 0;
		if (n && n <= MOST_SIGNAL)
			c->out->signal = (int)n;
		else
			weft_sema_fail(&c->s, 0, "EXPR_NUMBER_RANGE",
				       "signals are numbered from 1 to %u", MOST_SIGNAL);
		return;
	}
	c->out->signal = number_of(text);
	if (c->out->signal)
		return;
	for (size_t i = 0; i < N_SIGNALS; i++)
		names[i] = signals[i].name;
	weft_sema_fail(&c->s, 0, "NAME_UNKNOWN", "there is no signal `%.80s`", text);
	near = weft_nearest(strncmp(text, "SIG", 3) ? text : text + 3, names, N_SIGNALS);
	if (near)
		weft_error_suggest(c->s.src.err, near);
}

void weft_check_destructive(struct weft_clause_typer *c)
{
	const struct weft_action *a = c->action;
	const struct weft_text place = {.s = "", .pos = a->pos}, *outer = c->s.src.text;

	if (a->spec->group != WEFT_GROUP_DESTRUCTIVE)
		return;
	c->s.src.text = &place;
	if (!c->s.env->destructive)
		weft_sema_fail(&c->s, 0, "DESTRUCTIVE",
			       "`%s` changes what is traced: it is allowed by --destructive alone",
			       a->spec->name);
	if (!c->s.env->info && !c->s.unknown_probe)
		weft_sema_fail(&c->s, 0, "SIGNAL_NONE",
			       "`%s` is for the process that fires a probe, and in `begin` and `end` "
			       "there is none",
			       a->spec->name);
	c->s.src.text = outer;
}
