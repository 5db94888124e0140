/*
 * ask.c - see ask.h.
 */
#include "ask.h"

#include "node/base/copy.h"

#include <errno.h>

#define OWNERS 65536 /* of a word `asked`: the rest is the number */
_Static_assert(SW_MEMBERS_MAX < OWNERS, "a member fits");

static void answer(const sw_sequence_t *seq, int asker, sw_ask_t *ask)
{
    char *box = sw_sequence_box(seq, asker);
    char *mine = (char *)(uintptr_t)ask->address;
    sw_assert(ask->bytes <= SW_ASK_BYTES);
    if (ask->writes)
        sw_copy(mine, box, ask->bytes);
    else
        sw_copy(box, mine, ask->bytes);
}

void sw_sequence_answer_slow(const sw_sequence_t *seq)
{
    for (int k = 1; k < seq->n; k++) {
        int asker = sw_sequence_right(seq, k);
        sw_ask_t *ask = &sw_sequence_column(seq, asker)->ask;
        uint64_t asked = atomic_load_explicit(&ask->asked,
                                              memory_order_acquire);
        if (asked % OWNERS != (unsigned)seq->me ||
            asked == atomic_load_explicit(&ask->answered, memory_order_relaxed))
            continue;
        answer(seq, asker, ask);
        atomic_store_explicit(&ask->answered, asked, memory_order_release);
        sw_doorbell_ring(&seq->mine->doorbell);
    }
}

/* The owner may sleep for any member. */
static void wake(const sw_sequence_t *seq)
{
    for (int i = 0; i < seq->n; i++)
        sw_doorbell_ring(&sw_sequence_column(seq, i)->doorbell);
}

static bool has_given_up(const sw_sequence_t *seq)
{
    return atomic_load_explicit(&seq->block->given_up, memory_order_relaxed);
}

/* One question, about as many bytes as the box holds. */
static int ask(sw_sequence_t *seq, int owner, bool writes, uint64_t address,
               size_t n)
{
    sw_ask_t *ask = &seq->mine->ask;
    uint64_t last = atomic_load_explicit(&ask->asked, memory_order_relaxed);
    uint64_t question = (last / OWNERS + 1) * OWNERS + (unsigned)owner;
    bool answered = false;
    ask->address = address;
    ask->bytes = n;
    ask->writes = writes;
    atomic_store_explicit(&ask->asked, question, memory_order_release);
    atomic_store_explicit(&seq->block->asks, 1, memory_order_release);
    wake(seq);
    /* An owner that gives up answers no more. */
    SW_WAIT_UNLESS(seq->broken,
                   sw_sequence_answered(seq) &&
                       ((answered = atomic_load_explicit(
                                        &ask->answered, memory_order_acquire) ==
                                    question) ||
                        has_given_up(seq)),
                   &sw_sequence_column(seq, owner)->doorbell);
    if (!answered)
        seq->broken = true;
    return answered ? SW_OK : SW_BROKEN;
}

/* Does the system copy, as far as this process knows? */
static bool may_copy(const sw_peer_t *peer)
{
    return peer->cma &&
           !atomic_load_explicit(&peer->refused, memory_order_relaxed);
}

/* The system has refused a copy. Missing memory (EFAULT) tells nothing of the
 * next one. */
static void note(sw_peer_t *peer)
{
    if (errno != EFAULT)
        atomic_store_explicit(&peer->refused, true, memory_order_relaxed);
}

/* Without the owner: true, and *rc tells how that ended. False: the owner must
 * copy. */
static bool alone(sw_peer_t *peer, bool writes, const sw_part_t *part,
                  uint64_t offset, void *mine, size_t n, int *rc)
{
    bool by_system = part->form == SW_FORM_CMA;
    if (by_system && !may_copy(peer))
        return false;
    int bad = writes ? sw_peer_write(peer, part, offset, mine, n)
                     : sw_peer_read(peer, part, offset, mine, n);
    if (bad && by_system) {
        note(peer);
        return false;
    }
    *rc = bad ? SW_UNREACHABLE : SW_OK;
    return true;
}

int sw_sequence_read(sw_sequence_t *seq, int member, const sw_part_t *part,
                     uint64_t offset, void *to, size_t n)
{
    int rc = SW_OK;
    if (alone(seq->peer[member], false, part, offset, to, n, &rc))
        return rc;
    for (size_t at = 0, now; at < n && !rc; at += now) {
        now = sw_min(n - at, (size_t)SW_ASK_BYTES);
        rc = ask(seq, member, false, part->address + offset + at, now);
        if (!rc)
            sw_copy((char *)to + at, sw_sequence_box(seq, seq->me), now);
    }
    return rc;
}

int sw_sequence_write(sw_sequence_t *seq, int member, const sw_part_t *part,
                      uint64_t offset, const void *from, size_t n)
{
    int rc = SW_OK;
    if (alone(seq->peer[member], true, part, offset, (void *)(uintptr_t)from, n,
              &rc))
        return rc;
    for (size_t at = 0, now; at < n && !rc; at += now) {
        now = sw_min(n - at, (size_t)SW_ASK_BYTES);
        sw_copy(sw_sequence_box(seq, seq->me), (const char *)from + at, now);
        rc = ask(seq, member, true, part->address + offset + at, now);
    }
    return rc;
}
