/*
 * elf.c - reading the tables of loaded objects; see elf.h.
 *
 * Addresses in the dynamic section: glibc relocates them in place, other
 * linkers (and the kernel's vdso) do not. An address below the object's base
 * has not been relocated.
 */
#include "elf.h"

#include <sys/mman.h>
#include <unistd.h>

static const void *at(uintptr_t base, ElfW(Addr) address)
{
    return (const void *)(address < base ? base + address : address);
}

static const char *last_part(const char *path)
{
    const char *part = path;

    for (; *path; path++)
        if (*path == '/')
            part = path + 1;
    return part;
}

/* The path, the base and `dynamic` are known. */
static bool read_dynamic(const ElfW(Dyn) *dynamic, sw_object_t *to)
{
    ElfW(Addr) soname = 0;

    to->dynamic = dynamic;
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
        const void *p = at(to->base, d->d_un.d_ptr);
        switch (d->d_tag) {
        case DT_SYMTAB: to->symbols = p; break;
        case DT_STRTAB: to->strings = p; break;
        case DT_GNU_HASH: to->gnu_hash = p; break;
        case DT_HASH: to->hash = p; break;
        case DT_VERSYM: to->versions = p; break;
        case DT_RELA: to->rela = p; break;
        case DT_JMPREL: to->jmprel = p; break;
        case DT_RELASZ:
            to->rela_count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_PLTRELSZ:
            to->jmprel_count = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELACOUNT: to->rela_relative = d->d_un.d_val; break;
        case DT_SONAME: soname = d->d_un.d_val; break;
        }
    }
    if (!to->symbols || !to->strings)
        return false;
    to->soname = soname ? to->strings + soname : last_part(to->path);
    return true;
}

static bool read_object(const struct dl_phdr_info *info, sw_object_t *to)
{
    *to = (sw_object_t){.path = info->dlpi_name ? info->dlpi_name : "",
                        .base = info->dlpi_addr,
                        .phdr = info->dlpi_phdr,
                        .phnum = info->dlpi_phnum};
    for (int i = 0; i < to->phnum; i++)
        if (to->phdr[i].p_type == PT_DYNAMIC)
            return read_dynamic((const void *)(to->base + to->phdr[i].p_vaddr),
                                to);
    return false;
}

/* libc's own dl_iterate_phdr, looked for once in the dynamic linker's list. At
 * the first call no thread loads objects: it comes while the program starts. */
typedef int iterate_t(int (*each)(struct dl_phdr_info *, size_t, void *),
                      void *context);

static iterate_t *libcs_iterate(void)
{
    sw_object_t object;

    for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
        object = (sw_object_t){.path = m->l_name, .base = m->l_addr};
        if (m->l_ld && read_dynamic(m->l_ld, &object) &&
            sw_object_address(&object, "gnu_get_libc_version")) {
            iterate_t *found = (iterate_t *)sw_object_address(
                &object, "dl_iterate_phdr");
            if (found)
                return found;
        }
    }
    return dl_iterate_phdr;
}

static int iterate(int (*each)(struct dl_phdr_info *, size_t, void *),
                   void *context)
{
    static _Atomic(iterate_t *) known;
    iterate_t *real = atomic_load_explicit(&known, memory_order_relaxed);

    if (sw_unlikely(!real)) {
        real = libcs_iterate();
        atomic_store_explicit(&known, real, memory_order_relaxed);
    }
    return real(each, context);
}

struct walk {
    int (*each)(const sw_object_t *, void *);
    void *context;
};

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    struct walk *walk = context;
    sw_object_t object;

    return read_object(info, &object) ? walk->each(&object, walk->context) : 0;
}

int sw_objects_walk(int (*each)(const sw_object_t *, void *), void *context)
{
    struct walk walk = {each, context};

    return iterate(visit, &walk);
}

static int counters(struct dl_phdr_info *info, size_t size, void *context)
{
    *(uint64_t *)context = info->dlpi_adds << 24 ^ info->dlpi_subs;
    return 1;
}

uint64_t sw_objects_generation(void)
{
    uint64_t generation = 0;

    iterate(counters, &generation);
    return generation;
}

sw_name_t sw_name(const char *text)
{
    sw_name_t name = {text, 5381, 0};

    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        name.gnu = name.gnu * 33 + *c;
        name.sysv = (name.sysv << 4) + *c;
        name.sysv ^= (name.sysv >> 24) & 0xf0;
    }
    name.sysv &= 0x0fffffff;
    return name;
}

