/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "image.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define HOST_MACHINE    EM_X86_64
#define HOST_R_RELATIVE R_X86_64_RELATIVE
#define HOST_R_ABSOLUTE R_X86_64_64
#elif defined(__aarch64__)
#define HOST_MACHINE    EM_AARCH64
#define HOST_R_RELATIVE R_AARCH64_RELATIVE
#define HOST_R_ABSOLUTE R_AARCH64_ABS64
#else
#error "the relocation numbers of this architecture are missing here"
#endif
#define R_NONE 0 /* on every architecture */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA ELFDATA2LSB
#else
#define HOST_DATA ELFDATA2MSB
#endif

#define FROM_ELSEWHERE UINT64_MAX

struct image {
	int fd;
	uint64_t size;
	uint64_t budget; /* bytes of sections that may still be read */
	Elf *elf;
	struct weft_provider_view *view;
	struct weft_error *err;
	Elf_Scn *dynsym;
	GElf_Sym symbol;
};

/* libelf has no public code for a lack of memory; errno, which weft_image_check() clears, tells. */
static int damaged(struct image *im, const char *what)
{
	if (errno == ENOMEM)
		return weft_nomem(im->err);
	return weft_fail(im->err, -ENOEXEC, "PLUGIN_NOT_ELF", "%s is damaged: %s", im->view->file,
			 what);
}

