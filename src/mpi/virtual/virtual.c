/*
 * virtual.c - a rank's clock and its operations; see virtual.h.
 *
 * What was computed is kept until the next operation is put, so that a loop of
 * MPI_Wtime does not fill the feed: the time is then the engine's last answer
 * and what was computed since.
 */
#include "rank.h"

#include "node/os/os.h"
#include "profile/record/region.h"

_Atomic bool sw_virtual_on, sw_virtual_alive;

/* Without a feed no engine looks. */
static _Atomic uint32_t inside_nothing;
_Atomic uint32_t *sw_virtual_inside = &inside_nothing;

bool sw_virtual_shared;
_Atomic bool sw_virtual_crowded;
uint32_t sw_virtual_cores;
sw_virtual_model_t sw_virtual_model = {.cpu_speed = 1.0};
__thread sw_virtual_thread_t sw_virtual_thread
    __attribute__((tls_model("initial-exec")));

sw_virtual_rank_t sw_virtual_rank = {
    .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
sw_virtual_clock_t sw_virtual_clocks[SW_FEED_THREADS];

/* So much has been slept: the engine is told, that others may go on. */
#define SLEPT (1000000 * SW_PS_PER_NS)
#define SLEEPS_MOST 600000000000u /* ns of many sleeps without a call */

void sw_virtual_compute(int64_t ps)
{
    sw_virtual_mine()->computed += ps; /* less than 0: see cpu_clock.h */
}

static bool put_time(sw_ps_t time, unsigned flags)
{
    return time <= 0 ||
           sw_virtual_put_only(&(sw_vop_t){
               .kind = SW_OP_COMPUTE, .flags = (uint16_t)flags, .time = time});
}

/* The engine hears of a region before the first that is in it. */
static bool put_section(void)
{
    sw_virtual_rank_t *rank = &sw_virtual_rank;
    uint32_t number = atomic_exchange(&rank->section, 0) - 1;
    while (rank->sections < number) {
        rank->sections++;
        if (!sw_feed_section(rank->feed, rank->sections,
                             sw_region(rank->sections)->name))
            return false;
    }
    return sw_virtual_put_only(
        &(sw_vop_t){.kind = SW_OP_SECTION, .bytes = number, .peer = -1});
}

/* Put what was computed. */
static bool put_computed(sw_virtual_clock_t *c)
{
    sw_ps_t computed = c->computed, passed = 0, tested = c->tested;
    if (sw_unlikely(sw_virtual_shared) && !sw_virtual_put_thread(c))
        return false;
    if (sw_unlikely(sw_virtual_asleep(c)))
        passed = atomic_exchange(&c->passed, 0);
    if (computed > 0)
        c->computed = 0;
    c->tested = 0;
    return put_time(computed, 0) && put_time(passed, SW_COMPUTE_ASLEEP) &&
           put_time(tested, SW_COMPUTE_POLLED) &&
           (sw_likely(!atomic_load_explicit(&sw_virtual_rank.section,
                                            memory_order_relaxed)) ||
            put_section());
}

static void awake(sw_virtual_clock_t *c)
{
    if (sw_unlikely(c->sleeps)) {
        c->sleeps = 0;
        atomic_store(sw_feed_sleeps(sw_virtual_rank.feed, c->number), 0);
    }
}

static void lost(void)
{
    if (!atomic_exchange(&sw_virtual_alive, false))
        return;
    sw_virtual_rank.native = host.Wtime();
    atomic_store(&sw_virtual_rank.ended, sw_os_now());
}

void sw_virtual_start(sw_feed_t *feed)
{
    sw_virtual_rank.feed = feed;
    sw_virtual_inside = sw_feed_inside(feed);
    sw_virtual_threads_start();
    sw_virtual_thread.inside = NULL;
    sw_virtual_thread.left = sw_cpu_clock_now();
    atomic_store(&sw_virtual_alive, true);
    atomic_store(&sw_virtual_on, true);
}

sw_feed_t *sw_virtual_stop(void)
{
    sw_virtual_lock();
    if (atomic_load(&sw_virtual_alive))
        put_computed(sw_virtual_mine());
    lost();
    sw_feed_t *feed = sw_virtual_rank.feed;
    sw_virtual_rank.feed = NULL;
    sw_virtual_inside = &inside_nothing;
    atomic_store(&sw_virtual_on, false);
    sw_virtual_unlock();
    return feed;
}

/* Behind what was computed before. */
void sw_virtual_section(uint32_t number, bool now)
{
    if (!atomic_load(&sw_virtual_alive))
        return;
    if (!now) {
        atomic_store(&sw_virtual_rank.section, number + 1);
        return;
    }
    sw_virtual_lock();
    sw_virtual_clock_t *c = sw_virtual_mine();
    c->known = c->polls_told = false;
    atomic_store(&sw_virtual_rank.section, number + 1);
    awake(c);
    if (!put_computed(c))
        lost();
    sw_virtual_unlock();
}

void sw_virtual_passed(sw_ps_t ps)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    atomic_fetch_add(&c->passed, ps);
    atomic_fetch_add(&c->napped, ps);
}

