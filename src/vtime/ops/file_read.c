/*
 * file_read.c - reading files of operations; see opfile_format.h.
 *
 * The reader maps the file, and each rank has a cursor of a few words into it.
 * It checks a part's checksum when the cursor comes to it, and each number when
 * it reads it (file_decode.c). So an engine may believe what it gets.
 */
#include "file_reader.h"

#include "node/base/crc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool wrong(char *why, size_t size, const char *form, ...)
    __attribute__((format(printf, 3, 4)));
static bool wrong(char *why, size_t size, const char *form, ...)
{
    va_list values;
    va_start(values, form);
    vsnprintf(why, size, form, values);
    va_end(values);
    return false;
}

/* Opening ----------------------------------------------------------------- */

static const unsigned char *entry(const sw_op_file_t *f, uint64_t part)
{
    return f->entries + part * SW_OPFILE_ENTRY;
}

const unsigned char *sw_op_load(const sw_op_file_t *f, uint64_t part,
                                uint32_t *length, uint32_t *operations)
{
    const unsigned char *e = entry(f, part);
    uint64_t offset = sw_opfile_8(e);
    *length = sw_opfile_4(e + 8);
    *operations = sw_opfile_4(e + 12);
    if (offset < SW_OPFILE_HEAD || offset > f->data_end ||
        *length > f->data_end - offset || *length > SW_OPFILE_PART_MOST ||
        *operations > *length ||
        sw_crc32(0, f->map + offset, *length) != sw_opfile_4(e + 16))
        return NULL;
    return f->map + offset;
}

static bool read_tail(sw_op_file_t *f, const char *path, char *why,
                      size_t why_size)
{
    if (f->size < SW_OPFILE_HEAD || memcmp(f->map, SW_OPFILE_MAGIC, 8))
        return wrong(why, why_size, "%s is no file of operations", path);
    uint32_t version = sw_opfile_4(f->map + 8);
    if (version != SW_OPFILE_VERSION)
        return wrong(why, why_size,
                     "%s has version %u of the format; this "
                     "Straightway reads version %u",
                     path, version, SW_OPFILE_VERSION);
    const unsigned char *tail = f->map + f->size - SW_OPFILE_TAIL;
    if (f->size < SW_OPFILE_HEAD + SW_OPFILE_TAIL ||
        memcmp(tail + SW_OPFILE_TAIL - 8, SW_OPFILE_END, 8))
        return wrong(why, why_size,
                     "%s is cut short: its end is not there; "
                     "make it again",
                     path);
    uint64_t at = sw_opfile_8(tail), room = f->size - SW_OPFILE_TAIL;
    f->parts = sw_opfile_8(tail + 8);
    f->operations = sw_opfile_8(tail + 16);
    f->ranks = sw_opfile_4(tail + 24);
    uint32_t note = sw_opfile_4(tail + 28);
    uint64_t most = f->size / SW_OPFILE_ENTRY;
    bool good = sw_crc32(0, tail, SW_OPFILE_TAIL - 12) ==
                    sw_opfile_4(tail + SW_OPFILE_TAIL - 12) &&
                f->ranks && f->ranks <= INT32_MAX && f->parts <= most &&
                at >= SW_OPFILE_HEAD && at <= room &&
                room - at == ((uint64_t)f->ranks + 2) * 8 +
                                 f->parts * SW_OPFILE_ENTRY + note &&
                sw_crc32(0, f->map + at, room - at) == sw_opfile_4(tail + 32);
    if (!good)
        return wrong(why, why_size,
                     "%s is damaged: its index is not as it "
                     "was written; make it again",
                     path);
    f->data_end = at;
    f->first = f->map + at;
    f->entries = f->first + ((uint64_t)f->ranks + 2) * 8;
    for (uint64_t i = 0; i <= (uint64_t)f->ranks; i++)
        good &= sw_op_first_part(f, i) <= sw_op_first_part(f, i + 1);
    good &= sw_op_first_part(f, 0) == 0 &&
            sw_op_first_part(f, (uint64_t)f->ranks + 1) == f->parts;
    if (!good)
        return wrong(why, why_size,
                     "%s is damaged: its index contradicts "
                     "itself; make it again",
                     path);
    f->note = malloc((size_t)note + 1);
    if (!f->note)
        return wrong(why, why_size, "no memory for %s", path);
    memcpy(f->note, f->map + room - note, note);
    f->note[note] = '\0';
    for (char *c = f->note; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    return true;
}

sw_op_file_t *sw_op_open(const char *path, char *why, size_t why_size)
{
    sw_op_file_t *f = calloc(1, sizeof *f);
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (!f || fd < 0 || fstat(fd, &st)) {
        wrong(why, why_size, "%s: %s", path, strerror(errno));
        goto bad;
    }
    if (!S_ISREG(st.st_mode)) {
        wrong(why, why_size, "%s is no file of operations", path);
        goto bad;
    }
    f->size = (size_t)st.st_size;
    if (f->size) {
        void *map = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED) {
            wrong(why, why_size, "%s: %s", path, strerror(errno));
            goto bad;
        }
        f->map = map;
    }
    if (!read_tail(f, path, why, why_size))
        goto bad;
    f->cursors = calloc(f->ranks, sizeof *f->cursors);
    if (!f->cursors || !sw_op_read_contexts(f)) {
        wrong(why, why_size, "no memory for %s", path);
        goto bad;
    }
    close(fd);
    sw_op_rewind(f);
    return f;
bad:
    if (fd >= 0)
        close(fd);
    if (f)
        sw_op_close(f);
    return NULL;
}

