/*
 * pending.h - requests under way, and what the recorder counts when they end.
 *
 * When a receive completes, its status tells the bytes. The recorder remembers
 * its communicator and its peer from the call that began it. A request is a
 * number here (MPI's handle). The table serves all threads, because a request
 * may complete in another thread than the one that began it.
 */
#ifndef SW_PROFILE_RECORD_PENDING_H
#define SW_PROFILE_RECORD_PENDING_H

#include "node/base/base.h"

typedef enum {
    SW_PENDING_SEND = 1,
    SW_PENDING_RECEIVE,
    SW_PENDING_COLLECTIVE,
} sw_pending_kind_t;

typedef struct {
    uint64_t request; /* 0: a free entry */
    void *communicator;
    union {
        uint64_t stamp; /* a partner's on its board; 0: not known */
        /* of one from any source or with any tag: ticks when it was posted; 0:
         * not known */
        uint64_t since;
    };
    uint64_t sent, received; /* bytes of a persistent operation */
    /* of the message; 0: not known. Of a persistent collective its size */
    uint64_t number;
    /* as given; of a collective the root, and which it is (trace/format.h) */
    int32_t peer, tag;
    uint32_t name; /* in the trace; 0: none */
    uint8_t kind;  /* sw_pending_kind_t */
    uint8_t waits; /* of a collective; see the owner */
    bool persistent : 1, active : 1, partitioned : 1;
    bool cancelled : 1; /* has been asked for */
    /* its status may be wrong: `received` bytes is what there was room for */
    bool untold : 1;
    bool asks : 1; /* its status tells more than bytes */
    /* The data lie in a device's memory. */
    bool device_sent : 1, device_received : 1;
    uint8_t piece; /* see sw_pending_code */
} sw_pending_t;
_Static_assert(sizeof(sw_pending_t) == SW_LINE, "one line");

/* How many bytes the pieces of data with gaps have on average, in one byte: up
 * to 127 as they are, else a power of two. 0: there are no gaps. */
static inline uint8_t sw_pending_code(uint64_t bytes)
{
    return bytes < 128 ? (uint8_t)bytes
                       : (uint8_t)(128 + 56 - __builtin_clzll(bytes));
}

static inline uint64_t sw_pending_pieces(uint8_t code, uint64_t bytes)
{
    return !code ? 0 : code < 128 ? bytes / code : bytes >> (code - 128 + 7);
}

/* May several threads come at once? The recorder sets it before the first
 * use. */
SW_API extern bool sw_pending_shared;
/* How many there are, and how many of them ask for their status. */
SW_API extern _Atomic uint32_t sw_pending_count, sw_pending_asking;

/* Returns the place of the entry for a request, which may hold an older one.
 * The caller fills the whole entry at once, and then calls sw_pending_placed.
 * Until then it holds the table's lock, if threads share the table. NULL: no
 * memory. */
SW_API sw_pending_t *sw_pending_place(uint64_t request);
SW_API void sw_pending_ask(int more);
SW_API void sw_pending_leave(void);
static inline void sw_pending_placed(const sw_pending_t *pending)
{
    if (sw_unlikely(pending->asks))
        sw_pending_ask(1);
    if (sw_unlikely(sw_pending_shared))
        sw_pending_leave();
}
/* Remembers an entry, in place of any other with its request. False: no
 * memory. */
SW_API bool sw_pending_add(const sw_pending_t *pending);
/* The same. Returns the name of the other, which no other thread is told then;
 * 0: there is none, or it is persistent. */
SW_API uint32_t sw_pending_replace(const sw_pending_t *pending);
/* The request has completed: copies its entry to *to, and forgets it. A
 * persistent one stays, and becomes inactive. False: the table has no such
 * entry, or it is persistent and was not active. */
SW_API bool sw_pending_end(uint64_t request, sw_pending_t *to);
/* Does the same for `n` requests, and copies nothing. */
SW_API void sw_pending_end_all(const uint64_t *requests, int64_t n);
/* Copies the entry of a request, and changes nothing. False: none. */
SW_API bool sw_pending_look(uint64_t request, sw_pending_t *to);
/* The same, and forgets it, unless it is persistent: another thread finds it no
 * more. */
SW_API bool sw_pending_take(uint64_t request, sw_pending_t *to);
/* A persistent request starts: its entry becomes this one, and active. */
SW_API void sw_pending_start(const sw_pending_t *pending);
SW_API void sw_pending_drop(uint64_t request);

#endif
