/*
 * record.h - calls that are alike, added up.
 *
 * A record holds all calls of one thread that agree in procedure, call site,
 * communicator, region, datatype, operation, root and size (by powers of two).
 * Every view of a report is a sum over records. A thread writes its own records
 * only. The writer of the capture, which may be a signal handler, reads them as
 * they are.
 */
#ifndef SW_PROFILE_RECORD_RECORD_H
#define SW_PROFILE_RECORD_RECORD_H

#include "node/arena/show.h"

/* Durations by powers of two: 2^b <= ns < 2^(b+1); the last takes the rest. */
#define SW_RECORD_BUCKETS 40

typedef union {
    struct {
        uint32_t site;
        uint16_t procedure, communicator;
        uint16_t region, datatype, operation;
        uint8_t bin;   /* 0: no data; b: 2^(b-1) <= size < 2^b */
        uint8_t side;  /* of turns: recorder.h */
        uint32_t root; /* rank + 1; 0: none */
        uint32_t reserved_too;
    };
    uint64_t words[3];
} sw_key_t;

/* A key that is made for a call is looked up at once, by its words: were its
 * members stored one by one, the loads of the words would wait until these
 * stores have reached the cache. So words are stored, too; volatile keeps the
 * compiler from storing only the bytes that change. */
#define SW_KEY_SET(KEY, MEMBER, VALUE)            \
    sw_key_set((KEY), offsetof(sw_key_t, MEMBER), \
               sizeof(((sw_key_t *)0)->MEMBER), (VALUE))

static inline
    __attribute__((always_inline)) void sw_key_set(sw_key_t *key, size_t at,
                                                   size_t bytes, uint64_t value)
{
    volatile uint64_t *word = &key->words[at / 8];
    unsigned shift = at % 8 * 8;
    uint64_t mask = ((uint64_t)1 << 8 * bytes) - 1;
    *word = (*word & ~(mask << shift)) | value << shift;
}
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "see sw_key_set");

/* What a call adds. */
typedef struct {
    uint64_t time;                           /* ns */
    uint64_t sent, received, size;           /* bytes */
    uint64_t sent_between, received_between; /* of these, other nodes' */
    /* Of sent and received, those in a device's memory; of them, the pieces of
     * datatypes with gaps. */
    uint64_t device_sent, device_received, device_pieces;
    uint64_t probed, waited; /* ns */
    bool failed;
} sw_amount_t;

/* What the trace said last of a record's calls; its owner's alone. */
typedef struct {
    uint32_t block; /* of the thread; 0: nothing yet */
    uint64_t size, sent, received;
} sw_traced_t;

/* In the order of use: what each call touches comes first, with the buckets of
 * short ones, so that a call of less than a microsecond works on two lines. */
typedef struct {
    sw_key_t key;
    _Atomic uint64_t calls, time, sent, received, smallest;
    _Atomic uint64_t largest, shortest, longest;
    _Atomic uint32_t times[SW_RECORD_BUCKETS];
    _Atomic uint64_t errors, probed, waited;
    _Atomic uint64_t showing, shown_again; /* ns, bytes: node/arena/show.h */
    _Atomic uint64_t sent_between, received_between;
    _Atomic uint64_t device_calls, device_sent, device_received, device_pieces;
    _Atomic uint32_t number; /* in the trace; 0: not in it */
    sw_traced_t traced;
} sw_record_t;
_Static_assert(offsetof(sw_record_t, largest) == SW_LINE, "one line");

typedef struct {
    _Atomic(sw_record_t *) *at; /* [size], NULL: free; a power of two */
    uint32_t size, used;
} sw_records_t;

static inline bool sw_key_same(const sw_key_t *a, const sw_key_t *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1] &&
           a->words[2] == b->words[2];
}

/* The record of a key, made at need; NULL when `most` are there, or the system
 * has no memory. To be called by the owning thread alone. */
SW_API sw_record_t *sw_records_find(sw_records_t *records, const sw_key_t *key,
                                    uint32_t most);

/* Only the owner writes: a load and a store, no locked instruction. */
static inline void sw_record_bump(_Atomic uint64_t *to, uint64_t by)
{
    atomic_store_explicit(to,
                          atomic_load_explicit(to, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

static inline uint64_t sw_record_seen(const _Atomic uint64_t *at)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)at,
                                memory_order_relaxed);
}

static inline int sw_record_bucket(uint64_t ns)
{
    int b = 63 - __builtin_clzll(ns | 1);
    return b < SW_RECORD_BUCKETS ? b : SW_RECORD_BUCKETS - 1;
}

static inline uint8_t sw_record_bin(uint64_t bytes)
{
    return bytes ? (uint8_t)(64 - __builtin_clzll(bytes)) : 0;
}

/* Only what changes is written. */
static inline void sw_record_least(_Atomic uint64_t *to, uint64_t value)
{
    if (sw_unlikely(value < sw_record_seen(to)))
        atomic_store_explicit(to, value, memory_order_relaxed);
}

static inline void sw_record_most(_Atomic uint64_t *to, uint64_t value)
{
    if (sw_unlikely(value > sw_record_seen(to)))
        atomic_store_explicit(to, value, memory_order_relaxed);
}

static inline void sw_record_add(sw_record_t *r, const sw_amount_t *a)
{
    sw_record_bump(&r->calls, 1);
    sw_record_bump(&r->time, a->time);
    sw_record_bump(&r->sent, a->sent);
    sw_record_bump(&r->received, a->received);
    sw_record_least(&r->smallest, a->size);
    sw_record_most(&r->largest, a->size);
    sw_record_least(&r->shortest, a->time);
    sw_record_most(&r->longest, a->time);
    _Atomic uint32_t *bucket = &r->times[sw_record_bucket(a->time)];
    atomic_store_explicit(
        bucket, atomic_load_explicit(bucket, memory_order_relaxed) + 1,
        memory_order_relaxed);
    if (sw_unlikely(a->probed)) {
        sw_record_bump(&r->probed, a->probed);
        sw_record_bump(&r->waited, a->waited);
    }
    if (sw_unlikely(a->failed))
        sw_record_bump(&r->errors, 1);
    if (sw_unlikely(a->sent_between | a->received_between)) {
        sw_record_bump(&r->sent_between, a->sent_between);
        sw_record_bump(&r->received_between, a->received_between);
    }
    if (sw_unlikely(a->device_sent | a->device_received)) {
        sw_record_bump(&r->device_calls, 1);
        sw_record_bump(&r->device_sent, a->device_sent);
        sw_record_bump(&r->device_received, a->device_received);
        sw_record_bump(&r->device_pieces, a->device_pieces);
    }
    if (sw_unlikely(sw_show_cost.nanoseconds)) {
        sw_record_bump(&r->showing, sw_show_cost.nanoseconds);
        sw_record_bump(&r->shown_again, sw_show_cost.again);
        sw_show_cost = (sw_show_cost_t){0};
    }
}

#endif
