/*
 * pump.h - a member's blocks pass through the area of its row, a chunk at a
 * time. The member pumps where the others do not map its memory, and there is
 * no room for a copy that they map.
 *
 *   area    0    put (8)    chunk's number and receiver, by the sender
 *           8    block (8) begin (8) bytes (8) all (8)
 *           64   taken (8)  the same word as `put`, by the receiver
 *           128  the chunk
 *
 * The sender fills the area, then stores `put` (release). The receiver that
 * this word names loads it (acquire), copies the chunk, and stores `taken`
 * (release). Only then does the sender fill the area again: when it has loaded
 * `taken` (acquire), or when the receiver has left. No other member looks at
 * the rest.
 *
 * A receiver loads `put`, then `taken`. Between the two, another receiver may
 * take a chunk that is newer than this `put`. So the receiver compares numbers:
 * its chunk is there if it is newer than the one taken last.
 *
 * The sender goes on to the next receiver when the last one has all. It chooses
 * among those that have begun. So a receiver may wait for another one, which
 * MPI allows in a collective.
 */
#ifndef SW_OFFLOAD_PUMP_H
#define SW_OFFLOAD_PUMP_H

#include "schedule.h"

typedef struct {
    _Atomic uint64_t put;
    uint64_t block;        /* of the sender's */
    uint64_t begin, bytes; /* of the chunk, in the block */
    uint64_t all;          /* bytes of the block */
    char pad[SW_LINE - 40];
    _Atomic uint64_t taken;
    char pad2[SW_LINE - 8];
    char data[];
} sw_pump_area_t;

/* The sender's end. */
typedef struct {
    sw_pump_area_t *area;
    size_t room;  /* of a chunk */
    uint64_t put; /* the last word */
    int to;       /* the chunks' receiver */
    uint64_t at;  /* so many bytes of its block are put */
} sw_pump_t;

/* Before the row is posted; `bytes` of the area are the pump's. */
void sw_pump_begin(sw_pump_t *p, void *area, size_t bytes);

/* Has the receiver of the last chunk taken it, or left? */
bool sw_pump_idle(const sw_pump_t *p, const sw_schedule_t *s);

/* Puts the next chunk of a block of `all` bytes, which goes to a member. The
 * pump is idle. True: that was its last one. */
bool sw_pump_put(sw_pump_t *p, int to, uint64_t block, const sw_data_t *data,
                 uint64_t all);

/* The receiver: the chunk that lies there for this member, or NULL. */
const sw_pump_area_t *sw_pump_look(const sw_schedule_t *s, const void *area);
void sw_pump_take(const sw_pump_area_t *area);

#endif
