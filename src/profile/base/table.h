/*
 * table.h - rows that are added, never moved and never taken away.
 *
 * What the profile learns (modules, frames, call sites) is kept in tables of
 * rows of one size, numbered from 1. The rows lie in chunks, each twice as
 * large as the one before it, so that a row stays where it is for good. An
 * index finds rows by a hash; it is replaced by a larger one as rows come, and
 * the old one stays readable.
 *
 *     index   | tag, row | 0 | tag, row | ...         open addressing
 *     chunks  [256 rows] [512 rows] [1024 rows] ...
 *
 * Readers take no lock and may be signal handlers: they see all rows up to
 * sw_table_rows(), complete. Writers hold sw_profile_lock(). All memory comes
 * straight from the system, none from malloc, which is ours, too.
 */
#ifndef SW_PROFILE_BASE_TABLE_H
#define SW_PROFILE_BASE_TABLE_H

#include "node/base/base.h"

#define SW_TABLE_FIRST 8   /* the first chunk has 2^8 rows */
#define SW_TABLE_CHUNKS 16 /* room for 2^24 - 2^8 rows */

typedef struct {
    uint32_t mask;           /* slots - 1 */
    _Atomic uint64_t slot[]; /* upper half of the hash, row; 0: empty */
} sw_index_t;

typedef struct {
    uint32_t width; /* bytes of a row */
    uint32_t limit; /* no more rows than this */
    _Atomic uint32_t rows;
    _Atomic(sw_index_t *) index;
    _Atomic(char *) chunk[SW_TABLE_CHUNKS];
} sw_table_t;

#define SW_TABLE(type, most) {.width = sizeof(type), .limit = (most)}

static inline uint32_t sw_table_rows(const sw_table_t *t)
{
    return atomic_load_explicit(&t->rows, memory_order_acquire);
}

/* Row `number`, which is from 1 to sw_table_rows(). */
static inline void *sw_table_row(const sw_table_t *t, uint32_t number)
{
    sw_assert(number > 0 && number <= sw_table_rows(t));
    uint32_t i = number - 1 + (1u << SW_TABLE_FIRST);
    unsigned log = 31 - (unsigned)__builtin_clz(i);
    char *chunk = atomic_load_explicit(&t->chunk[log - SW_TABLE_FIRST],
                                       memory_order_relaxed);
    return chunk + (size_t)(i - (1u << log)) * t->width;
}

/* The rows that may have this hash, one after another:
 *     sw_find_t find = sw_table_find(t, hash);
 *     for (uint32_t row; (row = sw_table_next(&find)); ) ... */
typedef struct {
    const sw_index_t *index;
    uint32_t at, tag;
} sw_find_t;

static inline sw_find_t sw_table_find(const sw_table_t *t, uint64_t hash)
{
    return (sw_find_t){atomic_load_explicit(&t->index, memory_order_acquire),
                       (uint32_t)(hash >> 32), (uint32_t)(hash >> 32)};
}

static inline uint32_t sw_table_next(sw_find_t *find)
{
    if (!find->index)
        return 0;
    for (;;) {
        uint64_t slot = atomic_load_explicit(
            &find->index->slot[find->at++ & find->index->mask],
            memory_order_acquire);
        if ((uint32_t)(slot >> 32) == find->tag && (uint32_t)slot)
            return (uint32_t)slot;
        if (!slot)
            return 0;
    }
}

/* A new row, zeroed, for the writer alone to fill in; NULL: full. The next
 * call gives the same row again, unless sw_table_publish shows it to all,
 * found by `hash`, and returns its number (0: no memory for the index). */
void *sw_table_new(sw_table_t *t);
uint32_t sw_table_publish(sw_table_t *t, uint64_t hash);

/* A copy of n bytes, with a NUL behind them, that stays; NULL: no memory. */
const char *sw_table_text(const char *text, size_t n);

/* Writers of all tables take turns. False: this very thread is writing
 * already, and has been interrupted by a signal handler that must not. */
bool sw_profile_lock(void);
void sw_profile_unlock(void);

static inline uint64_t sw_table_mix(uint64_t hash, uint64_t with)
{
    hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* For the end, where the upper half has to be as good as the lower. */
static inline uint64_t sw_table_mix_end(uint64_t hash)
{
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

#endif