/* Reads exactly n bytes; -ENODATA if the file has not so many there. */
static int read_at(const struct image *im, uint64_t offset, void *buf, size_t n)
{
	unsigned char *p = buf;

	if (offset > im->size || n > im->size - offset)
		return -ENODATA;
	while (n > 0) {
		ssize_t got = pread(im->fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ENODATA;
		p += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

/* ---- what kind of file ---- */

static const struct machine {
	unsigned int number;
	const char *name;
} machines[] = {
	{EM_386, "i386"},    {EM_ARM, "arm"},         {EM_X86_64, "x86-64"}, {EM_AARCH64, "arm64"},
	{EM_RISCV, "riscv"}, {EM_PPC, "powerpc"},     {EM_PPC64, "ppc64"},   {EM_S390, "s390"},
	{EM_MIPS, "mips"},   {EM_SPARCV9, "sparc64"},
};

static const char *machine_name(unsigned int number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (machines[i].number == number)
			return machines[i].name;
	}
	return "an unknown machine";
}

static const char *type_name(unsigned int type)
{
	switch (type) {
	case ET_REL:
		return "an object file that is not linked";
	case ET_EXEC:
		return "a program";
	case ET_CORE:
		return "a core dump";
	default:
		return "of an unknown type";
	}
}

static unsigned int half(const unsigned char *p, bool big)
{
	return big ? (unsigned int)p[0] << 8 | p[1] : (unsigned int)p[1] << 8 | p[0];
}

static const char *class_name(unsigned char class)
{
	return class == ELFCLASS64 ? "64-bit" : class == ELFCLASS32 ? "32-bit" : "of unknown size";
}

static const char *order_name(unsigned char data)
{
	return data == ELFDATA2LSB   ? "little-endian"
	       : data == ELFDATA2MSB ? "big-endian"
				     : "of unknown byte order";
}

static int check_kind(struct image *im)
{
	Elf64_Ehdr head = {0};
	const unsigned char *bytes = (const unsigned char *)&head;
	const char *file = im->view->file;
	unsigned int type, machine;
	int ret;

	if (im->size == 0)
		return weft_fail(im->err, -ENOEXEC, "PLUGIN_NOT_ELF",
				 "%s is empty; a plugin is an ELF shared object", file);
	ret = read_at(im, 0, &head, im->size < sizeof(head) ? im->size : sizeof(head));
	if (ret)
		return weft_fail(im->err, ret, "PLUGIN_OPEN", "%s cannot be read: %s", file,
				 strerror(-ret));
	if (memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return weft_fail(im->err, -ENOEXEC, "PLUGIN_NOT_ELF",
				 "%s is not an ELF file; a plugin is an ELF shared object", file);
	if (im->size < sizeof(head))
		return damaged(im, "it ends within its header");

	/* Up to here a header is the same in both classes. */
	type = half(bytes + offsetof(Elf64_Ehdr, e_type), bytes[EI_DATA] == ELFDATA2MSB);
	machine = half(bytes + offsetof(Elf64_Ehdr, e_machine), bytes[EI_DATA] == ELFDATA2MSB);
	if (bytes[EI_CLASS] != ELFCLASS64 || bytes[EI_DATA] != HOST_DATA || machine != HOST_MACHINE)
		return weft_fail(im->err, -ENOEXEC, "PLUGIN_FOREIGN",
				 "%s is for %s (%s, %s, ELF machine %u), and this weft is for %s "
				 "(%s, %s): get the plugin built for this machine",
				 file, machine_name(machine), class_name(bytes[EI_CLASS]),
				 order_name(bytes[EI_DATA]), machine, machine_name(HOST_MACHINE),
				 class_name(ELFCLASS64), order_name(HOST_DATA));
	if (type != ET_DYN)
		return weft_fail(im->err, -ENOEXEC, "PLUGIN_NOT_ELF",
				 "%s is %s; a plugin is an ELF shared object", file,
				 type_name(type));
	/* The escapes for more than 65,279 sections or segments; libelf would allocate for them all. */
	if (head.e_shnum == 0 || head.e_shnum >= SHN_LORESERVE || head.e_phnum == PN_XNUM)
		return damaged(im, "it has no sections, or more than a shared object can need");
	return 0;
}

/* ---- sections ---- */

/* The whole of a section that was not read before; NULL where the budget or the file ends. */
static Elf_Data *section_data(struct image *im, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data;

	if (sh->sh_size > im->budget || sh->sh_offset > im->size ||
	    sh->sh_size > im->size - sh->sh_offset)
		return NULL;
	im->budget -= sh->sh_size;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size == sh->sh_size ? data : NULL;
}

static Elf_Scn *find_section(struct image *im, unsigned int type, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(im->elf, scn))) {
		if (gelf_getshdr(scn, sh) && sh->sh_type == type)
			return scn;
	}
	return NULL;
}

static int no_symbol(struct image *im, const char *why)
{
	return weft_fail(im->err, -ENOENT, "PLUGIN_NO_SYMBOL",
			 "%s %s the symbol " WEFT_PROVIDER_SYMBOL
			 ": it is a library, but no plugin of weft's",
			 im->view->file, why);
}

static int find_symbol(struct image *im)
{
	static const char name[] = WEFT_PROVIDER_SYMBOL;
	GElf_Shdr sh, str_sh;
	Elf_Data *data, *strings;
	Elf_Scn *str_scn;
	size_t n;

	im->dynsym = find_section(im, SHT_DYNSYM, &sh);
	if (!im->dynsym)
		return no_symbol(im, "exports nothing, so not");
	data = section_data(im, im->dynsym, &sh);
	str_scn = elf_getscn(im->elf, sh.sh_link);
	if (!data || !str_scn || !gelf_getshdr(str_scn, &str_sh) || str_sh.sh_type != SHT_STRTAB)
		return damaged(im, "its table of symbols cannot be read");
	strings = section_data(im, str_scn, &str_sh);
	if (!strings)
		return damaged(im, "the names of its symbols cannot be read");

	n = data->d_size / sizeof(Elf64_Sym);
	for (size_t i = 1; i < n && i <= INT32_MAX; i++) {
		GElf_Sym *sym = &im->symbol;

		/* Not elf_strptr(): it searches a table without a last NUL to its end each time. */
		if (!gelf_getsym(data, (int)i, sym) || sym->st_name > strings->d_size ||
		    strings->d_size - sym->st_name < sizeof(name) ||
		    memcmp((char *)strings->d_buf + sym->st_name, name, sizeof(name)) != 0)
			continue;
		if (sym->st_shndx == SHN_UNDEF)
			return no_symbol(im, "imports and does not define");
		return 0;
	}
	return no_symbol(im, "does not export");
}

static int bad_symbol(struct image *im, const char *what)
{
	return weft_fail(im->err, -EINVAL, "PLUGIN_SYMBOL",
			 "%s: its " WEFT_PROVIDER_SYMBOL
			 " %s; it is to be an initialised const struct weft_provider",
			 im->view->file, what);
}

static int check_symbol(struct image *im)
{
	const GElf_Sym *sym = &im->symbol;
	Elf_Scn *scn;
	GElf_Shdr sh;

	if (GELF_ST_TYPE(sym->st_info) == STT_FUNC || GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
		return bad_symbol(im, "is a function");
	if (GELF_ST_TYPE(sym->st_info) == STT_TLS)
		return bad_symbol(im, "is a thread's own variable");
	if (GELF_ST_TYPE(sym->st_info) != STT_OBJECT)
		return bad_symbol(im, "is no variable");
	scn = sym->st_shndx < SHN_LORESERVE ? elf_getscn(im->elf, sym->st_shndx) : NULL;
	if (!scn || !gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC))
		return bad_symbol(im, "lies in no section of the program");
	if (sh.sh_flags & SHF_EXECINSTR)
		return bad_symbol(im, "lies among instructions");
	if (sh.sh_type != SHT_PROGBITS)
		return bad_symbol(im, "has no initial value");
	if (sym->st_value % sizeof(uint64_t))
		return bad_symbol(im, "is not aligned");
	if (sym->st_size < offsetof(struct weft_provider, name))
		return bad_symbol(im, "is too small to say even its size");
	return 0;
}

/* ---- memory as the segments will make it ---- */

/* Reads up to n bytes at an address, as many as its segment has in the file. Returns how many. */
static size_t read_address(struct image *im, uint64_t address, void *buf, size_t n)
{
	size_t count;

	if (elf_getphdrnum(im->elf, &count))
		return 0;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
		GElf_Phdr ph;
		uint64_t skip;

		if (!gelf_getphdr(im->elf, (int)i, &ph))
			return 0;
		if (ph.p_type != PT_LOAD || address < ph.p_vaddr ||
		    address - ph.p_vaddr >= ph.p_filesz)
			continue;
		skip = address - ph.p_vaddr;
		if (n > ph.p_filesz - skip)
			n = ph.p_filesz - skip;
		if (ph.p_offset > UINT64_MAX - skip || ph.p_offset + skip > im->size)
			return 0;
		if (n > im->size - (ph.p_offset + skip))
			n = im->size - (ph.p_offset + skip);
		return read_at(im, ph.p_offset + skip, buf, n) ? 0 : n;
	}
	return 0;
}

