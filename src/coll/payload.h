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

/* n bytes that the other members map; NULL where there are none and CMA can do
 * instead, else the job ends with a message. */
void *sw_shared_copy(const sw_group_t *g, size_t n);

/* Exposing: the user's own memory, as a part the others can reach. Where they
 * cannot (a stack, without CMA) a copy in the arena stands in for it. */
typedef struct {
    sw_part_t part;
    void *user, *copy;
    size_t bytes;
} sw_exposed_t;

/* Expose [p, p+n). `in`: the others will read it (the copy gets the data). */
void sw_expose(sw_group_t *g, sw_exposed_t *to, const void *p, size_t n,
               bool in);
/* End it. `out`: the others have written it (the data leaves the copy). */
void sw_unexpose(sw_exposed_t *x, bool out);

/* Staging: post a copy of `n` bytes as this step's payload, inside the entry
 * or in the staging ring: n <= g->stage_max. The caller may go on at once. */
void sw_stage(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              const void *p, size_t n);

/* Offering: post `n` bytes in the form that suits, staged (up to `eager`) or as
 * an exposed part, which the caller must keep (wait for the readers' done, then
 * sw_unexpose(x, false)). Returns true for a part. The choice is the caller's
 * own: it may depend on where the buffer lies. */
bool sw_offer(sw_group_t *g, uint64_t step, uint32_t what, int readers,
              size_t eager, const void *p, size_t n, sw_exposed_t *x);

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
    const char *at;             /* readable here, or NULL: by CMA          */
    const sw_peer_t *peer;
    sw_part_t part;
    uint64_t bytes;
} sw_source_t;

/* Wait for a member's payload of this step. Returns SW_OK or SW_MISMATCH. */
int sw_source(sw_group_t *g, int member, uint64_t step, uint32_t what,
              sw_source_t *to);
/* This process's own memory as a source. */
static inline sw_source_t sw_source_own(const void *p, size_t n)
{
    return (sw_source_t){.at = p, .bytes = n};
}

/* Copy n bytes at `offset` of the payload. Returns SW_OK or SW_UNREACHABLE. */
static inline int sw_source_copy(const sw_source_t *from, uint64_t offset,
                                 void *to, size_t n)
{
    if (sw_likely(from->at != NULL)) {
        sw_copy(to, from->at + offset, n);
        return SW_OK;
    }
    return sw_peer_read(from->peer, &from->part, offset, to, n)
               ? SW_UNREACHABLE : SW_OK;
}

#endif
