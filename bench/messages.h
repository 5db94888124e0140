/*
 * messages.h - the messages of bench pingpong: where they lie and what they
 * hold. Knows no MPI.
 *
 * An area is a row of places, one message each, walked through in order and
 * over again. Warm, there are only as many places as messages are under way
 * at once; cold, so many that a place has left the caches when its turn comes
 * again (NetPIPE's invalidation).
 *
 *     page     +offset                      one place is a stride
 *      |          |                         |
 *      ...[guard][message 0][guard]..[guard][message 1][guard]...
 *
 * The guards (64 bytes) hold bytes that no message may change.
 */
#ifndef SW_BENCH_MESSAGES_H
#define SW_BENCH_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "bench.h"

#define SW_GUARD 64

typedef struct {
    unsigned char *memory;  /* all of it, as it was handed out              */
    unsigned char *first;   /* the message of place 0                       */
    size_t stride, places, next;
} sw_area_t;

/* What an area needs for `under_way` messages of `size` bytes, or to walk
 * through `cold` bytes if those are more. */
size_t sw_area_bytes(size_t size, size_t under_way, size_t cold);

/* Lay places into memory of that many bytes. The walk goes on where it was:
 * what lies behind it is what was used last. */
void sw_area_lay(sw_area_t *area, size_t size, size_t under_way, size_t cold,
                 size_t offset);

/* Where the next message lies, and the one `ahead` messages later. */
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

/* What a message holds follows from its seed; neighbouring seeds differ in
 * every byte. */
void sw_message_fill(unsigned char *message, size_t size, unsigned seed);

/* The contrary in every byte, and the guards: what a receiver starts with. */
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
