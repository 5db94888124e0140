/*
 * payload.h - offering memory to the other members, and reading what they
 * offer, in whatever form it travels.
 */
#ifndef SW_PAYLOAD_H
#define SW_PAYLOAD_H

#include "group.h"
#include "../node/copy.h"

/* The largest private buffer, in bytes, that is shared by a copy although CMA
 * could reach it: about where a copy costs as much as a system call. */
#define SW_COPY_MAX 65536

/* Data with gaps are shown from so many bytes on: one pass and a wait for the
 * readers, against two passes. */
#define SW_SHOWN_MIN 4096

/* n bytes that the other members map; NULL where there are none and CMA can do
 * instead, else the job ends with a message. */
void *sw_shared_copy(const sw_group_t *g, size_t n);

/* Exposing: the user's own memory, as a part the others can reach. Where they
 * cannot (a stack, without CMA) a copy in the arena stands in for it. */
typedef struct {
    sw_part_t part;
    void *user, *copy;
    size_t bytes;
    struct sw_packed *packed;   /* what is exposed, if it was made for that */
} sw_exposed_t;

/* Expose [p, p+n). `in`: the others will read it (the copy gets the data). */
void sw_expose(sw_group_t *g, sw_exposed_t *to, const void *p, size_t n,
               bool in);
/* End it. `out`: the others have written it (the data leaves the copy). */
void sw_unexpose(sw_exposed_t *x, bool out);

/* Packing: data with gaps, side by side in temporary memory. Who reads follows
 * who packs: the entry is posted before, and the packer stores in `ready` how
 * much is there (release; acquired by the reader). */
typedef struct sw_packed {
    _Atomic uint64_t ready;     /* bytes                                    */
    char pad[SW_LINE - 8];
    char data[];
} sw_packed_t;

/* Room for n bytes, exposed as x->part: SW_FORM_PACKED, to be posted and then
 * filled; or, where readers cannot follow, false: then fill it, and call
 * sw_packing_end before the entry is posted. */
bool sw_packing(sw_group_t *g, sw_exposed_t *x, size_t n);
/* Pack n bytes behind those that are there. */
void sw_packing_add(sw_group_t *g, sw_exposed_t *x, const sw_data_t *data,
                    size_t n);
void sw_packing_end(sw_group_t *g, sw_exposed_t *x);

/* Data with gaps, where the others read it piece by piece: pieces shorter than
 * a cache line, and what they do not reach, are packed instead. */
static inline bool sw_expose_shown(const sw_group_t *g, const sw_data_t *data,
                                   size_t n, sw_shown_t *to)
{
    return g->arena && sw_data_is_coarse(data->layout) &&
           sw_data_show(data, n, to);
}

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

/* A payload as its reader sees it. */
typedef struct {
    const char *at;             /* readable here, or NULL: one of these, or
                                   by CMA                                   */
    const sw_shown_t *shown;    /* valid until this reader is done          */
    const sw_packed_t *packed;  /* from data[before] on                     */
    uint64_t before;
    sw_bell_t *bell;            /* of the packer                            */
    const sw_peer_t *peer;
    sw_part_t part;
    uint64_t bytes;
} sw_source_t;

/* A packed payload of which this part is meant; to->peer is set. */
void sw_source_packed(sw_group_t *g, int member, const sw_entry_t *e,
                      uint64_t before, sw_source_t *to);
/* Wait for a member's payload of this step. Returns SW_OK or SW_MISMATCH. */
int sw_source(sw_group_t *g, int member, uint64_t step, uint32_t what,
              sw_source_t *to);
/* This process's own memory as a source. */
static inline sw_source_t sw_source_own(const void *p, size_t n)
{
    return (sw_source_t){.at = p, .bytes = n};
}

/* Copy n bytes at `offset` of the payload. Returns SW_OK or SW_UNREACHABLE. */
int sw_source_fetch(const sw_source_t *from, uint64_t offset, void *to,
                    size_t n);
static inline int sw_source_copy(const sw_source_t *from, uint64_t offset,
                                 void *to, size_t n)
{
    if (sw_unlikely(!from->at))
        return sw_source_fetch(from, offset, to, n);
    sw_copy(to, from->at + offset, n);
    return SW_OK;
}

/* Put its first n bytes where they go. Returns likewise. */
int sw_source_spread(const sw_source_t *from, const sw_data_t *to, size_t n);
static inline int sw_source_put(const sw_source_t *from, const sw_data_t *to,
                                size_t n)
{
    if (sw_unlikely(to->layout != NULL))
        return sw_source_spread(from, to, n);
    return sw_source_copy(from, 0, to->at, n);
}

/* A member's own data, from where it is sent to where it is received: that may
 * be the same place, and hosts bear with places that overlap. */
void sw_keep(const sw_data_t *from, const sw_data_t *to, size_t n);

#endif
