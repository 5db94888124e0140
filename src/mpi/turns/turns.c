/*
 * turns.c - see turns.h.
 */
#include "turns.h"

#include "log.h"
#include "mpi/base/comm.h"
#include "mpi/base/failure.h"
#include "mpi/base/guard.h"
#include "mpi/base/turn.h"
#include "mpi/p2p/give.h"
#include "mpi/p2p/near.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "node/os/os.h"
#include "profile/record/clock.h"
#include "profile/record/recorder.h"
#include "watch/own.h"

#include <stdlib.h>
#include <unistd.h>

bool sw_turns_on;

/* What a rank tells at a meeting; all numbers are summed. */
typedef struct {
    int64_t flow, posted, persistent; /* see watch/own.h */
    int64_t busy;                     /* our own matcher has work */
    int64_t unsure;                   /* messages may not be counted */
    int64_t threads;                  /* several call collectives */
    int64_t full;                     /* no memory for one more epoch */
    sw_wish_t wish;                   /* rank 0's */
} said_t;

enum { WORDS = sizeof(said_t) / sizeof(int64_t) };

/* Where persistent requests stand at so many meetings, they stay. */
#define PERSISTENT_TRIES 32

static struct {
    MPI_Comm comm;        /* of all ranks, for the meetings */
    _Atomic bool others;  /* another thread calls collectives */
    uint64_t count, next; /* collectives so far; the next meeting's */
    int side;
    bool messages;   /* are ours now */
    sw_plan_t *plan; /* rank 0's */
    sw_log_t log;
    sw_log_head_t head;
    uint64_t first;       /* the epoch's first collective */
    uint64_t began, away; /* the epoch; ns in meetings since then */
    uint64_t last;        /* the latest collective: for the delay */
} t;

/* In a meeting, whose calls do not count. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* Sides -------------------------------------------------------------------- */

static void take_messages(bool ours)
{
    if (ours != t.messages && sw_control_messages)
        sw_control_messages(ours ? SW_ACCELERATE_ON : SW_ACCELERATE_OFF);
    t.messages = ours;
}

static void take_side(int side, bool messages)
{
    t.side = side;
    sw_recorder_turn.side = (uint8_t)side;
    if (sw_settings.turns_same)
        return;
    atomic_store(&sw_turn_host, side == SW_SIDE_HOST);
    if (messages)
        take_messages(side == SW_SIDE_OURS);
}

/* Meetings ----------------------------------------------------------------- */

static said_t say(void)
{
    const sw_watch_flow_t *f = &sw_watch_flow;
    bool lost = !sw_settings.where || !sw_watch || sw_threaded ||
                atomic_load(&f->unsure) || atomic_load(&sw_given) ||
                atomic_load(&sw_watch->lost.comms) ||
                atomic_load(&sw_watch->lost.requests) ||
                atomic_load(&sw_watch->lost.threads);
    return (said_t){.flow = f->sent - f->received,
                    .posted = f->posted,
                    .persistent = f->persistent,
                    .busy = !sw_near_is_still(),
                    .unsure = lost,
                    .threads = atomic_load(&t.others),
                    .full = !sw_log_make_room(&t.log, t.plan != NULL)};
}

static void log_epoch(const sw_wish_t *w, uint64_t arrived, uint64_t calls)
{
    sw_log_t *l = &t.log;
    l->times[l->count] = arrived - t.began - t.away;
    if (l->epoch)
        l->epoch[l->count] = (sw_log_epoch_t){.side = t.side,
                                              .pair = w->pair,
                                              .flags = w->flags,
                                              .began = t.began,
                                              .calls = calls};
    l->count++;
}

/* Why messages do not take turns. */
static const char *why(const said_t *sum)
{
    return sw_threaded       ? "threads"
           : sum->unsure     ? "unseen"
           : sum->persistent ? "persistent"
                             : "open";
}

static void end(const char *state)
{
    sw_turns_on = false;
    t.head.state = state;
    take_side(SW_SIDE_OURS, false);
}

/* Every rank does the same here, by the sums alone. Returns whether the epoch
 * has ended. */
static bool carry_out(const said_t *sum, uint64_t arrived)
{
    const sw_wish_t *w = &sum->wish;
    bool changes = w->side != t.side && w->messages == SW_MESSAGES_TURN;
    bool kept = sum->persistent && t.plan && t.plan->tries > PERSISTENT_TRIES;
    sw_met_t met = {.never = sum->unsure != 0 || kept,
                    .quiet = !(sum->flow | sum->posted | sum->persistent |
                               sum->busy | sum->unsure)};
    met.refused = w->ends && changes && !met.quiet;
    met.ended = w->ends && !met.refused;
    if (w->messages == SW_MESSAGES_HOME && met.quiet && !sw_settings.turns_same)
        take_messages(true);
    if (met.ended) {
        log_epoch(w, arrived, t.count - t.first);
        take_side((int)w->side, w->messages == SW_MESSAGES_TURN);
        t.first = t.count;
    }
    t.next = t.count + (uint64_t)(met.ended ? w->next : w->again);
    if (!t.plan)
        return met.ended;
    int before = t.plan->messages;
    sw_plan_met(t.plan, met, sw_os_now());
    if (before == SW_MESSAGES_TURN && t.plan->messages != before)
        t.head.why = why(sum);
    return met.ended;
}

