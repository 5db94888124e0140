/*
 * image.h - the program or library that lies behind an address.
 *
 * The reader maps it as a loader would, and finds the rules there that lead out
 * of its frames.
 *
 * Ranks of a job share their files. So the reader maps each file once, and asks
 * for the rule at each of its addresses once. A file that has lost its name, or
 * has none (the kernel's own), comes from the process's memory.
 */
#ifndef SW_WATCH_READER_IMAGE_H
#define SW_WATCH_READER_IMAGE_H

#include "profile/stack/cfi.h"
#include "space.h"

enum { SW_IMAGE_HEADERS = 32 };

typedef struct sw_image {
    struct sw_image *next;
    uint64_t device, inode;
    char *path;
    bool ours;  /* a layer between a program and the call that we see */
    bool empty; /* of an area that is no ELF file */
    uint32_t count;
    ElfW(Phdr) headers[SW_IMAGE_HEADERS];
    uintptr_t bias; /* of the reader's mapping */
    char build_id[2 * 64 + 1];
} sw_image_t;

/* The image of an area; NULL: it is no file's. */
sw_image_t *sw_image_of(sw_space_t *s, const sw_area_t *a);

/* An address of the process as an address of the file, as nm shows it. */
uint64_t sw_image_address(const sw_image_t *m, const sw_area_t *a, uint64_t at);

/* The rule at an address of the file. */
const sw_cfi_rule_t *sw_image_rule(const sw_image_t *m, uint64_t address);

#endif
