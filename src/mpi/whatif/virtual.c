/*
 * virtual.c - a rank's clock and its operations; see virtual.h.
 *
 * What was computed is kept until the next operation is put, so that a loop of
 * MPI_Wtime does not fill the lane: the time is then the engine's last answer
 * and what was computed since.
 */
#include "virtual.h"

#include "../link.h"
#include "../../node/settings.h"

#include <math.h>
#include <sched.h>
#include <time.h>

_Atomic bool sw_virtual_on, sw_virtual_alive;

/* Without a lane nobody looks. */
static _Atomic uint32_t inside_nothing;
_Atomic uint32_t *sw_virtual_inside = &inside_nothing;

bool sw_virtual_shared, sw_virtual_crowded;
sw_virtual_model_t sw_virtual_model = {.cpu_speed = 1.0};
__thread sw_virtual_thread_t sw_virtual_thread
    __attribute__((tls_model("initial-exec")));

/* Polls in vain that advance the clock by their own cost alone; each of those
 * after them by a part of all that has passed since the first besides, so that
 * no poll in vain is for ever. */
#define POLLS 1000u
#define POLLS_PART 64
#define POLL_LEAST SW_PS_PER_NS
/* A thread computes between two polls, if it is more than this. */
#define POLL_WORK (2000 * SW_PS_PER_NS)

#define STUCK 2.0               /* seconds in the host's wait */

/* A clock, as it is known here: the rank's, or a thread's. */
typedef struct sw_virtual_clock {
    uint32_t number;            /* of the thread                */
    _Atomic bool used;
    bool fresh;                 /* has put nothing yet          */
    bool slept;                 /* since it put the last        */
    bool polls_told;            /* see sw_virtual_in_host       */
    _Atomic bool calls;         /* is in a call                 */
    _Atomic int32_t puts;       /* in it, from the first that may wait on */
    uint64_t waits;             /* sw_os_waits when it left     */
    int64_t computed;           /* ps, not put yet          */
    sw_ps_t tested;             /* of tests in vain, too    */
    bool known;                 /* nothing put since...     */
    sw_ps_t answered;           /* ... the engine said this */
    sw_ps_t last;               /* that the program was told */
    uint64_t key;               /* what it did not find     */
    sw_ps_t since, until;
    uint32_t polls;
} rank_clock_t;

static struct {
    pthread_mutex_t lock;
    sw_vlane_t *lane;
    uint32_t current;           /* the thread whose operations are put */
    uint32_t threads;           /* numbers given so far */
    pthread_key_t key;          /* threads end */
    _Atomic uint64_t unmodelled;
    _Atomic sw_ps_t latest;     /* that any thread was told */
    double native;              /* the host's clock when virtual time ended */
} rank = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* By thread; without threads the first is the rank's. */
static rank_clock_t clocks[SW_LANE_THREADS];

void sw_virtual_lock(void)
{
    if (sw_unlikely(sw_virtual_shared))
        pthread_mutex_lock(&rank.lock);
}

void sw_virtual_unlock(void)
{
    if (sw_unlikely(sw_virtual_shared))
        pthread_mutex_unlock(&rank.lock);
}

void sw_virtual_hold(void)
{
    if (!sw_virtual_shared || sw_virtual_thread.holds)
        return;
    sw_virtual_lock();
    sw_virtual_thread.holds = true;
}

void sw_virtual_release(void)
{
    if (!sw_virtual_thread.holds)
        return;
    sw_virtual_thread.holds = false;
    sw_virtual_unlock();
}

/* Threads --------------------------------------------------------------------- */

/* One that nobody has; more threads than that share the last. */
static rank_clock_t *new_clock(void)
{
    rank_clock_t *c = NULL;
    sw_virtual_lock();
    for (uint32_t i = 0; i < SW_LANE_THREADS && !c; i++)
        if (!atomic_load(&clocks[i].used))
            c = &clocks[i];
    if (!c)
        c = &clocks[SW_LANE_THREADS - 1];
    if (!atomic_load(&c->used)) {
        *c = (rank_clock_t){.number = (uint32_t)(c - clocks), .fresh = true,
                            .last = c->last};
        c->waits = sw_os_waits();
    }
    atomic_store(&c->used, true);
    if (rank.threads <= c->number)
        rank.threads = c->number + 1;
    sw_virtual_unlock();
    sw_virtual_thread.clock = c;
    pthread_setspecific(rank.key, c);
    return c;
}

static inline rank_clock_t *mine(void)
{
    if (sw_likely(!sw_virtual_shared))
        return &clocks[0];
    return sw_virtual_thread.clock ? sw_virtual_thread.clock : new_clock();
}

