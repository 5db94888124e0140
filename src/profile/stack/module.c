/*
 * module.c - see module.h.
 *
 * The dynamic linker is asked by dl_iterate_phdr, which takes a lock of its
 * own, held elsewhere for moments only. It knows the objects of the program's
 * own namespace, and not what dlmopen put into others: addresses there belong
 * to no module.
 *
 * Skipped are the libraries between a program and the MPI procedure that we
 * see: the Fortran and C++ layers of the MPIs, and our own.
 */
#include "module.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

sw_table_t sw_modules = SW_TABLE(sw_module_t, 65535);
sw_table_t sw_mappings = SW_TABLE(sw_mapping_t, 1 << 20);

static const char *skips[64] = {
    "libmpi_mpifh*",
    "libmpi_usempi*",
    "libmpifort*",
    "libmpif77*",
    "libmpif90*",
    "libmpicxx*",
    "libmpi_cxx*",
    "libmpi_ibm_*",
    "libmpichf90*",
    "libmpichfort*",
    "libmpichcxx*",
    "libstraightway.so*",
    "libstraightway-ompi.so*",
    "libstraightway-mpich.so*",
    "libstraightway-abi.so*",
};
static int skip_count = 15; /* of these, at first */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool matches(const char *skip, const char *path)
{
    size_t n = strlen(skip);

    if (!strchr(skip, '/'))
        path = last_part(path);
    return n && skip[n - 1] == '*' ? strncmp(path, skip, n - 1) == 0
                                   : strcmp(path, skip) == 0;
}

static bool skipped(const char *path)
{
    for (int i = 0; i < skip_count; i++)
        if (matches(skips[i], path))
            return true;
    return false;
}

bool sw_module_skip(const char *path)
{
    const size_t room = sizeof skips / sizeof *skips;

    for (int i = 0; i < skip_count; i++)
        if (!strcmp(skips[i], path))
            return true;
    if ((size_t)skip_count == room ||
        !(skips[skip_count] = sw_table_text(path, strlen(path))))
        return false;
    skip_count++;
    for (uint32_t i = 1; i <= sw_table_rows(&sw_mappings); i++) {
        sw_mapping_t *m = sw_table_row(&sw_mappings, i);
        const sw_module_t *module = sw_table_row(&sw_modules, m->module);
        if (matches(path, module->path))
            atomic_store(&m->skipped, true);
    }
    return true;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = sw_table_mix(hash, (unsigned char)*text);
    return sw_table_mix(hash, 256);
}

/* The build-id in the notes of an object that is in memory, in hexadecimal. */
static void build_id(const struct dl_phdr_info *info, char *to, size_t room)
{
    *to = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE || p->p_memsz > 1 << 20)
            continue;
        const char *at = (const char *)(info->dlpi_addr + p->p_vaddr);
        size_t align = p->p_align == 8 ? 8 : 4;
        for (size_t left = p->p_memsz; left >= sizeof(ElfW(Nhdr));) {
            const ElfW(Nhdr) *note = (const void *)at;
            size_t head = sizeof *note + sw_round_up(note->n_namesz, 4);
            size_t all = sw_round_up(sw_round_up(head, align) + note->n_descsz,
                                     align);
            if (note->n_namesz > left || note->n_descsz > left || all > left)
                break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(at + sizeof *note, "GNU", 4) == 0) {
                const unsigned char *id = (const void *)(at + sw_round_up(
                                                                  head, align));
                for (size_t k = 0; k < note->n_descsz && 2 * k + 2 < room; k++)
                    sprintf(to + 2 * k, "%02x", id[k]);
                return;
            }
            at += all;
            left -= all;
        }
    }
}

