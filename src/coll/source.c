/*
 * source.c - see source.h.
 */
#include "source.h"

#include "ask.h"
#include "packing.h"
#include "node/temporary.h"

#include <string.h>

void sw_source_packed(const sw_entry_t *e, uint64_t before, sw_source_t *to)
{
    to->at = NULL;
    to->packed = (const sw_packed_t *)(to->peer->arena + e->send.address);
    to->before = before;
}

int sw_source(sw_sequence_t *seq, int member, uint64_t step, uint32_t what,
              sw_source_t *to)
{
    int status = SW_OK;
    const sw_entry_t *e = sw_sequence_await(seq, member, step, &status);
    if (sw_unlikely(!e))
        return status;
    if (sw_unlikely(e->what != what))
        return sw_sequence_mismatch(seq);
    to->bytes = e->bytes;
    to->seq = seq;
    to->member = member;
    to->peer = seq->peer[member];
    to->shown = NULL;
    to->packed = NULL;
    switch (e->form) {
    case SW_FORM_FAILED: return (int)e->bytes;
    case SW_FORM_SHOWN:
        to->at = NULL;
        to->shown = &e->shown;
        break;
    case SW_FORM_PACKED: sw_source_packed(e, 0, to); break;
    case SW_FORM_INLINE: to->at = e->data; break;
    case SW_FORM_STAGED:
        to->at = sw_sequence_staged(seq, member, e->place);
        break;
    default: to->part = e->send; to->at = sw_peer_window(to->peer, &e->send, 0);
    }
    return SW_OK;
}

/* A peer may change what it shows while we look: we check and use one copy. */
static int find(const sw_source_t *from, size_t n, sw_data_t *to)
{
    sw_shown_t shown = *from->shown;
    return sw_data_find(from->peer, &shown, n, to) ? SW_UNREACHABLE : SW_OK;
}

/* Waits for a packed payload and returns how many bytes are there: more than
 * `than`, or none if the packer has died. */
static uint64_t await_packed(const sw_source_t *from, uint64_t than)
{
    uint64_t ready = 0;
    sw_sequence_t *seq = from->seq;
    SW_WAIT_UNLESS(seq->broken,
                   sw_sequence_answered(seq) &&
                       (ready = atomic_load_explicit(&from->packed->ready,
                                                     memory_order_acquire)) >
                           from->before + than,
                   &sw_sequence_column(seq, from->member)->doorbell);
    return seq->broken ? 0 : ready - from->before;
}

/* Copies the bytes [begin, end) of a packed payload as they come. */
static int follow(const sw_source_t *from, const sw_data_t *to, size_t begin,
                  size_t end)
{
    sw_data_t data = sw_data_plain(from->packed->data + from->before);
    for (size_t at = begin, next; at < end; at = next) {
        next = sw_min(end, await_packed(from, at));
        if (next <= at)
            return SW_BROKEN;
        sw_data_copy(&data, to, at, next);
    }
    return SW_OK;
}

int sw_source_fetch(const sw_source_t *from, uint64_t offset, void *to,
                    size_t n)
{
    sw_data_t skipped = {.at = (char *)to - offset};
    if (n == 0) /* of a member without payload, perhaps */
        return SW_OK;
    if (from->packed)
        return follow(from, &skipped, offset, offset + n);
    if (!from->shown)
        return sw_sequence_read(from->seq, from->member, &from->part, offset,
                                to, n);
    sw_data_t data;
    int rc = find(from, offset + n, &data);
    if (rc)
        return rc;
    sw_data_copy(&data, &skipped, offset, offset + n);
    sw_data_done(&data);
    return SW_OK;
}

int sw_source_spread(const sw_source_t *from, const sw_data_t *to, size_t n)
{
    sw_data_t data = sw_data_plain(from->at);
    char *fetched = NULL;
    int rc = SW_OK;
    if (from->packed)
        return follow(from, to, 0, n);
    if (from->shown) {
        rc = find(from, n, &data);
    } else if (!from->at) {
        data.at = fetched = sw_temporary(n);
        rc = sw_source_fetch(from, 0, fetched, n);
    }
    if (!rc)
        sw_data_copy(&data, to, 0, n);
    if (!rc && from->shown)
        sw_data_done(&data);
    sw_temporary_free(fetched);
    return rc;
}

void sw_source_keep(const sw_data_t *from, const sw_data_t *to, size_t n)
{
    if (n == 0 || (from->at == to->at && from->layout == to->layout))
        return;
    if (from->layout || to->layout)
        sw_data_copy(from, to, 0, n);
    else
        memmove(to->at, from->at, n);
}