uint32_t sw_virtual_number(void)
{
    return mine()->number;
}

/* The thread ends: its number may be another's. */
static void thread_ends(void *of)
{
    rank_clock_t *c = of;
    sw_virtual_lock();
    if (c->number != SW_LANE_THREADS - 1) {
        sw_virtual_thread.clock = c;
        if (!c->fresh)
            sw_virtual_put(&(sw_vop_t){.kind = SW_OP_THREAD,
                                       .what = SW_THREAD_ENDS, .peer = -1});
        sw_virtual_thread.clock = NULL;
        atomic_store(&c->used, false);
    }
    sw_virtual_unlock();
}

void sw_virtual_thread_comes(void)
{
    rank_clock_t *c = mine();
    c->slept |= sw_os_waits() != c->waits;
    atomic_store(&c->puts, 0);
    atomic_store(&c->calls, true);
}

void sw_virtual_thread_leaves(void)
{
    rank_clock_t *c = mine();
    atomic_store(&c->calls, false);
    c->waits = sw_os_waits();
}

/* What may keep its thread: only what was put before it has happened, as far
 * as others can know. */
static bool may_wait(const sw_vop_t *op)
{
    return op->kind == SW_OP_WAIT ||
           (!op->request && (op->kind == SW_OP_SEND ||
                             op->kind == SW_OP_RECV ||
                             op->kind == SW_OP_COLLECTIVE));
}

/* The thread goes on no earlier than another has come to where it is. */
static bool put_after(const rank_clock_t *other)
{
    return sw_lane_put(rank.lane, &(sw_vop_t){
        .kind = SW_OP_THREAD, .what = SW_THREAD_AFTER, .peer = -1,
        .request = other->number,
        .tag = atomic_load(&other->calls) ? atomic_load(&other->puts) : 0});
}

/* What is put now is this thread's. A new one begins where the first one is:
 * that has made it, or it was made in its time. */
static bool put_thread(rank_clock_t *c)
{
    if (rank.current != c->number || c->fresh) {
        rank.current = c->number;
        if (!sw_lane_put(rank.lane, &(sw_vop_t){
                .kind = SW_OP_THREAD, .what = SW_THREAD_GOES,
                .request = c->number, .peer = sw_os_thread_id()}))
            return false;
    }
    bool good = !c->fresh || c == clocks || put_after(&clocks[0]);
    for (uint32_t i = 0; c->slept && !c->fresh && i < rank.threads; i++)
        if (i != c->number && !clocks[i].fresh)
            good = good && put_after(&clocks[i]);
    c->slept = c->fresh = false;
    return good;
}

void sw_virtual_compute(int64_t ps)
{
    mine()->computed += ps;     /* less than 0: see cpu_clock.h */
}

static void lost(void)
{
    if (!atomic_exchange(&sw_virtual_alive, false))
        return;
    rank.native = host.Wtime();
}

void sw_virtual_start(sw_vlane_t *lane)
{
    rank.lane = lane;
    sw_virtual_inside = sw_lane_inside(lane);
    for (uint32_t i = 0; i < SW_LANE_THREADS; i++)
        clocks[i].fresh = true;
    pthread_key_create(&rank.key, thread_ends);
    sw_virtual_thread.clock = NULL;
    clocks[0].waits = sw_os_waits();
    if (sw_virtual_shared)
        new_clock();
    sw_virtual_thread.inside = NULL;
    sw_virtual_thread.left = sw_cpu_clock_now();
    atomic_store(&sw_virtual_alive, true);
    atomic_store(&sw_virtual_on, true);
}

static bool put_computed(rank_clock_t *c);

sw_vlane_t *sw_virtual_stop(void)
{
    sw_virtual_lock();
    if (atomic_load(&sw_virtual_alive))
        put_computed(mine());
    lost();
    sw_vlane_t *lane = rank.lane;
    rank.lane = NULL;
    sw_virtual_inside = &inside_nothing;
    atomic_store(&sw_virtual_on, false);
    sw_virtual_unlock();
    return lane;
}

static sw_ps_t scaled(int64_t ps)
{
    return (sw_ps_t)((double)ps / sw_virtual_model.cpu_speed);
}

/* What was computed, as it is to be put. Tests cost what they cost, however
 * quick the processor. */
static bool put_computed(rank_clock_t *c)
{
    sw_ps_t time = c->computed;
    if (sw_unlikely(sw_virtual_shared) && !put_thread(c))
        return false;
    if (c->tested)
        time += (sw_ps_t)((double)c->tested * sw_virtual_model.cpu_speed);
    if (time <= 0)
        return true;
    c->computed = c->tested = 0;
    return sw_lane_put(rank.lane,
                       &(sw_vop_t){.kind = SW_OP_COMPUTE, .time = time});
}