static uint32_t module_of(const struct dl_phdr_info *info)
{
    char id[2 * 64 + 1], buffer[PATH_MAX];
    const char *path = info->dlpi_name;

    if (!path || !*path) {
        ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
        buffer[n > 0 ? n : 0] = 0;
        path = buffer;
    }
    build_id(info, id, sizeof id);

    uint64_t hash = sw_table_mix_end(hash_text(hash_text(1, path), id));
    sw_find_t find = sw_table_find(&sw_modules, hash);
    for (uint32_t row; (row = sw_table_next(&find));) {
        const sw_module_t *m = sw_table_row(&sw_modules, row);
        if (!strcmp(m->path, path) && !strcmp(m->build_id, id))
            return row;
    }
    sw_module_t *m = sw_table_new(&sw_modules);
    if (!m || !(m->path = sw_table_text(path, strlen(path))) ||
        !(m->build_id = sw_table_text(id, strlen(id))))
        return 0;
    return sw_table_publish(&sw_modules, hash);
}

static void extent(const struct dl_phdr_info *info, uintptr_t *low,
                   uintptr_t *high)
{
    *low = UINTPTR_MAX;
    *high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        *low = from < *low ? from : *low;
        *high = from + p->p_memsz > *high ? from + p->p_memsz : *high;
    }
}

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD &&
            address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

/* Is this object the one of the mapping? The file's name and build-id are
 * compared only where all else is alike. */
static bool same(const sw_mapping_t *m, const struct dl_phdr_info *info)
{
    uintptr_t low, high;

    if (m->bias != info->dlpi_addr || m->phdr != info->dlpi_phdr ||
        m->phnum != info->dlpi_phnum)
        return false;
    extent(info, &low, &high);
    return m->low == low && m->high == high && m->module == module_of(info);
}

struct search {
    uintptr_t address;
    uint32_t mapping;
};

static int search(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *s = context;

    if (!holds(info, s->address))
        return 0;
    for (uint32_t i = sw_table_rows(&sw_mappings); i; i--) {
        const sw_mapping_t *m = sw_table_row(&sw_mappings, i);
        if (!atomic_load(&m->dead) && same(m, info)) {
            s->mapping = i;
            return 1;
        }
    }
    sw_mapping_t *m = sw_table_new(&sw_mappings);
    if (!m || !(m->module = module_of(info)))
        return 1;
    extent(info, &m->low, &m->high);
    m->bias = info->dlpi_addr;
    m->phdr = info->dlpi_phdr;
    m->phnum = info->dlpi_phnum;
    const sw_module_t *module = sw_table_row(&sw_modules, m->module);
    atomic_store(&m->skipped, skipped(module->path));
    s->mapping = sw_table_publish(&sw_mappings,
                                  sw_table_mix_end(sw_table_mix(1, m->bias)));
    return 1;
}

uint32_t sw_mapping_of(uintptr_t address)
{
    struct search s = {address, 0};

    dl_iterate_phdr(search, &s);
    return s.mapping;
}

static int count(struct dl_phdr_info *info, size_t size, void *context)
{
    unsigned long long *counts = context;

    counts[0] = info->dlpi_adds;
    counts[1] = info->dlpi_subs;
    return 1;
}

/* The number of the last roll call, which mappings that are there answer. */
static uint32_t roll;

static int see(struct dl_phdr_info *info, size_t size, void *context)
{
    for (uint32_t i = 1; i <= sw_table_rows(&sw_mappings); i++) {
        sw_mapping_t *m = sw_table_row(&sw_mappings, i);
        if (!atomic_load(&m->dead) && m->seen != roll && same(m, info))
            m->seen = roll;
    }
    return 0;
}

bool sw_module_objects_changed(void)
{
    static unsigned long long known[2];
    unsigned long long now[2] = {0, 0};

    dl_iterate_phdr(count, now);
    if (now[0] == known[0] && now[1] == known[1])
        return false;
    if (now[1] != known[1]) {
        roll++;
        dl_iterate_phdr(see, NULL);
        for (uint32_t i = 1; i <= sw_table_rows(&sw_mappings); i++) {
            sw_mapping_t *m = sw_table_row(&sw_mappings, i);
            if (m->seen != roll)
                atomic_store(&m->dead, true);
        }
    }
    memcpy(known, now, sizeof known);
    return true;
}
