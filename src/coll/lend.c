/*
 * lend.c - see lend.h.
 *
 * A lender's entry says where its list lies. The list has a part for each
 * place, and room in which the keeper says what has come.
 *
 * The keeper says that it is done when it needs nothing more of the members'
 * memory. A member that gives up meanwhile (sequence.h) leaves its list and its
 * copies as they are: the keeper may be about to write there.
 */
#include "lend.h"

#include "ask.h"
#include "payload.h"
#include "node/temporary.h"

#include <stdlib.h>

struct sw_lent {
    sw_part_t part;
    uint64_t came;
};

enum { HANDED = SW_COLL_COUNT, LENT, CALLED }; /* beside the collectives */

static int first(int one, int other)
{
    return one ? one : other;
}

void sw_lend_block(sw_sequence_t *seq, int keeper, const sw_data_t *data,
                   size_t bytes)
{
    sw_exposed_t x = {.copy = NULL};
    uint64_t step = ++seq->step;
    size_t eager = sw_payload_eager(seq->team->eager, data->layout != NULL);
    if (sw_payload_offer(seq, step, sw_sequence_what(HANDED, keeper), keeper,
                         eager, data, bytes, &x)) {
        sw_show_hold();
        sw_sequence_await_done(seq, keeper, step);
        if (!seq->broken)
            sw_expose_end(&x, false);
    }
    sw_sequence_done(seq, step);
}

/* Finds one block: where it lies, or in a copy of `bytes` bytes. */
static int find(const sw_source_t *source, size_t bytes, sw_spot_t *to)
{
    *to = (sw_spot_t){
        .at = (char *)(uintptr_t)source->at, .bytes = bytes, .came = bytes};
    if (bytes == 0 || (to->at && bytes <= source->bytes))
        return SW_OK;
    to->at = to->copy = sw_temporary(bytes);
    return sw_source_copy(source, 0, to->at, sw_min(bytes, source->bytes));
}

int sw_lend_collect(sw_sequence_t *seq, const sw_data_t *own, size_t bytes,
                    const size_t *each, sw_spot_t *place)
{
    uint64_t step = ++seq->step;
    int rc = SW_OK;
    for (int i = 0; i < seq->n; i++) {
        sw_source_t source = sw_source_own(own->at, bytes);
        int bad = SW_OK;
        if (i != seq->me) {
            bad = sw_source(seq, i, step, sw_sequence_what(HANDED, seq->me),
                            &source);
            if (bad)
                source = sw_source_own(NULL, 0);
        }
        size_t wants = each ? *each : source.bytes;
        if (i == seq->me && own->layout && wants) {
            place[i] = (sw_spot_t){.bytes = wants, .came = wants};
            place[i].at = place[i].copy = sw_temporary(wants);
            sw_data_pack(own, sw_min(bytes, wants), place[i].at);
        } else {
            bad = first(bad, find(&source, wants, &place[i]));
        }
        if (!bad && source.bytes > wants)
            bad = SW_TRUNCATED;
        rc = first(rc, bad);
    }
    return rc;
}

void sw_lend_collect_end(sw_sequence_t *seq, sw_spot_t *place)
{
    sw_sequence_done(seq, seq->step);
    for (int i = 0; i < seq->n; i++)
        sw_temporary_free(place[i].copy);
}

/* Posts where the list lies, and waits until the keeper needs it no more. */
static void post(sw_sequence_t *seq, int keeper, uint64_t step,
                 const sw_exposed_t *list)
{
    sw_entry_t *e = sw_sequence_claim(seq, step, keeper);
    e->what = sw_sequence_what(LENT, keeper);
    e->form = SW_FORM_NONE;
    e->bytes = list->bytes;
    e->send = list->part;
    sw_sequence_post(seq, e, step);
    sw_sequence_await_done(seq, keeper, step);
}

void sw_lend(sw_sequence_t *seq, int keeper, sw_spot_t *place, int count,
             bool written)
{
    uint64_t step = ++seq->step;
    if (count) {
        size_t bytes = (size_t)count * sizeof(struct sw_lent);
        struct sw_lent *lent = sw_temporary(bytes);
        sw_exposed_t list, *each = sw_array_zeroed((size_t)count, sizeof *each);
        sw_show_hold();
        for (int i = 0; i < count; i++) {
            sw_expose(seq, &each[i], place[i].at, place[i].bytes, true);
            lent[i] = (struct sw_lent){each[i].part, 0};
        }
        sw_expose(seq, &list, lent, bytes, true);
        post(seq, keeper, step, &list);
        if (!seq->broken) {
            sw_expose_end(&list, true);
            for (int i = 0; i < count; i++) {
                sw_expose_end(&each[i], written);
                place[i].came = lent[i].came;
            }
            sw_temporary_free(lent);
        }
        free(each);
    }
    sw_sequence_done(seq, step);
}

