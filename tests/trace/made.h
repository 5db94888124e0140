/*
 * made.h - traces made by hand, in memory, for the tests of this folder.
 */
#ifndef MADE_H
#define MADE_H

#include "must.h"

#include "node/base/crc.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t made_state = 1;

__attribute__((unused)) static uint64_t random_below(uint64_t n)
{
    return random_from(&made_state) % n;
}

/* A number of any size: small ones are as likely as large ones. */
__attribute__((unused)) static uint64_t random_number(void)
{
    return random_below(UINT64_MAX) >> random_below(64);
}

typedef struct {
    unsigned char *at;
    size_t size, room;
} made_t;

static void put(made_t *m, const void *bytes, size_t n)
{
    if (m->size + n > m->room) {
        m->room = 2 * (m->size + n);
        MUST(m->at = realloc(m->at, m->room));
    }
    if (n)
        memcpy(m->at + m->size, bytes, n);
    m->size += n;
}

static void put_little(made_t *m, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++, n >>= 8)
        put(m, &(unsigned char){(unsigned char)n}, 1);
}

__attribute__((unused)) static void put_varint(made_t *m, uint64_t n)
{
    for (; n >= 0x80; n >>= 7)
        put(m, &(unsigned char){(unsigned char)(n | 0x80)}, 1);
    put(m, &(unsigned char){(unsigned char)n}, 1);
}

__attribute__((unused)) static void put_signed(made_t *m, int64_t n)
{
    put_varint(m, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

/* The head of a file; more of it follows. */
static void put_file(made_t *m)
{
    put(m, "\x89SWCAP\r\n\1\0\0\0\0\0\0\0", 16);
}

static void put_block(made_t *m, const char *kind, uint32_t rank,
                      const void *payload, size_t n)
{
    put(m, kind, 4);
    put_little(m, sw_crc32(0, payload, n), 4);
    put_little(m, n, 8);
    put_little(m, rank, 4);
    put_little(m, 0, 4);
    put(m, payload, n);
}

/* A trace block of `count` events that were made. */
static void put_trace(made_t *m, uint32_t rank, uint32_t thread, uint64_t base,
                      uint32_t count, const made_t *events)
{
    made_t payload = {0};
    put_little(&payload, 1, 4);
    put_little(&payload, thread, 4);
    put_little(&payload, base, 8);
    put_little(&payload, count, 4);
    put_little(&payload, 0, 4);
    put(&payload, events->at, events->size);
    put_block(m, "TRAC", rank, payload.at, payload.size);
    free(payload.at);
}

/* What sw_trace_open gives for these bytes as a file. */
static int made_open(sw_trace_reader_t *r, const made_t *m)
{
    char path[64];
    int fd = memfd_create("made", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, m->at, m->size) == (ssize_t)m->size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = sw_trace_open(r, path);
    close(fd);
    return rc;
}

#endif
