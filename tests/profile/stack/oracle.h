/*
 * oracle.h - what a site must be, as glibc's own unwinder says it.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/stack/site.h"

#define must(x)                                                     \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            abort();                                                \
        }                                                           \
    } while (0)

/* Does the frame lie where this address does? */
static inline bool frame_is(uint32_t number, uintptr_t address)
{
    const sw_frame_t *f = sw_table_row(&sw_frames, number);
    struct link_map *map;
    Dl_info info;

    if (!dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP))
        return f->place == 0 && f->offset == address;
    if (!f->place || f->offset != address - map->l_addr)
        return false;
    const sw_module_t *m = sw_table_row(&sw_modules, f->place);
    const char *slash = strrchr(info.dli_fname, '/');
    slash = slash ? slash + 1 : info.dli_fname;
    const char *ours = strrchr(m->path, '/');
    return !strcmp(ours ? ours + 1 : m->path, slash);
}

static inline void show(uint32_t site, void **expected, int n)
{
    const sw_site_t *s = sw_table_row(&sw_sites, site);
    for (int i = 0; i < s->natives; i++) {
        const sw_frame_t *f = sw_table_row(&sw_frames, s->frames[i]);
        fprintf(stderr, "  %d: module %u + %#lx\n", i, f->place,
                (unsigned long)f->offset);
    }
    backtrace_symbols_fd(expected, n, 2);
}

/* The site's frames are these return addresses: all, or as many as `most`. */
static inline bool site_is(uint32_t site, void **back, int n, int most)
{
    if (!site || n <= 0)
        return false;
    const sw_site_t *s = sw_table_row(&sw_sites, site);
    bool same = s->natives == (n < most ? n : most);
    for (int i = 0; same && i < s->natives; i++)
        same = frame_is(s->frames[i], (uintptr_t)back[i] - 1);
    if (!same)
        show(site, back, n);
    return same;
}

/* The return addresses from the wrapper's caller on, which returns to `pc`, as
 * glibc finds them; how many. (Sanitizers put frames of their own in front.) */
static inline int outside(uintptr_t pc, void **back, int room)
{
    int n = backtrace(back, room), first = 0;

    while (n > 0 && !back[n - 1])
        n--;
    while (first < n && (uintptr_t)back[first] != pc)
        first++;
    memmove(back, back + first, (size_t)(n - first) * sizeof *back);
    return n - first;
}

#endif
