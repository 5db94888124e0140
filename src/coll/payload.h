/*
 * payload.h - offering memory to the other members, in whatever form it
 * travels. They read it by source.h.
 */
#ifndef SW_COLL_PAYLOAD_H
#define SW_COLL_PAYLOAD_H

#include "source.h"
#include "node/arena/show.h"
#include "node/base/copy.h"

/* The largest private buffer, in bytes, that is shared by a copy although CMA
 * could reach it: about where a copy costs as much as a system call. */
#define SW_COPY_MAX 65536

/* Data with gaps are shown from so many bytes on: one pass and a wait for the
 * readers, against two passes. */
#define SW_SHOWN_MIN 4096

/* n bytes that the other members map; NULL where there are none and CMA can do
 * instead, else the job ends with a message. */
void *sw_shared_copy(const sw_group_t *g, size_t n);

/* Where the others find this memory without a system call, or UINT64_MAX. To be
 * asked once of a buffer in a collective: each time counts as a use. */
static inline uint64_t sw_direct(const sw_group_t *g, const void *p, size_t n)
{
    return g->arena && n ? sw_show(p, n) : UINT64_MAX;
}

/* Exposing: the user's own memory, as a part the others can reach. Where they
 * cannot (a stack, without CMA) a copy in the arena stands in for it. */
typedef struct {
    sw_part_t part;
    void *user, *copy;
    size_t bytes;
    struct sw_packed *packed;   /* what is exposed, if it was made for that */
} sw_exposed_t;

/* Expose [p, p+n), which is at `direct`. `in`: the others will read what is in
 * it now. */
void sw_expose_at(sw_group_t *g, sw_exposed_t *to, const void *p, size_t n,
                  uint64_t direct, bool in);
static inline void sw_expose(sw_group_t *g, sw_exposed_t *to, const void *p,
                             size_t n, bool in)
{
    sw_expose_at(g, to, p, n, sw_direct(g, p, n), in);
}
/* The owner has written n bytes at `at` of what is exposed: let the others read
 * them, and sw_unexpose keep them. */
void sw_exposed_wrote(const sw_exposed_t *x, size_t at, size_t n);
/* End it. `out`: the others have written it. */
void sw_unexpose(sw_exposed_t *x, bool out);

/* Data with gaps, where the others read it piece by piece: pieces shorter than
 * a cache line, and what they do not reach, are packed instead. */
static inline bool sw_expose_shown(const sw_group_t *g, const sw_data_t *data,
                                   size_t n, sw_shown_t *to)
{
    return g->arena && sw_data_is_coarse(data->layout) &&
           sw_data_show(data, n, to);
}

/* An entry of a table of blocks with gaps. */
typedef struct {
    sw_shown_t shown;
    uint64_t bytes;
} sw_shown_block_t;

/* Put a table of n blocks, of so many bytes each, into the staging ring for
 * this entry. False: one of them is better packed, or the table is too long. */
bool sw_show_blocks(sw_group_t *g, sw_entry_t *e, uint64_t step, int readers,
                    int n, const sw_data_t *data, const uint64_t *bytes);

/* Staging: post a copy of `n` bytes as this step's payload, inside the entry
 * or in the staging ring: n <= g->stage_max. The caller may go on at once. */
void sw_stage(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              const void *p, size_t n);
void sw_stage_data(sw_group_t *g, uint64_t step, uint32_t what, int readers,
                   const sw_data_t *data, size_t n);

/* Offering: post `n` bytes in the form that suits, staged (up to `eager`),
 * shown, or as an exposed part. The last two the caller must keep (wait for the
 * readers' done, then sw_unexpose(x, false)): then it returns true. The choice
 * is the caller's own: it may depend on where the buffer lies. */
bool sw_offer(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              size_t eager, const sw_data_t *data, size_t n, sw_exposed_t *x);

/* Up to how many bytes to stage, where `eager` is for data without gaps. */
static inline size_t sw_eager(size_t eager, bool gaps)
{
    return gaps ? sw_min(eager, SW_SHOWN_MIN) : eager;
}

/* The end of a step in which all offer to all. `part`: what we offered is our
 * own memory, and the readers are waited for. `seen_all`: we have seen
 * everybody's entry, so that everybody is done with the step before. */
static inline void sw_conclude(sw_group_t *g, uint64_t step, bool part,
                               sw_exposed_t *x, bool seen_all)
{
    sw_done(g, step);
    if (part) {
        sw_await_done_all(g, step);
        sw_unexpose(x, false);
    } else if (seen_all) {
        g->acked = step - 1;
    }
}

#endif