void sw_op_close(sw_op_file_t *f)
{
    if (f->map)
        munmap((void *)(uintptr_t)f->map, f->size);
    free(f->note);
    free(f->cursors);
    free(f->contexts);
    sw_sections_free(&f->sections);
    free(f->runs);
    free(f);
}

void sw_op_rewind(sw_op_file_t *f)
{
    for (uint32_t i = 0; i < f->ranks; i++)
        f->cursors[i] = (sw_op_cursor_t){.next = sw_op_first_part(f, i)};
}

uint32_t sw_op_ranks(const sw_op_file_t *f)
{
    return f->ranks;
}

uint64_t sw_op_count(const sw_op_file_t *f)
{
    return f->operations;
}

const sw_sections_t *sw_op_sections(const sw_op_file_t *f)
{
    return &f->sections;
}

const char *sw_op_note(const sw_op_file_t *f)
{
    return f->note;
}

uint64_t sw_op_damaged(const sw_op_file_t *f)
{
    return f->damaged;
}

static sw_source_state_t damage(sw_op_file_t *f, sw_op_cursor_t *at,
                                uint32_t rank)
{
    f->damaged++;
    at->left = 0;
    at->next = sw_op_first_part(f, (uint64_t)rank + 1);
    return SW_SOURCE_END;
}

static sw_source_state_t next(void *of, uint32_t rank, sw_vop_t *op)
{
    sw_op_file_t *f = of;
    sw_op_cursor_t *at = &f->cursors[rank];
    while (sw_unlikely(!at->left)) {
        if (at->next >= sw_op_first_part(f, (uint64_t)rank + 1))
            return SW_SOURCE_END;
        uint32_t length, n;
        const unsigned char *part = sw_op_load(f, at->next++, &length, &n);
        if (!part || !n)
            return damage(f, at, rank);
        at->part = at->at = part;
        at->end = part + length;
        at->left = n;
        at->request = 0;
    }
    if (sw_unlikely(at->at >= at->end || !sw_op_decode(f, at, rank, op)))
        return damage(f, at, rank);
    if (!--at->left && at->at < at->end)
        f->damaged++;
    return SW_SOURCE_OP;
}

void sw_op_source(sw_op_file_t *f, sw_op_source_t *source)
{
    *source = (sw_op_source_t){.of = f, .next = next};
}
