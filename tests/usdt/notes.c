/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "notes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *more(void *p, size_t n, size_t size)
{
	void *grown = n & (n - 1) ? p : realloc(p, (n ? 2 * n : 1) * size);

	cr_assert_not_null(grown);
	return grown;
}

static void read_notes(Elf_Data *data, struct test_file *out)
{
	size_t at = 0, name, desc;
	GElf_Nhdr h;

	while ((at = gelf_getnote(data, at, &h, &name, &desc)) > 0) {
		const char *d = (const char *)data->d_buf + desc;
		struct test_note *n;
		uint64_t words[3];

		if (h.n_type != 3 || strcmp((const char *)data->d_buf + name, "stapsdt") != 0)
			continue;
		out->notes = more(out->notes, out->n_notes, sizeof(*out->notes));
		n = &out->notes[out->n_notes++];
		memcpy(words, d, sizeof(words));
		n->pc = words[0];
		n->base = words[1];
		n->semaphore = words[2];
		d += sizeof(words);
		n->provider = strdup(d);
		d += strlen(d) + 1;
		n->name = strdup(d);
		d += strlen(d) + 1;
		n->args = strdup(d);
	}
}

static void read_symbols(Elf *elf, Elf_Data *data, const GElf_Shdr *sh, struct test_file *out)
{
	size_t count = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	GElf_Sym sym;

	for (size_t i = 0; i < count; i++) {
		const char *name;

		gelf_getsym(data, (int)i, &sym);
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (sym.st_shndx == SHN_UNDEF || !name || !*name)
			continue;
		out->symbols = more(out->symbols, out->n_symbols, sizeof(*out->symbols));
		out->symbols[out->n_symbols++] =
			(struct test_symbol){.name = strdup(name), .address = sym.st_value};
	}
}

void test_file_read(const char *path, struct test_file *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	size_t strings;
	GElf_Shdr sh;

	cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	cr_assert_not_null(elf);
	cr_assert_eq(elf_getshdrstrndx(elf, &strings), 0);
	memset(out, 0, sizeof(*out));
	while ((section = elf_nextscn(elf, section))) {
		gelf_getshdr(section, &sh);
		const char *name = elf_strptr(elf, strings, sh.sh_name);
		if (sh.sh_type == SHT_NOTE && !strcmp(name, ".note.stapsdt"))
			read_notes(elf_getdata(section, NULL), out);
		else if (sh.sh_type == SHT_SYMTAB || sh.sh_type == SHT_DYNSYM)
			read_symbols(elf, elf_getdata(section, NULL), &sh, out);
		else if (!strcmp(name, ".stapsdt.base"))
			out->base = sh.sh_addr;
	}
	elf_end(elf);
	close(fd);
}

void test_file_free(struct test_file *f)
{
	for (size_t i = 0; i < f->n_notes; i++) {
		free(f->notes[i].provider);
		free(f->notes[i].name);
		free(f->notes[i].args);
	}
	for (size_t i = 0; i < f->n_symbols; i++)
		free(f->symbols[i].name);
	free(f->notes);
	free(f->symbols);
	memset(f, 0, sizeof(*f));
}

int test_file_find(void *file, const char *name, size_t n, uint64_t *address)
{
	const struct test_file *f = file;

	for (size_t i = 0; i < f->n_symbols; i++) {
		if (!strncmp(f->symbols[i].name, name, n) && f->symbols[i].name[n] == '\0') {
			*address = f->symbols[i].address;
			return 0;
		}
	}
	return -ENOENT;
}
