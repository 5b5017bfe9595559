/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Indirect functions: the symbol is of a function that chooses, when a program is linked to it,
 * among bodies for different processors (memcpy, strlen ...). A probe on the name means the body.
 *
 * Which one it is is the same in every process of a machine, and where the file is a library that
 * this process has too, its dynamic linker has chosen already: it is asked. Otherwise the bodies
 * are the functions of the file that are called NAME_VARIANT or __NAME_VARIANT, all of which become
 * sites; where there is no such symbol (a stripped file) the bodies cannot be told.
 */
#include <dlfcn.h>
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "uprobe.h"

/* The body's address as linked, where this process has the file. */
static bool ask_linker(struct weft_uprobe_file *f, const struct weft_elf_symbol *s,
		       uint64_t *address)
{
	struct link_map *map = NULL;
	bool found = false;
	struct stat st;

	if (!f->elf->soname)
		return false;
	void *object = dlopen(f->elf->soname, RTLD_LAZY | RTLD_NOLOAD | RTLD_LOCAL);
	if (!object)
		return false;
	if (!dlinfo(object, RTLD_DI_LINKMAP, &map) && map && !stat(map->l_name, &st) &&
	    st.st_dev == f->dev && st.st_ino == f->ino) {
		void *body =
			s->version ? dlvsym(object, s->name, s->version) : dlsym(object, s->name);
		uint64_t at = (uint64_t)(uintptr_t)body - map->l_addr;

		/* It may be that of another file that stands in the way of this one's. */
		if (body && at != s->address &&
		    weft_uprobe_code_offset(f->elf, at) != WEFT_ELF_NO_OFFSET) {
			*address = at;
			found = true;
		}
	}
	dlclose(object);
	return found;
}

static bool is_variant(const char *name, const char *of)
{
	static const char *const variants[] = {
		"sse",     "ssse", "avx",  "evex", "erms",  "generic", "fma",  "c",        "rtm",
		"default", "i386", "i586", "i686", "asimd", "sve",     "neon", "unaligned"};
	size_t n = strlen(of);

	while (*name == '_' && *of != '_')
		name++;
	if (strncmp(name, of, n) != 0 || name[n] != '_')
		return false;
	name += n;
	while (*name == '_')
		name++;
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		size_t k = strlen(variants[i]);

		if (!strncmp(name, variants[i], k) &&
		    (!name[k] || name[k] == '_' || (name[k] >= '0' && name[k] <= '9')))
			return true;
	}
	return false;
}

static int add(struct weft_uprobe_file *f, uint64_t address, uint64_t size,
	       struct weft_uprobe_probe *probe)
{
	const struct weft_uprobe_site site = {
		.file = f,
		.address = address,
		.offset = weft_uprobe_code_offset(f->elf, address),
		.size = size,
	};

	return site.offset == WEFT_ELF_NO_OFFSET ? 0 : weft_uprobe_site_add(probe, &site);
}

int weft_uprobe_ifunc(struct weft_instance *in, struct weft_uprobe_file *f,
		      const struct weft_elf_symbol *s, struct weft_uprobe_probe *probe)
{
	uint64_t address;
	int ret = 0;

	(void)in;
	if (ask_linker(f, s, &address)) {
		const struct weft_elf_symbol *body = weft_uprobe_function_at(f, address);
		return add(f, address, body ? body->size : 0, probe);
	}
	for (uint32_t i = 0; i < f->elf->n_symbols && !ret; i++) {
		const struct weft_elf_symbol *b = weft_elf_symbol_at(f->elf, i);

		if (b->type == STT_FUNC && is_variant(b->name, s->name))
			ret = add(f, b->address, b->size, probe);
	}
	return ret;
}
