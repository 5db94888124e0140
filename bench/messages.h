/*
 * messages.h - the messages of bench pingpong: their places and contents.
 * Knows no MPI.
 *
 * An area is a row of places for one message each. The benchmark walks through
 * them in order, again and again. A warm area has only as many places as
 * messages are under way at once. A cold area has so many that a place has left
 * the caches before its next use (NetPIPE's invalidation).
 *
 *     page     +offset                      one place is a stride
 *      |          |                         |
 *      ...[guard][message 0][guard]..[guard][message 1][guard]...
 *
 * No message may change the bytes of the guards (64 bytes).
 */
#ifndef SW_BENCH_MESSAGES_H
#define SW_BENCH_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "bench.h"

#define SW_GUARD 64

typedef struct {
    unsigned char *memory; /* the whole allocation */
    unsigned char *first;  /* the message of place 0 */
    size_t stride, places, next;
} sw_area_t;

/* The bytes of an area for `under_way` messages of `size` bytes, or for a walk
 * through `cold` bytes if that is more. */
size_t sw_area_bytes(size_t size, size_t under_way, size_t cold);

/* Lay places into memory of that many bytes. The walk continues from its
 * position: the memory behind it was used last. */
void sw_area_lay(sw_area_t *area, size_t size, size_t under_way, size_t cold,
                 size_t offset);

/* The next message (0), or the one `ahead` messages later. */
static inline unsigned char *sw_area_peek(const sw_area_t *area, size_t ahead)
{
    return area->first + (area->next + ahead) % area->places * area->stride;
}

static inline unsigned char *sw_area_next(sw_area_t *area)
{
    size_t i = area->next;
    area->next = i + 1 < area->places ? i + 1 : 0;
    return area->first + i * area->stride;
}

/* Write the content that follows from a seed; neighbouring seeds differ in
 * every byte. */
void sw_message_fill(unsigned char *message, size_t size, unsigned seed);

/* Write the complement of every byte, and the guards, before a receive. */
void sw_message_spoil(unsigned char *message, size_t size, unsigned seed);

/* The first wrong byte of a received message: -64 .. -1 in the guard before
 * it, from `size` on in the guard behind it. */
typedef struct {
    bool found;
    long long at;
    unsigned char got, want;
} sw_wrong_t;

sw_wrong_t sw_message_check(const unsigned char *message, size_t size,
                            unsigned seed);

#endif