/* Many sleeps are for something that others do, perhaps: not for ever. */
void sw_virtual_sleeps(uint64_t ns)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    sw_virtual_lock();
    uint64_t all = sw_min(c->sleeps + ns, SLEEPS_MOST);
    if (atomic_load(&sw_virtual_alive) && sw_virtual_rank.feed) {
        c->sleeps = sw_max(all, ns);
        atomic_store(sw_feed_sleeps(sw_virtual_rank.feed, c->number),
                     c->sleeps);
    }
    sw_virtual_unlock();
}

void sw_virtual_slept(void)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    if (sw_virtual_asleep(c) < SLEPT)
        return;
    sw_virtual_lock();
    if (atomic_load(&sw_virtual_alive) && sw_virtual_rank.feed && !c->fresh) {
        c->known = false;
        c->questions = 0;
        if (!put_computed(c))
            lost();
    }
    sw_virtual_unlock();
}

static void later(sw_virtual_clock_t *c, sw_ps_t now)
{
    _Atomic sw_ps_t *latest = &sw_virtual_rank.latest;
    sw_ps_t was = atomic_load_explicit(latest, memory_order_relaxed);
    if (now > c->latest)
        c->latest = now;
    while (now > was && !atomic_compare_exchange_weak(latest, &was, now))
        ;
}

/* A thread with a clock of its own knows nothing of the others'. */
sw_ps_t sw_virtual_known(void)
{
    uint64_t ended = atomic_load(&sw_virtual_rank.ended);
    if (ended)
        return atomic_load(&sw_virtual_rank.latest) +
               (sw_ps_t)(sw_os_now() - ended) * SW_PS_PER_NS;
    return sw_virtual_shared && sw_virtual_thread.clock
               ? sw_virtual_thread.clock->latest
               : atomic_load(&sw_virtual_rank.latest);
}

/* What may keep its thread: only what was put before it has happened, as far
 * as others can know. */
static bool may_wait(const sw_vop_t *op)
{
    return op->kind == SW_OP_WAIT ||
           (!op->request &&
            (op->kind == SW_OP_SEND || op->kind == SW_OP_RECV ||
             op->kind == SW_OP_COLLECTIVE || op->kind == SW_OP_WINDOW));
}

void sw_virtual_put(const sw_vop_t *op)
{
    if (!atomic_load_explicit(&sw_virtual_alive, memory_order_relaxed))
        return;
    sw_virtual_lock();
    sw_virtual_clock_t *c = sw_virtual_mine();
    c->known = c->polls_told = false;
    if (op->kind != SW_OP_LIST)
        c->questions = 0;
    if (op->kind == SW_OP_WAIT)
        c->polls = 0;
    awake(c);
    if (!put_computed(c) || !sw_virtual_put_only(op))
        lost();
    if (sw_unlikely(sw_virtual_shared) && op->kind != SW_OP_MATCHED &&
        op->kind != SW_OP_DROP && (atomic_load(&c->puts) || may_wait(op)))
        atomic_fetch_add(&c->puts, 1);
    sw_virtual_unlock();
}

