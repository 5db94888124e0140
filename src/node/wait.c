/*
 * wait.c - the slow stages of a wait; see wait.h.
 *
 * A core is wanted for 50 ms after the system has taken it from this rank. It
 * must have taken the core for a millisecond, and for a sixteenth of the time
 * since the rank last looked. Daemons, kernel threads and ranks that wake up
 * here take a core for some microseconds, on every machine. A rank that slept
 * for these would take as long to wake up, and then take the core of the rank
 * that wakes it: one sleep would bring the next. A process that computes keeps
 * the core for a slice of milliseconds.
 *
 * A rank that yields such a core loses it for a whole slice of the other
 * process, and its claim to get it back soon. A rank that sleeps keeps its
 * claim, and its wake-up mostly interrupts the other process. Seconds of
 * examples/planes.c (128 3 --uneven 1 --blocking, Open MPI) on two cores beside
 * a busy process, medians of 9 runs:
 *
 *   the host                                     1.66
 *   yields                                       2.06
 *   spins without end                            2.28
 *   sleeps after 50 us                           0.66
 *   the same, if wanted in the last 10 ms        1.02
 *   the same, if wanted in the last 50 ms        0.69
 *
 * No other process wants the core of a rank that is alone on it. That rank
 * spins on, since a wake-up costs more than most of its waits.
 */
#include "wait.h"

#include "node/base/settings.h"

/* Stage bounds in ns after the first spins. */
#define SPIN_FREE 50000
#define SLEEP_FREE 5000000
#define SLEEP_CROWDED 200000
#define WANTED 50000000 /* a core is wanted, since it was taken */
#define TAKEN 1000000   /* ... for so long */
#define TAKEN_PART 16   /* ... and this part of the time */
#define PROGRESS 20000
#define LIMIT_FIRST 50000
#define LIMIT_LAST 1000000
#define NAP_PART 4 /* of the time waited */
#define NAP_LAST 200000

#define SPINS_FREE 2000
#define SPINS_CROWDED 30

int sw_wait_spins = SPINS_FREE;
bool (*sw_wait_progress)(void);
bool sw_wait_naps;
_Atomic int sw_wait_driven;
_Atomic uint64_t sw_wait_sleeps;

static uint64_t spin_ns = SPIN_FREE;
static uint64_t sleep_ns = SLEEP_FREE;
static bool crowded;

void sw_wait_crowd(double ranks_per_core)
{
    crowded = ranks_per_core > 1.01;
    spin_ns = crowded ? 0 : SPIN_FREE;
    sleep_ns = crowded ? SLEEP_CROWDED : SLEEP_FREE;
    sw_wait_spins = crowded ? SPINS_CROWDED : SPINS_FREE;
    if (sw_settings.spin_us >= 0)
        spin_ns = (uint64_t)sw_settings.spin_us * 1000;
    sleep_ns = sw_max(sleep_ns, spin_ns);
}

bool sw_wait_crowded(void)
{
    return crowded;
}

/* What this thread knew of its core when it last looked. */
static _Thread_local struct {
    uint64_t at, until;
    sw_os_core_t use;
} known __attribute__((tls_model("initial-exec")));

static void look_at_core(uint64_t now)
{
    known.use = sw_os_core();
    known.at = now;
}

/* A thread that has waited in between does not know how long others had its
 * core. */
bool sw_wait_core_is_wanted(uint64_t now)
{
    uint64_t since = known.at;
    sw_os_core_t before = known.use;
    look_at_core(now);
    uint64_t ran = known.use.ran - before.ran, lost = now - since - ran;
    if (since && known.use.taken != before.taken &&
        known.use.waits == before.waits && ran <= now - since &&
        lost >= TAKEN && lost >= (now - since) / TAKEN_PART)
        known.until = now + WANTED;
    return now < known.until;
}

/* Turns without a doorbell have come to nothing for so long. */
static void nap(sw_wait_t *wait, uint64_t waited)
{
    atomic_fetch_add_explicit(&sw_wait_sleeps, 1, memory_order_relaxed);
    sw_os_nap(sw_min(waited / NAP_PART, NAP_LAST));
    /* The next turn asks what this wait is for, and drives the progress. */
    wait->progressed = 0;
}

bool sw_wait_step(sw_wait_t *wait)
{
    uint64_t now = sw_os_now();
    if (sw_unlikely(!wait->start)) {
        wait->start = wait->progressed = now;
        wait->limit = LIMIT_FIRST;
    }
    if (wait->announced) {
        /* The caller has looked again since we announced ourselves. No sleep is
         * without a limit: a wake-up may be lost. */
        sw_assert(wait->limit > 0 && wait->limit <= LIMIT_LAST);
        atomic_fetch_add_explicit(&sw_wait_sleeps, 1, memory_order_relaxed);
        sw_os_futex_wait(&wait->doorbell->event, wait->event, wait->limit);
        look_at_core(sw_os_now());
        sw_wait_end(wait);
        wait->limit = sw_min(wait->limit * 2, LIMIT_LAST);
        return sw_wait_progress && sw_wait_progress();
    }
    uint64_t waited = now - wait->start;
    bool lost = false;
    bool driven = sw_unlikely(
        atomic_load_explicit(&sw_wait_driven, memory_order_relaxed));
    if (driven || now - wait->progressed > PROGRESS) {
        wait->progressed = now;
        lost = sw_wait_progress && sw_wait_progress();
        wait->wanted = !crowded && wait->doorbell && waited >= spin_ns &&
                       sw_wait_core_is_wanted(now);
    }
    if (driven || !wait->doorbell || (waited < sleep_ns && !wait->wanted)) {
        if (sw_wait_naps && !driven && !wait->doorbell && waited >= sleep_ns)
            nap(wait, waited);
        else if (crowded && waited >= spin_ns)
            sw_os_yield();
        else if (!driven)
            for (int i = 0; i < 8; i++)
                sw_os_pause();
    } else {
        atomic_fetch_add(&wait->doorbell->sleepers, 1);
        wait->event = atomic_load(&wait->doorbell->event);
        wait->announced = true;
    }
    return lost;
}

void sw_wait_end(sw_wait_t *wait)
{
    if (wait->announced) {
        sw_assert(atomic_load(&wait->doorbell->sleepers) > 0);
        atomic_fetch_sub(&wait->doorbell->sleepers, 1);
        wait->announced = false;
    }
}
