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

#define STUCK 2.0               /* seconds in the host's wait */

static struct {
    pthread_mutex_t lock;
    sw_vlane_t *lane;
    int64_t computed;           /* ps, not put yet          */
    sw_ps_t tested;             /* of tests in vain, too    */
    bool known;                 /* nothing put since...     */
    sw_ps_t answered;           /* ... the engine said this */
    sw_ps_t last;               /* that the program was told */
    uint64_t key;               /* what it did not find     */
    sw_ps_t since, until;
    uint32_t polls;
    _Atomic uint64_t unmodelled;
    double native;              /* the host's clock when virtual time ended */
} rank = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

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

void sw_virtual_compute(int64_t ps)
{
    sw_virtual_lock();
    rank.computed += ps;        /* less than 0: see cpu_clock.h */
    sw_virtual_unlock();
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
    rank.computed = rank.tested = 0;
    rank.known = false;
    sw_virtual_thread.inside = NULL;
    sw_virtual_thread.left = sw_cpu_clock_now();
    atomic_store(&sw_virtual_alive, true);
    atomic_store(&sw_virtual_on, true);
}

static bool put_computed(void);

sw_vlane_t *sw_virtual_stop(void)
{
    sw_virtual_lock();
    if (atomic_load(&sw_virtual_alive))
        put_computed();
    lost();
    sw_vlane_t *lane = rank.lane;
    rank.lane = NULL;
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
static bool put_computed(void)
{
    sw_ps_t time = rank.computed;
    if (rank.tested)
        time += (sw_ps_t)((double)rank.tested * sw_virtual_model.cpu_speed);
    if (time <= 0)
        return true;
    rank.computed = rank.tested = 0;
    return sw_lane_put(rank.lane,
                       &(sw_vop_t){.kind = SW_OP_COMPUTE, .time = time});
}

void sw_virtual_put(const sw_vop_t *op)
{
    if (!atomic_load_explicit(&sw_virtual_alive, memory_order_relaxed))
        return;
    rank.known = false;
    if (!put_computed() || !sw_lane_put(rank.lane, op))
        lost();
}

bool sw_virtual_ask(const sw_vop_t *op, sw_vanswer_t *answer)
{
    if (!atomic_load_explicit(&sw_virtual_alive, memory_order_relaxed))
        return false;
    if (op->kind != SW_OP_CLOCK && op->kind != SW_OP_SELECT &&
        !sw_virtual_shared)
        sw_work_tell_matched();
    if (!put_computed() || !sw_lane_ask(rank.lane, op, answer)) {
        lost();
        return false;
    }
    rank.known = true;
    rank.answered = answer->clock;
    rank.key = 0;
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

void sw_virtual_over(void)
{
    uint32_t number = sw_virtual_thread.collective;
    sw_virtual_thread.collective = 0;
    sw_virtual_lock();
    sw_virtual_tell(SW_OP_WAIT, number);
    sw_work_number_free(number);
    sw_virtual_unlock();
}

void sw_virtual_pause(void)
{
    sw_vanswer_t answer;
    /* What the host matches otherwise than the engine, it could not say. */
    if (sw_virtual_crowded && !sw_virtual_shared && !sw_work_undecided())
        sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
}

static sw_ps_t now_here(void)
{
    return rank.answered + scaled(rank.computed > 0 ? rank.computed : 0) +
           rank.tested;
}

bool sw_virtual_time(sw_ps_t *now)
{
    sw_vanswer_t answer;
    sw_virtual_lock();
    bool there = atomic_load(&sw_virtual_alive);
    if (there && !rank.known)
        there = sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
    *now = there ? now_here() : rank.last;
    if (*now < rank.last)
        *now = rank.last;
    rank.last = *now;
    sw_virtual_unlock();
    return there;
}

bool sw_virtual_still_not(uint64_t key)
{
    if (!rank.known || rank.key != key || rank.until == SW_PS_NEVER)
        return false;
    sw_ps_t cost = sw_virtual_model.test;
    if (++rank.polls > POLLS) {
        sw_ps_t more = (now_here() - rank.since) / POLLS_PART;
        cost += more > POLL_LEAST ? more : POLL_LEAST;
    }
    if (now_here() + cost >= rank.until)
        return false;
    rank.tested += cost;
    return true;
}

void sw_virtual_poll(void)
{
    sw_vanswer_t answer;
    if (sw_virtual_shared)
        return;
    rank.tested += sw_virtual_model.test > POLL_LEAST ? sw_virtual_model.test
                                                      : POLL_LEAST;
    sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
    sw_virtual_idle();
}

void sw_virtual_found_nothing(uint64_t key, const sw_vanswer_t *answer)
{
    rank.polls = 0;
    rank.key = key;
    rank.since = answer->clock;
    rank.until = answer->until;
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
    return sw_virtual_crowded || (!sw_virtual_shared && sw_work_undecided());
}

/* What the host has matched meanwhile, others may wait for in the engine. */
void sw_virtual_nap_and_tell(sw_virtual_nap_t *nap)
{
    sw_virtual_nap(nap);
    if (sw_virtual_shared || nap->turns % 16)
        return;
    sw_work_tell_matched();
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
    return (double)rank.last * 1e-12 + served.Wtime() - rank.native;
}

double sw_virtual_MPI_Wtick(void)
{
    return atomic_load(&sw_virtual_alive) ? 1e-9 : served.Wtick();
}
