/*
 * data.h - where the data of a message or of a collective lies.
 *
 * Data is contiguous, or what a layout picks. Its owner shows it to peers as a
 * stretch of the arena, with the place of the layout in there. The functions
 * here copy from a sender's data to a receiver's, all of it or a part.
 */
#ifndef SW_LAYOUT_DATA_H
#define SW_LAYOUT_DATA_H

#include "layout.h"
#include "node/base/copy.h"
#include "node/peer.h"
#include "node/arena/show.h"

typedef struct {
    char *at;                  /* of the first element, or of the first byte */
    const sw_layout_t *layout; /* `count` elements of it; NULL: contiguous */
    int64_t count;
} sw_data_t;

typedef struct {
    uint64_t at, span;       /* from the first byte to the last */
    uint64_t layout, serial; /* where the layout lies; 0: contiguous */
    int64_t count;
} sw_shown_t;

/* Show peers the data, `bytes` of it if it is contiguous, as it is now. False:
 * they do not reach it, or its layout. */
SW_API bool sw_data_show(const sw_data_t *data, size_t bytes, sw_shown_t *to);

/* Peers have written the bytes [begin, end) of data that was shown. */
static inline void sw_data_fetch(const sw_data_t *data, size_t begin,
                                 size_t end)
{
    if (!data->layout && begin < end)
        sw_show_fetch(data->at + begin, end - begin);
}

/* The same of data that lies in no arena: of `to` the span and the layout alone
 * are set; *low: where the data begins, from data->at. False: peers do not
 * reach the layout. */
SW_API bool sw_data_show_form(const sw_data_t *data, size_t bytes,
                              sw_shown_t *to, int64_t *low);

/* What a peer has shown, in memory that is ours to read and write: at least
 * `bytes` bytes of data. To be given back. Returns 0, or -1 with errno:
 * EBADMSG, it cannot be, or ENOMEM. */
SW_API int sw_data_find(const sw_peer_t *owner, const sw_shown_t *shown,
                        size_t bytes, sw_data_t *to);
/* The same of data that this process finds by itself, from its first byte
 * `lowest` over `span` bytes; of `shown` the layout alone is read. */
SW_API int sw_data_find_form(const sw_peer_t *owner, const sw_shown_t *shown,
                             char *lowest, uint64_t span, size_t bytes,
                             sw_data_t *to);
SW_API void sw_data_done(const sw_data_t *found);

/* Copy the bytes [begin, end) of the data. Contiguous data of the two do not
 * overlap. */
SW_API void sw_data_copy(const sw_data_t *from, const sw_data_t *to,
                         size_t begin, size_t end);

/* Copy the first n bytes of it side by side. */
static inline void sw_data_pack(const sw_data_t *from, size_t n, char *to)
{
    if (from->layout)
        sw_layout_pack(from->layout, from->at, from->count, 0, n, to);
    else
        sw_copy(to, from->at, n);
}

/* Bytes at `p`. */
static inline sw_data_t sw_data_plain(const void *p)
{
    return (sw_data_t){.at = (char *)(uintptr_t)p};
}

/* Are the pieces long enough that another processor than their owner's may
 * touch them one by one? The owner has the data in its cache, so it gathers or
 * distributes pieces that are shorter than a cache line. */
static inline bool sw_data_is_coarse(const sw_layout_t *l)
{
    return !l || l->size >= l->runs * SW_LINE;
}

#endif
