/*
 * source.h - a payload as its reader sees it.
 */
#ifndef SW_COLL_SOURCE_H
#define SW_COLL_SOURCE_H

#include "sequence.h"

typedef struct {
    /* readable here, or NULL: one of these, or by CMA */
    const char *at;
    const sw_shown_t *shown;        /* valid until this reader is done */
    const struct sw_packed *packed; /* from data[before] on */
    uint64_t before;
    sw_sequence_t *seq; /* its reader's */
    int member;         /* that it is of */
    const sw_peer_t *peer;
    sw_part_t part;
    uint64_t bytes;
} sw_source_t;

/* Describes a packed payload from byte `before` on; whose it is, is set. */
void sw_source_packed(const sw_entry_t *e, uint64_t before, sw_source_t *to);
/* Waits for a member's payload of this step. Returns SW_OK, SW_MISMATCH, or why
 * the member has none (sw_payload_stage_failure). */
int sw_source(sw_sequence_t *seq, int member, uint64_t step, uint32_t what,
              sw_source_t *to);
/* This process's own memory as a source. */
static inline sw_source_t sw_source_own(const void *p, size_t n)
{
    return (sw_source_t){.at = p, .bytes = n};
}

/* Copies n bytes at `offset` of the payload. Returns SW_OK, SW_BROKEN,
 * SW_UNREACHABLE or SW_NO_ROOM. */
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

/* Copies its first n bytes to `to`. Returns likewise. */
int sw_source_spread(const sw_source_t *from, const sw_data_t *to, size_t n);
static inline int sw_source_put(const sw_source_t *from, const sw_data_t *to,
                                size_t n)
{
    if (sw_unlikely(to->layout != NULL))
        return sw_source_spread(from, to, n);
    return sw_source_copy(from, 0, to->at, n);
}

/* Copies a member's own data from its send buffer to its receive buffer. Both
 * may be the same, and hosts accept buffers that overlap. */
SW_API void sw_source_keep(const sw_data_t *from, const sw_data_t *to,
                           size_t n);

#endif