void sw_loan_begin(sw_sequence_t *seq)
{
    seq->step++;
}

/* The keeper's copy of a member's list; NULL: the member has none for it. */
static struct sw_lent *list_of(sw_sequence_t *seq, int member, int count,
                               sw_loan_t *loan, int *rc)
{
    const sw_entry_t *e = sw_sequence_await(seq, member, seq->step, rc);
    size_t bytes = (size_t)count * sizeof(struct sw_lent);
    if (!e)
        return NULL;
    if (e->what != sw_sequence_what(LENT, seq->me) || e->bytes != bytes) {
        *rc = sw_sequence_mismatch(seq);
        return NULL;
    }
    *loan = (sw_loan_t){.owner = member,
                        .part = e->send,
                        .list = sw_array_memory(bytes),
                        .count = count};
    *rc = sw_sequence_read(seq, member, &loan->part, 0, loan->list, bytes);
    if (*rc) {
        free(loan->list);
        loan->list = NULL;
    }
    return loan->list;
}

int sw_loan_take(sw_sequence_t *seq, int member, bool written, sw_spot_t *place,
                 int count, sw_loan_t *loan)
{
    int rc = SW_OK;
    *loan = (sw_loan_t){.list = NULL};
    const struct sw_lent *lent = list_of(seq, member, count, loan, &rc);
    if (written && !sw_sequence_touch(seq)) {
        free(loan->list);
        lent = loan->list = NULL;
        rc = SW_BROKEN;
    }
    for (int i = 0; i < count; i++) {
        const sw_part_t *part = lent ? &lent[i].part : &(sw_part_t){0};
        place[i].bytes = part->bytes;
        place[i].at = sw_peer_window(seq->peer[member], part, 0);
        place[i].copy = NULL;
        if (!written)
            place[i].came = part->bytes;
        if (!part->bytes || place[i].at)
            continue;
        place[i].at = place[i].copy = sw_temporary(part->bytes);
        if (!written)
            rc = first(sw_sequence_read(seq, member, part, 0, place[i].at,
                                        part->bytes),
                       rc);
    }
    return rc;
}

int sw_loan_return(sw_sequence_t *seq, bool written, sw_spot_t *place,
                   sw_loan_t *loan)
{
    int rc = SW_OK;
    for (int i = 0; i < loan->count && loan->list; i++) {
        struct sw_lent *lent = &loan->list[i];
        size_t bytes = sw_min(place[i].came, place[i].bytes);
        lent->came = place[i].came;
        if (written && place[i].copy && !seq->broken)
            rc = first(rc, sw_sequence_write(seq, loan->owner, &lent->part, 0,
                                             place[i].at, bytes));
        sw_temporary_free(place[i].copy);
    }
    size_t all = (size_t)loan->count * sizeof *loan->list;
    if (written && loan->list && !seq->broken)
        rc = first(rc, sw_sequence_write(seq, loan->owner, &loan->part, 0,
                                         loan->list, all));
    free(loan->list);
    loan->list = NULL;
    return rc;
}

void sw_loan_end(sw_sequence_t *seq)
{
    sw_sequence_touched(seq);
    sw_sequence_done(seq, seq->step);
}

void sw_lend_call(sw_sequence_t *seq)
{
    uint64_t step = ++seq->step;
    sw_entry_t *e = sw_sequence_claim(seq, step, SW_READ_ALL);
    e->what = sw_sequence_what(CALLED, seq->me);
    e->form = SW_FORM_NONE;
    e->bytes = 0;
    sw_sequence_post(seq, e, step);
    sw_sequence_done(seq, step);
}

bool sw_lend_called(sw_sequence_t *seq, int keeper)
{
    int rc = SW_OK;
    const sw_entry_t *e = sw_sequence_await(seq, keeper, seq->step + 1, &rc);
    if (!e || e->what != sw_sequence_what(CALLED, keeper))
        return false;
    sw_sequence_done(seq, ++seq->step);
    return true;
}