/* ---- relocations ---- */

/* The dynamic linker will write a word at `address`; value: what, with the file loaded at 0. */
static int relocate(struct image *im, uint64_t address, uint64_t value)
{
	struct weft_provider_view *v = im->view;
	uint64_t begin = im->symbol.st_value, at;

	if (address + sizeof(uint64_t) <= begin && address <= UINT64_MAX - sizeof(uint64_t))
		return 0;
	if (address >= begin && address - begin >= v->struct_size)
		return 0;
	if (address <= begin)
		return bad_symbol(im, "has its size and version written by the dynamic linker");
	at = address - begin;
	if (at % sizeof(uint64_t))
		return bad_symbol(im, "has an address across two of its members");
	at /= sizeof(uint64_t);
	if (at >= WEFT_PROVIDER_MAX_WORDS)
		return 0;
	v->words[at] = value;
	v->relocated[at] = true;
	return 0;
}

static int apply_rela(struct image *im, const Elf_Data *data, Elf_Data *symbols)
{
	const Elf64_Rela *rela = data->d_buf;
	size_t n = data->d_size / sizeof(*rela);
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		GElf_Sym sym;

		switch (ELF64_R_TYPE(rela[i].r_info)) {
		case R_NONE:
			break;
		case HOST_R_RELATIVE:
			ret = relocate(im, rela[i].r_offset, (uint64_t)rela[i].r_addend);
			break;
		case HOST_R_ABSOLUTE:
			if (ELF64_R_SYM(rela[i].r_info) <= INT32_MAX &&
			    gelf_getsym(symbols, (int)ELF64_R_SYM(rela[i].r_info), &sym) &&
			    sym.st_shndx != SHN_UNDEF)
				ret = relocate(im, rela[i].r_offset,
					       sym.st_value + (uint64_t)rela[i].r_addend);
			else
				ret = relocate(im, rela[i].r_offset, FROM_ELSEWHERE);
			break;
		default:
			ret = relocate(im, rela[i].r_offset, FROM_ELSEWHERE);
		}
	}
	return ret;
}

/* The word at address holds what is relative to the load address already. */
static int apply_relr_word(struct image *im, uint64_t address)
{
	uint64_t at = address - im->symbol.st_value;

	if (address >= im->symbol.st_value && at < im->view->struct_size && at % 8 == 0)
		return relocate(im, address, im->view->words[at / 8]);
	return relocate(im, address, FROM_ELSEWHERE);
}

/* RELR (generic ELF ABI, SHT_RELR): an even word is an address to relocate; an odd one is a bitmap
 * of the 63 words that follow the last address or bitmap. */