/* The time, while others of the rank go on. */
static bool ask_time(sw_virtual_clock_t *c, sw_ps_t *now)
{
    sw_virtual_lock();
    sw_work_tell_matched();
    uint32_t given = sw_feed_given(sw_virtual_rank.feed, c->number);
    awake(c);
    bool put = put_computed(c) &&
               sw_virtual_put_only(
                   &(sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_THREAD});
    sw_virtual_unlock();
    return put && sw_feed_await(sw_virtual_rank.feed, c->number, given, now);
}

bool sw_virtual_ask(const sw_vop_t *op, sw_op_answer_t *answer)
{
    sw_virtual_clock_t *c = sw_virtual_mine();
    bool good;
    if (!atomic_load_explicit(&sw_virtual_alive, memory_order_relaxed))
        return false;
    if (sw_virtual_shared) {
        good = ask_time(c, &answer->clock);
    } else {
        if (op->kind != SW_OP_CLOCK && op->kind != SW_OP_SELECT)
            sw_work_tell_matched();
        awake(c);
        good = put_computed(c) && sw_feed_ask(sw_virtual_rank.feed, op, answer);
    }
    if (!good) {
        lost();
        return false;
    }
    c->known = true;
    c->answered = answer->clock;
    later(c, answer->clock);
    if (op->kind != SW_OP_CLOCK && answer->found)
        c->questions = c->polls = 0;
    return true;
}

void sw_virtual_context(uint32_t number, uint64_t id, uint32_t n,
                        const uint32_t *members)
{
    if (atomic_load(&sw_virtual_alive) &&
        !sw_feed_context(sw_virtual_rank.feed, number, id, n, members))
        lost();
}

void sw_virtual_tell(sw_op_kind_t kind, uint32_t request)
{
    sw_virtual_put(&(sw_vop_t){.kind = (uint8_t)kind, .request = request});
}

void sw_virtual_pause(void)
{
    sw_op_answer_t answer;
    /* A rank that the engine holds here could not tell the engine which
     * messages the host has matched in another way. */
    if (sw_virtual_crowded && !sw_virtual_shared && !sw_work_undecided())
        sw_virtual_ask(
            &(sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_PAUSE}, &answer);
}

bool sw_virtual_time(sw_ps_t *now)
{
    sw_op_answer_t answer;
    sw_virtual_clock_t *c = sw_virtual_mine();
    bool there = atomic_load(&sw_virtual_alive);
    if (there && (!c->known || c->slept))
        there = sw_virtual_ask(&(sw_vop_t){.kind = SW_OP_CLOCK}, &answer);
    *now = there ? sw_virtual_now_here(c) : c->last;
    if (*now < c->last)
        *now = c->last;
    c->last = *now;
    later(c, *now);
    return there;
}

void sw_virtual_unmodelled(void)
{
    atomic_fetch_add_explicit(&sw_virtual_rank.unmodelled, 1,
                              memory_order_relaxed);
}

uint64_t sw_virtual_unmodelled_calls(void)
{
    return atomic_load(&sw_virtual_rank.unmodelled);
}

/* The program's clock ----------------------------------------------------- */

double sw_virtual_MPI_Wtime(void)
{
    SW_VIRTUAL;
    sw_ps_t now;
    if (sw_virtual_begin(&v, &sw_from)) {
        if (sw_virtual_time(&now))
            return (double)now * 1e-12;
    } else if (sw_virtual_thread.inside || !sw_virtual_rank.native) {
        return served.Wtime();
    }
    /* Virtual time has ended: on from there, as real time goes. */
    return (double)atomic_load(&sw_virtual_rank.latest) * 1e-12 +
           served.Wtime() - sw_virtual_rank.native;
}

double sw_virtual_MPI_Wtick(void)
{
    return atomic_load(&sw_virtual_alive) ? 1e-9 : served.Wtick();
}
