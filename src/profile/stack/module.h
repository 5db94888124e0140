/*
 * module.h - the programs and libraries that code addresses belong to.
 *
 * A module may be closed before the capture is written, and another one may
 * come to lie where it was. So the recorder copies what a report needs of it
 * (path, build-id) when it first meets one of its addresses. It keeps an
 * address as an offset into its module.
 *
 * Two tables: a *module* is a file, for good; a *mapping* is one stay of it in
 * memory. When objects have been closed, mappings that are gone become dead,
 * and what was learnt of their addresses is void (unwind.h).
 */
#ifndef SW_PROFILE_STACK_MODULE_H
#define SW_PROFILE_STACK_MODULE_H

#include "profile/base/table.h"

#include <link.h>

typedef struct {
    const char *path;     /* full where the dynamic linker knows it */
    const char *build_id; /* hexadecimal; "" if there is none */
} sw_module_t;

typedef struct {
    uintptr_t low, high;    /* all its segments lie in there */
    uintptr_t bias;         /* address - bias: as symbol tables count */
    const ElfW(Phdr) *phdr; /* only for as long as it is alive */
    uint32_t phnum;
    uint32_t module;
    uint32_t seen;
    _Atomic bool dead;
    _Atomic bool skipped;
} sw_mapping_t;

extern sw_table_t sw_modules, sw_mappings;

/* The mapping that holds this code address, or 0. With the lock held. */
uint32_t sw_mapping_of(uintptr_t address);

/* Have objects come or gone since the last call? Looks at the linker's own
 * counters. With the lock held. Mappings that are gone are dead after it. */
bool sw_module_objects_changed(void);

/* From now on modules of this path, or file name, or of names that begin with
 * it if it ends in '*', are skipped; those met already, too. With the lock
 * held. False: no room. */
bool sw_module_skip(const char *path);

#endif
