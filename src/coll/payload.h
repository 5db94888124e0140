/*
 * payload.h - offering memory to the other members, in one of the forms of
 * node/peer.h. They read it by source.h.
 */
#ifndef SW_COLL_PAYLOAD_H
#define SW_COLL_PAYLOAD_H

#include "source.h"
#include "node/arena/show.h"
#include "node/base/copy.h"

/* A private buffer of up to so many bytes is shared by a copy even where CMA
 * could reach it: about here a copy costs as much as a system call. */
#define SW_COPY_MAX 65536

/* Data with gaps are shown from so many bytes on: one pass and a wait for the
 * readers, against two passes. */
#define SW_SHOWN_MIN 4096

/* Do the members do better with a shared copy of n > 0 bytes of private memory?
 * They can read and write it where it is, too. */
static inline bool sw_payload_better_copied(const sw_sequence_t *seq, size_t n)
{
    return seq->team->arena &&
           (n <= SW_COPY_MAX || !seq->team->cma ||
            atomic_load_explicit(&seq->block->asks, memory_order_relaxed));
}

/* n > 0 bytes that the other members map; NULL: there are none. The members
 * then reach the memory itself, in the form SW_FORM_CMA (ask.h). */
void *sw_payload_copy(size_t n);

/* Where the others find this memory without a system call, or UINT64_MAX. A
 * collective asks once of a buffer, since each time counts as a use. */
static inline uint64_t sw_payload_direct(const sw_team_t *team, const void *p,
                                         size_t n)
{
    return team->arena && n ? sw_show(p, n) : UINT64_MAX;
}

/* Exposing: the user's own memory, as a part the others can reach. Where they
 * reach it badly (a stack, without CMA) a copy in the arena stands in for
 * it. */
typedef struct {
    sw_part_t part;
    void *user, *copy;
    size_t bytes;
    struct sw_packed *packed; /* what is exposed, if it was made for that */
} sw_exposed_t;

/* Exposes [p, p+n) in the arena: at `direct`, or as a copy if it is `copied`.
 * False: neither can be had, and the caller sets the part's form and address.
 * `in`: the others will read what the memory holds now. */
bool sw_expose_shared(sw_exposed_t *to, const void *p, size_t n,
                      uint64_t direct, bool copied, bool in);
/* The same for the members of a team: they can also read and write by CMA. */
void sw_expose_at(sw_sequence_t *seq, sw_exposed_t *to, const void *p, size_t n,
                  uint64_t direct, bool in);
static inline void sw_expose(sw_sequence_t *seq, sw_exposed_t *to,
                             const void *p, size_t n, bool in)
{
    sw_expose_at(seq, to, p, n, sw_payload_direct(seq->team, p, n), in);
}
/* The owner has written n bytes at `at` of the exposed memory: lets the others
 * read them, and sw_expose_end keep them. */
void sw_exposed_wrote(const sw_exposed_t *x, size_t at, size_t n);
/* Ends the exposure. `out`: the others have written the memory. */
void sw_expose_end(sw_exposed_t *x, bool out);

/* Exposes data with gaps, which the others read piece by piece. False: pieces
 * are shorter than a cache line, or out of reach; the caller packs instead. */
static inline bool sw_expose_shown(const sw_sequence_t *seq,
                                   const sw_data_t *data, size_t n,
                                   sw_shown_t *to)
{
    return seq->team->arena && sw_data_is_coarse(data->layout) &&
           sw_data_show(data, n, to);
}

/* An entry of a table of blocks with gaps. */
typedef struct {
    sw_shown_t shown;
    uint64_t bytes;
} sw_shown_block_t;

/* Puts a table of n blocks, of so many bytes each, into the staging for this
 * entry. False: one of them is better packed, or the table is too long. */
bool sw_show_blocks(sw_sequence_t *seq, sw_entry_t *e, uint64_t step,
                    int readers, int n, const sw_data_t *data,
                    const uint64_t *bytes);

/* Staging: posts a copy of `n` bytes as this step's payload, inside the entry
 * or in the staging: n <= stage_max. The caller may go on at once. */
void sw_payload_stage(sw_sequence_t *seq, uint64_t step, uint32_t what,
                      int readers, const void *p, size_t n);
void sw_payload_stage_data(sw_sequence_t *seq, uint64_t step, uint32_t what,
                           int readers, const sw_data_t *data, size_t n);

/* Has a step that ends so left without meaning what others read of it? The
 * failure, or 0: what else goes wrong is the program's doing, and has
 * results. */
static inline int sw_payload_hollow(int rc)
{
    return rc == SW_UNREACHABLE || rc == SW_NO_ROOM ? rc : 0;
}

/* Tells the readers of this step that there is no payload, and why. */
void sw_payload_stage_failure(sw_sequence_t *seq, uint64_t step, uint32_t what,
                              int readers, int why);

/* Offering: posts `n` bytes in the form that suits: staged (up to `eager`),
 * shown, or as an exposed part. For the last two it returns true: the caller
 * waits for the readers' done, then calls sw_expose_end(x, false). Members may
 * choose differently, since the choice depends on where the buffer lies. */
bool sw_payload_offer(sw_sequence_t *seq, uint64_t step, uint32_t what,
                      int readers, size_t eager, const sw_data_t *data,
                      size_t n, sw_exposed_t *x);

/* Up to how many bytes are staged, where `eager` is for data without gaps. */
static inline size_t sw_payload_eager(size_t eager, bool gaps)
{
    return gaps ? sw_min(eager, SW_SHOWN_MIN) : eager;
}

/* Ends a step in which all offer to all. `part`: we offered our own memory, so
 * we wait for the readers. `seen_all`: we have seen every member's entry, so
 * every member is done with the step before. */
static inline void sw_payload_conclude(sw_sequence_t *seq, uint64_t step,
                                       bool part, sw_exposed_t *x,
                                       bool seen_all)
{
    sw_sequence_done(seq, step);
    if (part) {
        sw_sequence_await_done_all(seq, step);
        sw_expose_end(x, false);
    } else if (seen_all) {
        seq->acked = step - 1;
    }
}

#endif
