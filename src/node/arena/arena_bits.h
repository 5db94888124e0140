/*
 * arena_bits.h - how each page of the arena's file stands.
 *
 * The bits lie in chunks for 1 GiB of the arena, made at the first use of any
 * page in them. They are read without a lock, and written by one thread at a
 * time. A reader that finds a bit set also sees what the writer did before it
 * set the bit (acquire, release). Pages are the file's; ranges are [page, end).
 */
#ifndef SW_NODE_ARENA_ARENA_BITS_H
#define SW_NODE_ARENA_ARENA_BITS_H

#include "node/base/base.h"

typedef enum {
    SW_BIT_SHOWN,   /* mapped over the owner's: peers see the same page */
    SW_BIT_BACKED,  /* there in the file, for bytes that are staged */
    SW_BIT_USED,    /* a message or a collective has wanted it once */
    SW_BIT_BEFORE,  /* has been shown once, for this block or an earlier one */
    SW_BIT_FROZEN,  /* a host or driver relies on the page: it stays */
    SW_BIT_GUARDED, /* the program has protected it */
    SW_BIT_HUGE,    /* ... has asked for huge pages */
    SW_BIT_WIPED,   /* ... wants zeros there in a child; the page is shared */
    SW_BIT_ABSENT,  /* ... wants nothing there in a child; likewise */
    SW_BIT_SPOKEN,  /* ... has said what another page would lose: it stays */
    SW_BITS,
} sw_bit_t;

uint64_t sw_bits_count(sw_bit_t bit, uint64_t page, uint64_t end);
bool sw_bits_all(sw_bit_t bit, uint64_t page, uint64_t end);
bool sw_bits_any(sw_bit_t bit, uint64_t page, uint64_t end);
bool sw_bits_is(sw_bit_t bit, uint64_t page);
/* False: no memory for the bits. */
bool sw_bits_set(sw_bit_t bit, uint64_t page, uint64_t end, bool on);
/* The first run of pages in [*first, end) whose bit is `so`: true, with *first
 * and *pages. */
bool sw_bits_next(sw_bit_t bit, bool so, uint64_t *first, uint64_t end,
                  uint64_t *pages);
/* In a child: no bit but SW_BIT_SPOKEN is set any more. Single threaded. */
void sw_bits_forget(void);

#endif
