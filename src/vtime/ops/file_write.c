/*
 * file_write.c - writing files of operations; see opfile_format.h.
 *
 * Each rank has a buffer, which grows with use; when it is full it becomes a
 * part. The limit of its size depends on the number of ranks. So the buffers of
 * 100,000 ranks together take no more than those of 1000. Contexts are told on
 * the buffer behind that of the last rank. The file gets its name when it is
 * whole.
 */
#include "file_writer.h"

#include "node/base/crc.h"
#include "node/base/grow.h"
#include "node/os/os.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFERS ((uint64_t)128 << 20) /* bytes, of all ranks together */
#define FEW 2048u
#define MANY (64u << 10)
#define OUT ((size_t)1 << 20)

void sw_op_writer_fail(sw_op_writer_t *w, int error)
{
    if (!w->error)
        w->error = error;
}

/* The file ---------------------------------------------------------------- */

static bool flush(sw_op_writer_t *w)
{
    for (size_t done = 0; done < w->out_used && !w->error;) {
        ssize_t n = write(w->fd, w->out + done, w->out_used - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            sw_op_writer_fail(w, n == 0 ? ENOSPC : errno);
    }
    w->out_used = 0;
    return !w->error;
}

static bool put(sw_op_writer_t *w, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    w->written += n;
    while (n && !w->error) {
        size_t some = sw_min(n, OUT - w->out_used);
        memcpy(w->out + w->out_used, from, some);
        w->out_used += some;
        from += some;
        n -= some;
        if (w->out_used == OUT)
            flush(w);
    }
    return !w->error;
}

static bool new_entry(sw_op_writer_t *w, const sw_op_entry_t *entry)
{
    if (!sw_grow(&w->entries, w->entry_count, &w->entry_room,
                 sizeof *w->entries)) {
        sw_op_writer_fail(w, ENOMEM);
        return false;
    }
    w->entries[w->entry_count++] = *entry;
    return true;
}

/* What is in a rank's buffer becomes a part. */
static bool part(sw_op_writer_t *w, uint32_t rank)
{
    sw_op_buffer_t *b = &w->buffers[rank];
    if (!b->used)
        return !w->error;
    sw_op_entry_t entry = {.offset = w->written,
                           .rank = rank,
                           .length = b->used,
                           .operations = b->operations,
                           .crc = sw_crc32(0, b->at, b->used)};
    if (!new_entry(w, &entry) || !put(w, b->at, b->used))
        return false;
    b->used = b->operations = b->request = 0;
    memset(b->shapes, 0, sizeof b->shapes);
    return true;
}

bool sw_op_room(sw_op_writer_t *w, uint32_t rank, size_t n)
{
    sw_op_buffer_t *b = &w->buffers[rank];
    if (sw_likely(n <= b->room - b->used))
        return true;
    if (b->used && b->used + n > w->most && !part(w, rank))
        return false;
    if (n <= b->room - b->used)
        return true;
    size_t more = sw_max(sw_min(2 * (size_t)b->room, w->most), b->used + n);
    more = sw_max(more, (size_t)128);
    unsigned char *to = realloc(b->at, more);
    if (!to) {
        sw_op_writer_fail(w, ENOMEM);
        return false;
    }
    b->at = to;
    b->room = (uint32_t)more;
    return true;
}

/* Beginning and end ------------------------------------------------------- */

static void release(sw_op_writer_t *w)
{
    for (uint64_t i = 0; w->buffers && i <= w->ranks; i++)
        free(w->buffers[i].at);
    if (w->fd >= 0)
        close(w->fd);
    free(w->buffers);
    free(w->entries);
    free(w->out);
    free(w->path);
    free(w->draft);
    free(w->note);
    free(w);
}

/* A note is one line. */
static char *line_of(const char *note)
{
    char *line = strdup(note ? note : "");
    for (char *c = line; c && *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    return line;
}

sw_op_writer_t *sw_op_writer_new(const char *path, uint32_t ranks,
                                 const char *note)
{
    if (!ranks || ranks > INT32_MAX) {
        errno = EINVAL;
        return NULL;
    }
    sw_op_writer_t *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    size_t length = strlen(path) + SW_OS_DRAFT;
    w->fd = -1;
    w->ranks = ranks;
    w->most = (uint32_t)sw_min(sw_max((size_t)(BUFFERS / ranks), FEW), MANY);
    w->path = strdup(path);
    w->draft = malloc(length);
    w->note = line_of(note);
    w->out = malloc(OUT);
    w->buffers = calloc((size_t)ranks + 1, sizeof *w->buffers);
    int error = ENOMEM;
    if (w->path && w->draft && w->note && w->out && w->buffers) {
        w->fd = sw_os_open_draft(path, w->draft, length);
        error = errno;
    }
    if (w->fd < 0) {
        release(w);
        errno = error;
        return NULL;
    }
    unsigned char head[SW_OPFILE_HEAD] = {0};
    memcpy(head, SW_OPFILE_MAGIC, 8);
    sw_opfile_put4(head + 8, SW_OPFILE_VERSION);
    put(w, head, sizeof head);
    return w;
}

void sw_op_writer_drop(sw_op_writer_t *w)
{
    unlink(w->draft);
    release(w);
}

/* Entries by rank, in the order of each: where each rank's begin. */
static uint64_t *sort_entries(sw_op_writer_t *w)
{
    uint64_t *first = calloc((size_t)w->ranks + 2, sizeof *first);
    sw_op_entry_t *sorted = malloc(sw_max(w->entry_count, 1) * sizeof *sorted);
    if (!first || !sorted) {
        free(first);
        free(sorted);
        sw_op_writer_fail(w, ENOMEM);
        return NULL;
    }
    for (uint64_t i = 0; i < w->entry_count; i++)
        first[w->entries[i].rank + 1]++;
    for (uint64_t i = 1; i <= (uint64_t)w->ranks + 1; i++)
        first[i] += first[i - 1];
    for (uint64_t i = 0; i < w->entry_count; i++)
        sorted[first[w->entries[i].rank]++] = w->entries[i];
    /* Each has moved on to where the next begins. */
    memmove(first + 1, first, ((size_t)w->ranks + 1) * sizeof *first);
    first[0] = 0;
    free(w->entries);
    w->entries = sorted;
    return first;
}

static uint32_t put_summed(sw_op_writer_t *w, uint32_t crc, const void *bytes,
                           size_t n)
{
    put(w, bytes, n);
    return sw_crc32(crc, bytes, n);
}

static bool put_index(sw_op_writer_t *w)
{
    uint64_t *first = sort_entries(w), at = w->written;
    if (!first)
        return false;
    uint32_t crc = 0;
    unsigned char raw[SW_OPFILE_TAIL];
    for (uint64_t i = 0; i <= (uint64_t)w->ranks + 1; i++) {
        sw_opfile_put8(raw, first[i]);
        crc = put_summed(w, crc, raw, 8);
    }
    free(first);
    for (uint64_t i = 0; i < w->entry_count; i++) {
        const sw_op_entry_t *e = &w->entries[i];
        unsigned char *to = sw_opfile_put8(raw, e->offset);
        to = sw_opfile_put4(to, e->length);
        to = sw_opfile_put4(to, e->operations);
        to = sw_opfile_put4(to, e->crc);
        sw_opfile_put4(to, 0);
        crc = put_summed(w, crc, raw, SW_OPFILE_ENTRY);
    }
    uint32_t note = (uint32_t)strlen(w->note);
    crc = put_summed(w, crc, w->note, note);
    unsigned char *to = sw_opfile_put8(raw, at);
    to = sw_opfile_put8(to, w->entry_count);
    to = sw_opfile_put8(to, w->operations);
    to = sw_opfile_put4(to, w->ranks);
    to = sw_opfile_put4(to, note);
    to = sw_opfile_put4(to, crc);
    memset(to, 0, SW_OPFILE_TAIL - (size_t)(to - raw));
    memcpy(raw + SW_OPFILE_TAIL - 8, SW_OPFILE_END, 8);
    sw_opfile_put4(raw + SW_OPFILE_TAIL - 12,
                   sw_crc32(0, raw, SW_OPFILE_TAIL - 12));
    return put(w, raw, sizeof raw);
}

bool sw_op_writer_close(sw_op_writer_t *w)
{
    /* Contexts first: they are needed first. */
    for (uint64_t i = 0; i <= w->ranks && !w->error; i++)
        part(w, (uint32_t)(i ? i - 1 : w->ranks));
    bool good = !w->error && put_index(w) && flush(w);
    int fd = w->fd;
    w->fd = -1;
    if (close(fd) && good)
        sw_op_writer_fail(w, errno);
    if (!w->error && rename(w->draft, w->path))
        sw_op_writer_fail(w, errno);
    int error = w->error;
    if (error)
        unlink(w->draft);
    release(w);
    errno = error;
    return !error;
}