static int apply_relr(struct image *im, const Elf_Data *data)
{
	const uint64_t *words = data->d_buf;
	size_t n = data->d_size / sizeof(*words);
	uint64_t begin = im->symbol.st_value, end = begin + im->view->struct_size;
	uint64_t base = 0;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++) {
		if (!(words[i] & 1)) {
			ret = apply_relr_word(im, words[i]);
			base = words[i] + 8;
			continue;
		}
		/* Most bitmaps are of no interest, and a hostile file may have millions. */
		if (base < end && base + UINT64_C(64) * 8 > begin) {
			for (unsigned int bit = 1; bit < 64 && !ret; bit++) {
				if (words[i] >> bit & 1)
					ret = apply_relr_word(im, base + UINT64_C(8) * (bit - 1));
			}
		}
		base += UINT64_C(63) * 8;
	}
	return ret;
}

static int apply_relocations(struct image *im)
{
	Elf_Data *symbols = elf_getdata(im->dynsym, NULL); /* read before: cached by libelf */
	Elf_Scn *scn = NULL;
	int ret = 0;

	while (!ret && (scn = elf_nextscn(im->elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) ||
		    (sh.sh_type != SHT_RELA && sh.sh_type != SHT_RELR) || sh.sh_size == 0)
			continue;
		data = section_data(im, scn, &sh);
		if (!data)
			return damaged(im, "its relocations cannot be read");
		ret = sh.sh_type == SHT_RELA ? apply_rela(im, data, symbols) : apply_relr(im, data);
	}
	return ret;
}

/* ---- the view ---- */

static int read_view(struct image *im)
{
	struct weft_provider_view *v = im->view;
	uint64_t begin = im->symbol.st_value, name;
	char text[WEFT_PROVIDER_NAME_BYTES];
	uint32_t head[2];
	int ret;

	v->in_file = true;
	v->symbol_size = im->symbol.st_size;
	if (read_address(im, begin, head, sizeof(head)) != sizeof(head))
		return damaged(im, WEFT_PROVIDER_SYMBOL " lies outside the file");
	v->struct_size = head[0];
	v->abi_version = head[1];
	ret = weft_check_head(v, im->err);
	if (ret)
		return ret;
	if (read_address(im, begin, v->words, v->struct_size) != v->struct_size)
		return damaged(im, WEFT_PROVIDER_SYMBOL " lies outside the file");
	ret = apply_relocations(im);
	if (ret)
		return ret;
	name = v->words[offsetof(struct weft_provider, name) / sizeof(uint64_t)];
	if (name)
		weft_view_set_name(v, text, read_address(im, name, text, sizeof(text)));
	return weft_check_body(v, im->err);
}

int weft_image_check(int fd, uint64_t size, struct weft_provider_view *view, struct weft_error *err)
{
	struct image im = {.fd = fd, .size = size, .budget = size, .view = view, .err = err};
	int ret;

	if (size > WEFT_PLUGIN_MAX_FILE)
		return weft_fail(err, -EFBIG, "PLUGIN_OPEN",
				 "%s is %llu bytes long; a plugin has at most %u", view->file,
				 (unsigned long long)size, WEFT_PLUGIN_MAX_FILE);
	errno = 0;
	ret = check_kind(&im);
	if (ret)
		return ret;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return weft_fail(err, -ENOTSUP, "PLUGIN_NOT_ELF",
				 "%s cannot be read: this libelf does not know ELF version %d",
				 view->file, EV_CURRENT);
	im.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!im.elf || elf_kind(im.elf) != ELF_K_ELF) {
		ret = damaged(&im, elf_errmsg(-1));
		goto out;
	}
	ret = find_symbol(&im);
	if (ret)
		goto out;
	ret = check_symbol(&im);
	if (ret)
		goto out;
	ret = read_view(&im);
out:
	elf_end(im.elf);
	return ret;
}

int weft_live_check(const void *symbol, struct weft_provider_view *view, struct weft_error *err)
{
	const struct weft_provider *provider = symbol;
	int ret;

	view->in_file = false;
	view->struct_size = provider->struct_size;
	view->abi_version = provider->abi_version;
	view->symbol_size = view->struct_size;
	ret = weft_check_head(view, err);
	if (ret)
		return ret;
	memcpy(view->words, symbol, view->struct_size);
	if (provider->name)
		weft_view_set_name(view, provider->name,
				   strnlen(provider->name, WEFT_PROVIDER_NAME_BYTES) + 1);
	return weft_check_body(view, err);
}
