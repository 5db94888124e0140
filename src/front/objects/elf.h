/*
 * elf.h - a look at the loaded objects, with our own eyes.
 *
 * The front must know what the host itself defines. dlsym cannot say so: it
 * searches an object's dependencies too, it finds our stubs, and it may not
 * be called while the dynamic linker is at work. So the loaded objects are
 * read directly: dl_iterate_phdr lists them, and the tables that the dynamic
 * linker itself uses (DT_SYMTAB, DT_GNU_HASH, DT_RELA) are in memory. Nothing
 * here allocates, locks or calls back into the linker, except for
 * sw_objects_walk, whose lock is recursive and free during relocation.
 *
 * A sanitizer's runtime asks dlsym for the functions that it stands before,
 * while its own strcmp and dl_iterate_phdr are not ready to be called. Our
 * dlsym comes here. So nothing that it needs calls libc by name. The loops
 * below compare texts, and the walk is libc's own, even if another library
 * defines its name first.
 */
#ifndef SW_FRONT_OBJECTS_ELF_H
#define SW_FRONT_OBJECTS_ELF_H

#include "node/base/base.h"

#include <link.h>

typedef struct {
    const char *path;   /* "" for the program itself */
    const char *soname; /* DT_SONAME, or the path's last part */
    uintptr_t base;     /* what to add to addresses in the file */
    const ElfW(Phdr) *phdr;
    int phnum;
    const ElfW(Dyn) *dynamic;
    const ElfW(Sym) *symbols;
    const char *strings;
    const uint32_t *gnu_hash; /* one of the two may be NULL */
    const uint32_t *hash;
    const ElfW(Half) *versions; /* may be NULL */
    const ElfW(Rela) *rela, *jmprel;
    size_t rela_count, jmprel_count;
    size_t rela_relative; /* how many of rela need no symbol */
} sw_object_t;

/* A symbol's name with its hash, computed once for lookups in many objects. */
typedef struct {
    const char *text;
    uint32_t gnu, sysv;
} sw_name_t;

sw_name_t sw_name(const char *text);

/* strcmp, and whether a text begins with another. */
static inline int sw_elf_text_order(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}
static inline bool sw_elf_text_begins(const char *a, const char *with)
{
    for (; *with && *a == *with; a++)
        with++;
    return !*with;
}

/* Call `each` for every loaded object in load order until it returns
 * non-zero, and return that. Objects without symbols are left out. */
int sw_objects_walk(int (*each)(const sw_object_t *object, void *context),
                    void *context);

/* How often objects were added and removed so far: as long as this stays, so
 * does the list of objects. */
uint64_t sw_objects_generation(void);

/* The symbol that the object itself defines by this name, or NULL. */
const ElfW(Sym) *sw_object_symbol(const sw_object_t *object,
                                  const sw_name_t *name);

/* The same, as the address to call or to read; NULL if not defined. */
void *sw_object_address(const sw_object_t *object, const char *symbol);

/* Is this address inside one of the object's segments? */
bool sw_object_holds(const sw_object_t *object, const void *address);

/* Number of entries in the object's symbol table. */
size_t sw_object_symbols(const sw_object_t *object);

/* Make [p, p+n), which lies in the object, writable, or set it back to the
 * protection that the dynamic linker gave it. Returns 0 on success. */
int sw_object_writable(const sw_object_t *object, void *p, size_t n,
                       bool writable);

#endif