static void meet(void)
{
    SW_INSIDE;
    uint64_t arrived = sw_os_now(), ticks = sw_clock_ticks();
    said_t mine = say(), sum;
    if (t.plan)
        mine.wish = sw_plan_wish(t.plan, arrived);
    if (host.Allreduce(&mine, &sum, WORDS, MPI_INT64_T, MPI_SUM, t.comm) !=
        MPI_SUCCESS)
        sum = mine; /* the host's error handler has had its say */
    bool ended = false;
    if (sum.full && t.plan)
        sw_say("no memory for more epochs: from here on all is Straightway's");
    if (sum.threads || sum.full)
        end(sum.threads ? "threads" : "turned");
    else
        ended = carry_out(&sum, arrived);
    uint64_t now = sw_os_now();
    t.head.meetings++;
    t.head.meeting_time += now - arrived;
    t.away = ended ? 0 : t.away + now - arrived;
    t.began = ended ? now : t.began;
    if (atomic_load(&sw_recording) == SW_RECORDING_ON)
        sw_recorder_turn.away = sw_clock_ticks() - ticks;
}

/* Calls -------------------------------------------------------------------- */

/* Collectives on one communicator come one after another, whatever threads call
 * them; those on several need not, with MPI_THREAD_MULTIPLE. */
static bool is_of_all(MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD)
        return true;
    if (sw_threaded)
        return false;
    sw_comm_t *c = sw_comm_state(comm);
    if (!c || c->n != sw_roster.ranks || c->reason == SW_REASON_INTER ||
        c->reason == SW_REASON_FOREIGN)
        return false;
    const sw_members_t *m = sw_comm_members(c);
    return m && m->all;
}

/* Did the host look at arguments only? */
static bool is_refusal(int error)
{
    int class = MPI_ERR_OTHER;
    host.Error_class(error, &class);
    switch (class) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_COMM:
    case MPI_ERR_ROOT:
    case MPI_ERR_OP:
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_ARG: return true;
    default: return false;
    }
}

/* For tests: our side takes longer. */
static void delay(void)
{
    uint64_t now = sw_os_now();
    if (t.side == SW_SIDE_OURS && t.last) {
        uint64_t until = now + (now - t.last) *
                                   (uint64_t)sw_settings.turns_delay / 1000000;
        while ((now = sw_os_now()) < until)
            ;
    }
    t.last = now;
}

static void count(sw_collective_t id)
{
    t.count++;
    if (sw_unlikely(t.count == 1)) {
        sw_turn_take_thread();
        t.first = 1;
        t.began = sw_os_now();
    }
    if (t.plan) {
        uint32_t site = sw_recorder ? sw_recorder->site : 0;
        sw_plan_call(t.plan, site * SW_COLL_COUNT + id, t.began);
    }
    if (sw_unlikely(sw_settings.turns_delay))
        delay();
    if (t.count == t.next)
        meet();
}

void sw_turns_called(sw_collective_t id, MPI_Comm comm, int result)
{
    if (sw_threaded && t.count && !sw_turn_is_thread())
        atomic_store(&t.others, true);
    if (inside || (sw_unlikely(result != MPI_SUCCESS) && is_refusal(result)))
        return;
    inside = true;
    if (is_of_all(comm))
        count(id);
    inside = false;
}

/* The job ------------------------------------------------------------------ */

static uint64_t draw_seed(void)
{
    uint64_t seed = (sw_os_now() ^ (uint64_t)getpid() << 32) *
                    0x9e3779b97f4a7c15u;
    return seed ? seed : 1;
}

void sw_turns_start(uint64_t own_ns)
{
    SW_INSIDE;
    int first = sw_roster.rank == 0, mine, all = 0;
    sw_failure_look();
    if (sw_failure_told && first)
        sw_say("no turns where the MPI goes on after a rank has died");
    if (!sw_settings.enable || sw_roster.spawned || !sw_roster_has_world() ||
        sw_failure_told ||
        host.Comm_dup(MPI_COMM_WORLD, &t.comm) != MPI_SUCCESS)
        return;
    t.plan = first ? calloc(1, sizeof *t.plan) : NULL;
    mine = sw_log_make_room(&t.log, first) && (t.plan || !first);
    host.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, t.comm);
    if (!all) {
        if (first)
            sw_say("no memory for turns: all is Straightway's");
        host.Comm_free(&t.comm);
        return;
    }
    t.next = 1;
    t.messages = true;
    t.head = (sw_log_head_t){.own = own_ns,
                             .why = sw_threaded ? "threads" : "",
                             .began = sw_os_now(),
                             .state = "turned"};
    if (first) {
        t.head.seed = draw_seed();
        sw_plan_start(t.plan, t.head.seed,
                      sw_control_messages && !sw_threaded ? SW_MESSAGES_TURN
                                                          : SW_MESSAGES_STAY,
                      (uint64_t)sw_settings.turns_epoch * 1000);
    }
    if (sw_settings.turns_same) {
        atomic_store(&sw_turn_host, true);
        take_messages(false);
    }
    take_side(SW_SIDE_OURS, false);
    sw_turns_on = true;
}

static void tell(void)
{
    const sw_plan_t *p = t.plan;
    sw_log_head_t *h = &t.head;
    h->ended = sw_os_now();
    h->calls = t.count;
    if (!p)
        return;
    h->period = p->period;
    if (!t.count)
        h->state = "no collective";
    else if (p->now.learns && sw_turns_on)
        h->state = "learning";
    h->messages = !sw_control_messages              ? "host"
                  : p->messages == SW_MESSAGES_TURN ? "turns"
                                                    : "ours";
}

void sw_turns_stop(void)
{
    SW_INSIDE;
    if (!t.log.times || t.comm == MPI_COMM_NULL)
        return;
    tell();
    sw_turns_on = false;
    take_side(SW_SIDE_OURS, true);
    atomic_store(&sw_turn_host, false);
    sw_log_write(&t.log, &t.head, sw_settings.turns, t.comm);
    sw_log_end(&t.log);
    free(t.plan);
    host.Comm_free(&t.comm);
}
