/*
 * comm.c - see comm.h.
 */
#include "comm.h"

#include "away.h"
#include "datatype.h"
#include "failure.h"
#include "progress.h"
#include "reach.h"

#include "coll/agreement.h"
#include "node/base/settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

sw_registry_cache_t sw_comm_cache[SW_COMMS_CACHED] = SW_REGISTRY_EMPTY(
    SW_COMMS_CACHED);
static sw_registry_t comms = SW_REGISTRY(sw_comm_t, sw_comm_cache);
_Atomic bool sw_windows_made;

/* This thread ends it: comm_end.c. */
__thread MPI_Comm sw_comm_ending
    __attribute__((tls_model("initial-exec"))) = MPI_COMM_NULL;
/* MPI_Finalize has begun. */
_Atomic bool sw_comms_closing;

_Atomic bool sw_comm_strangers;
bool (*sw_away)(bool goes);

/* The attribute's callbacks: nothing is copied to a duplicate. */
static int copy_attribute(MPI_Comm comm, int key, void *extra, void *value,
                          void *to, int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

/* Messages are pending: keep what their end may need. */
static void outlive(sw_comm_t *c, MPI_Comm comm)
{
    c->gone = comm != MPI_COMM_WORLD &&
              host.Comm_get_errhandler(comm, &c->handler) == MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    sw_comm_t *c = value;
    if (atomic_load(&c->holds) > 1)
        outlive(c, comm);
    sw_registry_remove(&comms, c);
    sw_progress_end(c->handle);
    c->handle = MPI_COMM_NULL;
    sw_sequence_t *seq = c->sequence ? c->sequence : c->lost;
    c->sequence = c->lost = NULL;
    sw_span_t *span = c->span;
    c->span = NULL;
    if (seq)
        sw_sequence_close(seq);
    if (span)
        sw_span_free(span);
    sw_comm_drop(c);
    return MPI_SUCCESS;
}

/* Parts -------------------------------------------------------------------- */

static sw_comm_part_t *parts[1 + SW_COMM_PARTS];
static int part_count;

void sw_comm_part_add(sw_comm_part_t *part)
{
    if (part->place)
        return;
    sw_assert(part_count < SW_COMM_PARTS);
    part->place = ++part_count;
    parts[part->place] = part;
}

void sw_comm_parts_end(sw_comm_t *c)
{
    for (int i = 1; i <= part_count; i++)
        if (c->part[i] && parts[i]->end)
            parts[i]->end(c->part[i]);
}

static void free_parts(sw_comm_t *c)
{
    for (int i = 1; i <= part_count; i++) {
        if (c->part[i] && parts[i]->free)
            parts[i]->free(c->part[i]);
        c->part[i] = NULL;
    }
}

/* -------------------------------------------------------------------------- */

/* No call needs the state any more. */
void sw_comm_last(sw_comm_t *c)
{
    if (c->gone)
        host.Errhandler_free(&c->handler);
    if (c->slates)
        sw_slates_close(c->slates);
    if (c->team)
        sw_team_drop(c->team);
    free(c->trials);
    c->slates = NULL;
    c->team = NULL;
    c->trials = NULL;
    sw_tally_clear(&c->pairs);
    free_parts(c);
    sw_members_drop(c->members);
    sw_registry_spare(&comms, c);
}

MPI_Comm sw_comm_or_any(const sw_comm_t *c)
{
    return c->handle != MPI_COMM_NULL ? c->handle
                                      : sw_datatype_comm(MPI_COMM_WORLD);
}

void sw_comm_forget_keyval(void)
{
    int key = sw_registry_forget_keyval(&comms);
    if (key != MPI_KEYVAL_INVALID)
        host.Comm_free_keyval(&key);
}

static sw_members_t *members_of(MPI_Comm comm, int n)
{
    MPI_Group these;
    if (!sw_roster_has_world())
        return NULL;
    host.Comm_group(comm, &these);
    sw_members_t *members = sw_members_of(these, n);
    host.Group_free(&these);
    return members;
}

sw_members_t *sw_comm_members(sw_comm_t *c)
{
    sw_members_t *m = __atomic_load_n(&c->members, __ATOMIC_ACQUIRE);
    sw_members_t *none = NULL;
    /* Another thread may do the same. */
    if (!m && (m = members_of(c->handle, c->n)) &&
        !__atomic_compare_exchange_n(&c->members, &none, m, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        sw_members_drop(m);
        m = none;
    }
    return m;
}

static void say_why(const sw_comm_t *c, const char *why)
{
    if (sw_settings.verbose && sw_settings.enable && c->me == 0)
        sw_say("a communicator of %d stays with the host: %s", c->n, why);
}

/* Why the host has to serve it, if that is known already. Members from outside
 * our MPI_COMM_WORLD (spawned, or met by connect and accept) may run without
 * us, so they cannot be asked. Every member sees some from outside, whichever
 * world is its own. A program without MPI_COMM_WORLD has sessions only, made of
 * what the launcher started. */
static sw_reason_t why_not(sw_comm_t *c, bool inter)
{
    if (inter || c->n < 2)
        return inter ? SW_REASON_INTER : SW_REASON_ALONE;
    sw_roster_meeting_t meeting = SW_ROSTER_APART;
    if (c->n <= SW_SPAN_MEMBERS_MAX) {
        c->members = members_of(c->handle, c->n);
        if (!c->members && sw_settings.enable && sw_roster_has_world()) {
            sw_say("out of memory while setting a communicator up");
            abort();
        }
        meeting = c->members ? sw_roster_meeting(c->members)
                             : SW_ROSTER_UNKNOWN;
        c->apart = meeting == SW_ROSTER_APART && sw_settings.spans;
        if (c->n > SW_MEMBERS_MAX && meeting != SW_ROSTER_FOREIGN)
            meeting = SW_ROSTER_APART;
    }
    if (meeting == SW_ROSTER_APART && c->members && !c->apart)
        say_why(c, "not on one node");
    return meeting == SW_ROSTER_FOREIGN              ? SW_REASON_FOREIGN
           : meeting == SW_ROSTER_APART && !c->apart ? SW_REASON_APART
                                                     : SW_OURS;
}

static int attribute(void)
{
    pthread_mutex_lock(&comms.lock);
    if (comms.keyval == MPI_KEYVAL_INVALID)
        host.Comm_create_keyval(copy_attribute, delete_attribute, &comms.keyval,
                                NULL);
    pthread_mutex_unlock(&comms.lock);
    return comms.keyval;
}

/* First meeting. Only here can the handle be invalid: the host then raises
 * its error on the query, as it would on the collective. */
static sw_comm_t *meet(MPI_Comm comm)
{
    int inter = 0;
    sw_comm_t new = {.handle = comm,
                     .context_id = comm == MPI_COMM_WORLD,
                     .holds = 1,
                     .pairs = SW_TALLY(SW_TALLY_LIMIT)},
              *c;
    if (host.Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return NULL;
    host.Comm_size(comm, &new.n);
    host.Comm_rank(comm, &new.me);
    new.reason = why_not(&new, inter);
    if (new.reason == SW_OURS && new.members && !new.apart)
        new.tuned = sw_tuned_find(new.n);
    new.settled = new.reason != SW_OURS;
    if (new.reason == SW_REASON_INTER || new.reason == SW_REASON_FOREIGN)
        atomic_store(&sw_comm_strangers, true);
    bool added;
    c = sw_registry_put(&comms, (uintptr_t)comm, &new, &added);
    if (c)
        host.Comm_set_attr(comm, attribute(), c);
    else
        sw_members_drop(new.members);
    return c;
}

sw_comm_t *sw_comm_look_up(MPI_Comm comm)
{
    return sw_registry_find(&comms, (uintptr_t)comm);
}

/* Two threads may send on a communicator that no thread has met. */
static sw_comm_t *find(MPI_Comm comm)
{
    static pthread_mutex_t meeting = PTHREAD_MUTEX_INITIALIZER;
    sw_comm_t *c = sw_comm_look_up(comm);
    if (c || comm == MPI_COMM_NULL || comm == sw_comm_ending)
        return c;
    pthread_mutex_lock(&meeting);
    c = sw_comm_look_up(comm);
    if (!c)
        c = meet(comm);
    pthread_mutex_unlock(&meeting);
    return c;
}

static uint64_t drawn_name(void)
{
    return sw_os_unique() | 1;
}

/* The members have met in MPI_Init and all reach each other: the leader takes
 * a block, and one broadcast of the host tells where it is. */
static void meet_again(sw_comm_t *c, uint32_t agreed, sw_agreement_t *answers)
{
    sw_agreement_t leader = {.ok = agreed};
    if (c->me == 0) {
        leader.offset = sw_sequence_reserve(c->n);
        leader.name = drawn_name();
        leader.ok |= leader.offset ? SW_AGREE_BLOCK : 0;
        leader.crowded = sw_wait_crowded();
    }
    if (host.Bcast(&leader, (int)sizeof leader, MPI_BYTE, 0, c->handle) !=
        MPI_SUCCESS)
        return;
    for (int i = 0; i < c->n; i++)
        answers[i].ok = leader.ok;
    answers[0] = leader;
}

/* The members exchange introductions and answers, through the host. */
static void meet_first(sw_comm_t *c, sw_introduction_t *all,
                       sw_agreement_t *answers, sw_peer_t **peer)
{
    int n = c->n, me = c->me;
    sw_introduction_t mine;
    sw_agreement_t answer = {.ok = 0};
    bool able = sw_roster_self(&mine);
    host.Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine,
                   MPI_BYTE, c->handle);
    if (able) {
        sw_agreement_answer(all, n, me, peer, &answer);
        if (me == 0)
            answer.name = drawn_name();
        sw_roster_measure_crowd();
        answer.crowded = sw_wait_crowded();
    }
    host.Allgather(&answer, (int)sizeof answer, MPI_BYTE, answers,
                   (int)sizeof answer, MPI_BYTE, c->handle);
}

/* The members live on several nodes. */
static void meet_apart(sw_comm_t *c)
{
    const char *why;
    c->settled = true;
    c->reason = SW_REASON_APART;
    c->span = sw_span_adopt(c->handle, c->me, c->members, &why);
    if (c->span) {
        sw_wait_progress = sw_progress;
        return;
    }
    say_why(c, why);
    c->reason = why == sw_span_full    ? SW_REASON_FULL
                : why == sw_span_alone ? SW_REASON_SPAN
                                       : SW_REASON_APART;
}

/* Set the shared block up: a decision that every member takes from the same
 * data. */
static void meet_members(sw_comm_t *c)
{
    int n = c->n, me = c->me;
    SW_AWAY;
    c->settled = true;
    sw_failure_look();
    /* Zeroed: should the host fail to fill them, they say no. */
    sw_introduction_t *all = calloc((size_t)n, sizeof *all);
    sw_agreement_t *answers = calloc((size_t)n, sizeof *answers);
    sw_peer_t **peer = malloc((size_t)n * sizeof *peer);
    if (!all || !answers || !peer) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    if (c->members && sw_roster_meeting(c->members) == SW_ROSTER_MET)
        meet_again(c, sw_roster_introduce(c->members, all, peer), answers);
    else
        meet_first(c, all, answers, peer);
    const char *why;
    c->sequence = sw_agreement_open(all, answers, n, me, peer, &why);
    if (c->sequence) {
        sw_wait_progress = sw_progress;
    } else {
        c->reason = why == sw_agreement_full ? SW_REASON_FULL : SW_REASON_APART;
        say_why(c, why);
        free(peer);
    }
    c->name = answers[0].name;
    free(all);
    free(answers);
}

sw_comm_t *sw_comm_state(MPI_Comm comm)
{
    sw_comm_t *c = sw_registry_cached(sw_comm_cache, SW_COMMS_CACHED,
                                      (uintptr_t)comm);
    return sw_likely(c) ? c : find(comm);
}

sw_comm_t *sw_comm_enter(MPI_Comm comm)
{
    sw_comm_t *c = sw_comm_state(comm);
    if (sw_likely(c))
        sw_progress_use(comm);
    return c;
}

void sw_comms_close(void)
{
    atomic_store(&sw_comms_closing, true);
}

sw_sequence_t *sw_comm_settle(sw_comm_t *c)
{
    if (!c->settled && atomic_load(&sw_comms_closing))
        sw_comm_leave(c, SW_REASON_ENDS);
    else if (!c->settled && c->apart)
        meet_apart(c);
    else if (!c->settled)
        meet_members(c);
    if (c->sequence)
        sw_reach_review(c);
    return c->sequence;
}

sw_comm_served_t sw_comm_leave(sw_comm_t *c, sw_reason_t reason)
{
    sw_comm_served_t before = {c->sequence, c->lost, c->reason, c->settled,
                               c->over};
    if (c->sequence)
        c->lost = c->sequence;
    c->sequence = NULL;
    c->settled = c->over = true;
    c->reason = reason;
    return before;
}

void sw_comm_return(sw_comm_t *c, const sw_comm_served_t *before)
{
    c->sequence = before->sequence;
    c->lost = before->lost;
    c->reason = before->reason;
    c->settled = before->settled;
    c->over = before->over;
}

int sw_comm_give_up(sw_comm_t *c)
{
    sw_sequence_give_up(sw_comm_near(c));
    if (c->span)
        sw_failure_revoke(c->span->lane);
    sw_comm_leave(c, SW_REASON_LOST);
    return sw_failure_raise(c->handle);
}