void sw_virtual_put(const sw_vop_t *op)
{
    if (!atomic_load_explicit(&sw_virtual_alive, memory_order_relaxed))
        return;
    sw_virtual_lock();
    rank_clock_t *c = mine();
    c->known = c->polls_told = false;
    if (!put_computed(c) || !sw_lane_put(rank.lane, op))
        lost();
    if (sw_unlikely(sw_virtual_shared) && op->kind != SW_OP_MATCHED &&
        op->kind != SW_OP_DROP && (atomic_load(&c->puts) || may_wait(op)))
        atomic_fetch_add(&c->puts, 1);
    sw_virtual_unlock();
}

/* The time, while others of the rank go on. */
static bool ask_time(rank_clock_t *c, sw_ps_t *now)
{
    sw_virtual_lock();
    sw_work_tell_matched();
    uint32_t given = sw_lane_given(rank.lane, c->number);
    bool put = put_computed(c) &&
               sw_lane_put(rank.lane, &(sw_vop_t){.kind = SW_OP_CLOCK,
                                                  .flags = SW_CLOCK_THREAD});
    sw_virtual_unlock();
    return put && sw_lane_await(rank.lane, c->number, given, now);
}

bool sw_virtual_ask(const sw_vop_t *op, sw_vanswer_t *answer)
{
    rank_clock_t *c = mine();
    bool good;
    if (!atomic_load_explicit(&sw_virtual_alive, memory_order_relaxed))
        return false;
    if (sw_virtual_shared) {
        good = ask_time(c, &answer->clock);
    } else {
        if (op->kind != SW_OP_CLOCK && op->kind != SW_OP_SELECT)
            sw_work_tell_matched();
        good = put_computed(c) && sw_lane_ask(rank.lane, op, answer);
    }
    if (!good) {
        lost();
        return false;
    }
    c->known = true;
    c->answered = answer->clock;
    c->key = 0;
    return true;
}

void sw_virtual_context(uint32_t number, uint64_t id, uint32_t n,
                        const uint32_t *members)
{
    if (atomic_load(&sw_virtual_alive) &&
        !sw_lane_context(rank.lane, number, id, n, members))
        lost();
}

void sw_virtual_tell(sw_op_kind_t kind, uint32_t request)
{
    sw_virtual_put(&(sw_vop_t){.kind = (uint8_t)kind, .request = request});
}

void sw_virtual_pause(void)
{
    sw_vanswer_t answer;
    /* What the host matches otherwise than the engine, it could not say. */
    if (sw_virtual_crowded && !sw_virtual_shared && !sw_work_undecided())
        sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK,
                                  .flags = SW_CLOCK_PAUSE}, &answer);
}

static sw_ps_t now_here(const rank_clock_t *c)
{
    return c->answered + scaled(c->computed > 0 ? c->computed : 0) + c->tested;
}

bool sw_virtual_time(sw_ps_t *now)
{
    sw_vanswer_t answer;
    rank_clock_t *c = mine();
    bool there = atomic_load(&sw_virtual_alive);
    if (there && !c->known)
        there = sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
    *now = there ? now_here(c) : c->last;
    if (*now < c->last)
        *now = c->last;
    c->last = *now;
    if (*now > atomic_load(&rank.latest))
        atomic_store(&rank.latest, *now);
    return there;
}

bool sw_virtual_still_not(uint64_t key)
{
    rank_clock_t *c = mine();
    if (!c->known || c->key != key || c->until == SW_PS_NEVER)
        return false;
    sw_ps_t cost = sw_virtual_model.test;
    if (++c->polls > POLLS) {
        sw_ps_t more = (now_here(c) - c->since) / POLLS_PART;
        cost += more > POLL_LEAST ? more : POLL_LEAST;
    }
    if (now_here(c) + cost >= c->until)
        return false;
    c->tested += cost;
    return true;
}

/* What a thread has computed before is put; what it computes from one poll in
 * vain to the next is spent in waiting, unless it is worth something. */
void sw_virtual_in_host(void)
{
    rank_clock_t *c = mine();
    if (!sw_virtual_shared)
        return;
    if (c->polls_told && c->computed < POLL_WORK) {
        c->computed = 0;
        return;
    }
    sw_virtual_put(&(sw_vop_t){.kind = SW_OP_STUCK, .flags = SW_STUCK_POLLS});
    c->polls_told = true;
}

void sw_virtual_poll(void)
{
    sw_vanswer_t answer;
    rank_clock_t *c = mine();
    if (sw_virtual_shared) {
        sw_virtual_in_host();
        return;
    }
    c->tested += sw_virtual_model.test > POLL_LEAST ? sw_virtual_model.test
                                                    : POLL_LEAST;
    sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
    sw_virtual_idle();
}