/* A definition that other objects see: a value, and not a hidden version. */
static bool matches(const sw_object_t *object, uint32_t i,
                    const sw_name_t *name)
{
    const ElfW(Sym) *symbol = &object->symbols[i];

    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           !(object->versions && (object->versions[i] & 0x8000)) &&
           sw_elf_text_order(object->strings + symbol->st_name, name->text) ==
               0;
}

/* DT_GNU_HASH: bucket count, first hashed symbol, Bloom filter's words and
 * shift; the filter; the buckets; one word a hashed symbol: its hash, whose
 * lowest bit ends the bucket's chain. */
const ElfW(Sym) *sw_object_symbol(const sw_object_t *object,
                                  const sw_name_t *name)
{
    const uint32_t *table = object->gnu_hash;

    if (table) {
        uint32_t buckets = table[0], first = table[1], words = table[2];
        const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
        const uint32_t *bucket = (const uint32_t *)(bloom + words);
        const uint32_t *chain = bucket + buckets;
        const unsigned bits = 8 * sizeof(ElfW(Addr));
        ElfW(Addr) word;

        if (buckets == 0 || words == 0)
            return NULL;
        word = bloom[name->gnu / bits & (words - 1)];
        if (!(word >> name->gnu % bits &
              word >> (name->gnu >> table[3]) % bits & 1))
            return NULL;
        uint32_t i = bucket[name->gnu % buckets];
        if (i < first)
            return NULL;
        for (;; i++) {
            uint32_t hash = chain[i - first];
            if ((hash | 1) == (name->gnu | 1) && matches(object, i, name))
                return &object->symbols[i];
            if (hash & 1)
                return NULL;
        }
    }
    table = object->hash;
    if (table && table[0])
        for (uint32_t i = table[2 + name->sysv % table[0]]; i;
             i = table[2 + table[0] + i])
            if (matches(object, i, name))
                return &object->symbols[i];
    return NULL;
}

void *sw_object_address(const sw_object_t *object, const char *symbol)
{
    sw_name_t name = sw_name(symbol);
    const ElfW(Sym) *found = sw_object_symbol(object, &name);

    if (!found)
        return NULL;
    void *address = (void *)(object->base + found->st_value);
    if (ELF64_ST_TYPE(found->st_info) == STT_GNU_IFUNC)
        address = ((void *(*)(void))address)();
    return address;
}

bool sw_object_holds(const sw_object_t *object, const void *address)
{
    uintptr_t offset = (uintptr_t)address - object->base;

    for (int i = 0; i < object->phnum; i++)
        if (object->phdr[i].p_type == PT_LOAD &&
            offset - object->phdr[i].p_vaddr < object->phdr[i].p_memsz)
            return true;
    return false;
}

size_t sw_object_symbols(const sw_object_t *object)
{
    const uint32_t *table = object->gnu_hash;

    if (object->hash)
        return object->hash[1];
    if (!table)
        return 0;
    uint32_t first = table[1], last = 0;
    const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(table +
                                                                     4) +
                                                table[2]);
    const uint32_t *chain = bucket + table[0];
    for (uint32_t b = 0; b < table[0]; b++)
        if (bucket[b] > last)
            last = bucket[b];
    if (last < first)
        return first;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

int sw_object_writable(const sw_object_t *object, void *p, size_t n,
                       bool writable)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)p & ~(page - 1);
    uintptr_t to = ((uintptr_t)p + n + page - 1) & ~(page - 1);
    uintptr_t offset = (uintptr_t)p - object->base;
    int protection = PROT_READ | PROT_WRITE;

    for (int i = 0; i < object->phnum; i++) {
        const ElfW(Phdr) *segment = &object->phdr[i];
        if (offset - segment->p_vaddr >= segment->p_memsz)
            continue;
        if (segment->p_type == PT_LOAD) {
            protection = (segment->p_flags & PF_R ? PROT_READ : 0) |
                         (segment->p_flags & PF_W ? PROT_WRITE : 0) |
                         (segment->p_flags & PF_X ? PROT_EXEC : 0);
        } else if (segment->p_type == PT_GNU_RELRO) {
            protection = PROT_READ;
            break; /* comes after all PT_LOAD entries */
        }
    }
    if (protection & PROT_WRITE)
        return 0;
    return mprotect((void *)from, to - from,
                    writable ? protection | PROT_WRITE : protection);
}
