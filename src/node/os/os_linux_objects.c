/*
 * os_linux_objects.c - the part of the door to Linux that looks at loaded
 * objects, with the help of glibc's dynamic linker.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

typedef struct {
    const char *const *stem;
    int n;
    uint64_t loads;
    int found;           /* stem[found] */
    char path[PATH_MAX]; /* and where it was loaded from */
} search_t;

/* One object: note the count, and whether its name is looked for. */
static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    search_t *s = context;
    s->loads = info->dlpi_adds;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash ? slash + 1 : info->dlpi_name;
    for (int i = s->found + 1; i < s->n; i++)
        if (!strncmp(name, s->stem[i], strlen(s->stem[i])) &&
            strlen(info->dlpi_name) < sizeof s->path) {
            strcpy(s->path, info->dlpi_name);
            s->found = i;
            return 1;
        }
    return s->n == 0;
}

uint64_t sw_os_loads(void)
{
    search_t s = {.found = -1};
    dl_iterate_phdr(look, &s);
    return s.loads;
}

/* dlopen takes locks that dl_iterate_phdr's caller must not wait for: so each
 * library is opened after a walk of its own. The count is that of the first
 * walk: a library that comes during the walks changes it. */
uint64_t sw_os_libraries(const char *const *stem, void **handle, int n)
{
    uint64_t loads = sw_os_loads();
    for (int i = 0; i < n; i++) {
        search_t s = {.stem = stem + i, .n = 1, .found = -1};
        handle[i] = NULL;
        dl_iterate_phdr(look, &s);
        if (s.found == 0)
            handle[i] = dlopen(s.path, RTLD_LAZY | RTLD_NOLOAD);
    }
    return loads;
}

void *sw_os_load(const char *name)
{
    return sw_os_refused(SW_DOOR_LIBRARY)
               ? NULL
               : dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

void *sw_os_symbol(void *handle, const char *name)
{
    return dlsym(handle, name);
}

const uint64_t *sw_os_linker_data(size_t *words, size_t *list)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (sw_os_refused(SW_DOOR_LINKER))
        return NULL;
    const uint64_t *data = dlsym(RTLD_DEFAULT, "_rtld_global");
    if (!data || !dladdr1(data, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
        !symbol || info.dli_saddr != data)
        return NULL;
    *words = symbol->st_size / sizeof *data;
    for (*list = 0; *list < *words; ++*list)
        if (data[*list] == (uintptr_t)_r_debug.r_map)
            break;
    return data;
}