void sw_virtual_found_nothing(uint64_t key, const sw_vanswer_t *answer)
{
    rank_clock_t *c = mine();
    c->polls = 0;
    c->key = key;
    c->since = answer->clock;
    c->until = answer->until;
}

/* The program's messages move, whoever is asked for. */
void sw_virtual_progress(void)
{
    int flag;
    if (sw_virtual_private != MPI_COMM_NULL)
        served.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sw_virtual_private, &flag,
                      MPI_STATUS_IGNORE);
}

void sw_virtual_idle(void)
{
    static uint32_t turns;
    if (++turns % 16 == 0 || sw_virtual_crowded)
        sw_virtual_progress();
    if (sw_virtual_crowded)
        sched_yield();
}

void sw_virtual_nap(sw_virtual_nap_t *nap)
{
    uint32_t n = nap->turns++;
    if (!sw_virtual_crowded && n < 1000) {
        sw_os_pause();
    } else if (n < 1010) {
        if (n < 10 || !sw_virtual_crowded) {
            sched_yield();
            return;
        }
        long ns = n < 20 ? 20000 : n < 60 ? 200000 : 1000000;
        nanosleep(&(struct timespec){0, ns}, NULL);
    } else {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

void sw_virtual_unmodelled(void)
{
    atomic_fetch_add_explicit(&rank.unmodelled, 1, memory_order_relaxed);
}

uint64_t sw_virtual_unmodelled_calls(void)
{
    return atomic_load(&rank.unmodelled);
}

/* Waiting for the host ---------------------------------------------------- */

bool sw_virtual_naps(void)
{
    if (sw_virtual_crowded)
        return true;
    sw_virtual_lock();
    bool undecided = sw_work_undecided();
    sw_virtual_unlock();
    return undecided;
}

/* What the host has matched meanwhile, others may wait for in the engine. */
void sw_virtual_nap_and_tell(sw_virtual_nap_t *nap)
{
    sw_virtual_nap(nap);
    if (nap->turns % 16)
        return;
    sw_virtual_lock();
    sw_work_tell_matched();
    sw_virtual_unlock();
    if (sw_virtual_shared)
        return;
    double now = nap->turns % 256 ? 0 : host.Wtime();
    if (now > 0 && nap->since == 0) {
        nap->since = now;
    } else if (now > nap->since + STUCK) {
        nap->since = now;
        sw_virtual_put(&(sw_vop_t){.kind = SW_OP_STUCK});
    }
}

int sw_virtual_finish(MPI_Request *request, MPI_Status *status, bool ask)
{
    int flag = 0;
    sw_virtual_release();
    if (!sw_virtual_naps())
        return served.Wait(request, status);
    sw_virtual_nap_t nap = {0};
    int rc = served.Test(request, &flag, status);
    if (ask && !flag && rc == MPI_SUCCESS)
        sw_virtual_pause();
    while (!flag && rc == MPI_SUCCESS) {
        rc = served.Test(request, &flag, status);
        if (!flag && rc == MPI_SUCCESS)
            sw_virtual_nap_and_tell(&nap);
    }
    return rc;
}

int sw_virtual_finish_all(int n, MPI_Request *requests, MPI_Status *statuses,
                          bool ask)
{
    int flag = 0;
    sw_virtual_release();
    if (!sw_virtual_naps())
        return served.Waitall(n, requests, statuses);
    sw_virtual_nap_t nap = {0};
    int rc = served.Testall(n, requests, &flag, statuses);
    if (ask && !flag && rc == MPI_SUCCESS)
        sw_virtual_pause();
    while (!flag && rc == MPI_SUCCESS) {
        rc = served.Testall(n, requests, &flag, statuses);
        if (!flag && rc == MPI_SUCCESS)
            sw_virtual_nap_and_tell(&nap);
    }
    return rc;
}

/* The program's clock ----------------------------------------------------- */

double sw_virtual_MPI_Wtime(void)
{
    SW_VIRTUAL;
    sw_ps_t now;
    if (sw_virtual_begin(&v, &sw_from)) {
        if (sw_virtual_time(&now))
            return (double)now * 1e-12;
    } else if (sw_virtual_thread.inside || !rank.native) {
        return served.Wtime();
    }
    /* Virtual time has ended: on from there, as real time goes. */
    return (double)atomic_load(&rank.latest) * 1e-12 + served.Wtime() -
           rank.native;
}

double sw_virtual_MPI_Wtick(void)
{
    return atomic_load(&sw_virtual_alive) ? 1e-9 : served.Wtick();
}
