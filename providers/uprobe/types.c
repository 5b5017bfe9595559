/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What debugging information says of a function's arguments. Only of functions that are named
 * exactly: probes of a pattern share one program, which they could not if each had types of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "uprobe.h"

static bool has_types(const struct weft_elf *elf)
{
	if (elf->debug_file)
		return true;
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		const char *name = weft_elf_section_at(elf, i)->name;

		if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
			return true;
	}
	return false;
}

const struct weft_elf_function *weft_uprobe_types(struct weft_instance *in,
						  const struct weft_uprobe_probe *p)
{
	const struct weft_host *host = in->host;
	const struct weft_elf_function *found;
	struct weft_uprobe_file *f;

	/* Namesakes may have other arguments; a Go program passes them in its own way. */
	if (!p->exact || p->n_sites != 1 || p->kind == WEFT_UPROBE_OFFSET || p->sites[0].file->go)
		return NULL;
	f = p->sites[0].file;
	for (size_t i = 0; i < f->n_types; i++)
		if (f->types[i]->address == p->sites[0].address)
			return f->types[i]->status ? NULL : f->types[i];
	if (!has_types(f->elf) ||
	    host->struct_size < offsetof(struct weft_host, elf_functions) + sizeof(void *))
		return NULL;
	const struct weft_elf_request request = {
		.struct_size = sizeof(request),
		.fd = f->fd,
		.want = WEFT_ELF_WANT_DEBUG,
		.path = f->path,
		.root = f->root,
	};
	/* Without it there are the plain words, which is no failure. */
	if (host->elf_functions(host, f->elf, &request, &p->sites[0].address, 1, &found, NULL) ||
	    weft_uprobe_grow(&f->types, &f->cap_types, f->n_types,
			     sizeof(const struct weft_elf_function *)))
		return NULL;
	f->types[f->n_types++] = found;
	return found->status ? NULL : found;
}

/* What of the registers and the stack the location of an argument starts from. */
static uint32_t needs_of(const struct weft_location *l)
{
	uint32_t needs = 0;

	for (uint32_t i = 0; i < l->n_ops; i++) {
		const struct weft_loc_op *op = &l->ops[i];

		if (op->op == WEFT_LOC_ARG && !(op->flags & WEFT_LOC_USER) &&
		    (uint64_t)op->imm < weft_uprobe_arch.n_reg_args)
			needs |= 1u << op->imm;
		else if (op->op == WEFT_LOC_LOAD)
			needs |= WEFT_UPROBE_TOUCHES_MEMORY;
		else if (op->op == WEFT_LOC_REG && (uint64_t)op->imm == weft_uprobe_arch.dwarf_sp)
			needs |= WEFT_UPROBE_TOUCHES_STACK;
		else if (op->op == WEFT_LOC_REG)
			needs |= weft_uprobe_arch_register(op->imm);
		else if (op->op == WEFT_LOC_ARG || op->op == WEFT_LOC_CTX ||
			 op->op == WEFT_LOC_CTX_ADDR)
			needs = UINT32_MAX;
	}
	return needs;
}

uint32_t weft_uprobe_needs(struct weft_instance *in, const struct weft_uprobe_probe *p,
			   uint64_t used_args)
{
	const struct weft_elf_function *types = weft_uprobe_types(in, p);
	uint32_t n = weft_uprobe_arch.n_reg_args, needs = 0;

	if (!types) {
		needs = used_args & ((1u << n) - 1);
		if (used_args >> n)
			needs |= WEFT_UPROBE_TOUCHES_STACK | WEFT_UPROBE_TOUCHES_MEMORY;
		return needs;
	}
	for (uint32_t i = 0; i < types->n_args; i++)
		if (used_args >> i & 1)
			needs |= needs_of(&((const struct weft_arg *)((const char *)types->args +
								      (size_t)i * types->arg_size))
						   ->where);
	return needs;
}
