/*
 * agent.c - see agent.h.
 */
#include "agent.h"
#include "schedule.h"

#include "node/os/os.h"

#include <pthread.h>
#include <semaphore.h>

#define EAGER_NS 100000u   /* pauses only, since the last event */
#define LINGER_NS 2000000u /* ... and then parks, if there is nothing */
#define NAP_MIN_NS 20000u
#define NAP_MAX_NS 1000000u
#define PARK_NS 100000000u /* should a wake-up be lost */
#define PAUSES 64

#define MORE 4

static sw_agent_found_t (*also)(void);
static sw_agent_found_t (*_Atomic more[MORE])(void);
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static sem_t begins; /* or ends */
static _Atomic bool there, running;
static bool eager;
static _Atomic bool quit;
static _Atomic uint32_t event, parked;

static sw_agent_found_t push_schedules(void)
{
    static uint64_t attended;
    if (!atomic_load(&sw_schedules))
        return SW_AGENT_NOTHING;
    uint64_t now = atomic_load_explicit(&sw_schedules_attended,
                                        memory_order_relaxed);
    if (now == attended)
        sw_schedules_push(false);
    attended = now;
    return SW_AGENT_WATCHING;
}

static sw_agent_found_t work(void)
{
    sw_agent_found_t schedules = push_schedules();
    sw_agent_found_t most = also ? also() : SW_AGENT_NOTHING;
    most = most > schedules ? most : schedules;
    for (int i = 0; i < MORE && more[i]; i++) {
        sw_agent_found_t found = more[i]();
        most = found > most ? found : most;
    }
    return most;
}

/* Nothing has happened since `last`; wait a little. */
static void nap(uint64_t last, uint32_t seen)
{
    uint64_t idle = sw_os_now() - last;
    if (!eager) {
        sw_os_futex_wait(&event, seen, NAP_MAX_NS);
        return;
    }
    if (idle < EAGER_NS) {
        for (int i = 0; i < PAUSES; i++)
            sw_os_pause();
        return;
    }
    uint64_t ns = idle / 8;
    ns = ns < NAP_MIN_NS ? NAP_MIN_NS : ns > NAP_MAX_NS ? NAP_MAX_NS : ns;
    sw_os_futex_wait(&event, seen, ns);
}

static void park(uint32_t seen)
{
    atomic_store(&parked, 1);
    atomic_thread_fence(memory_order_seq_cst);
    while (work() == SW_AGENT_NOTHING && !atomic_load(&quit) &&
           atomic_load(&event) == seen)
        sw_os_futex_wait(&event, seen, PARK_NS);
    atomic_store(&parked, 0);
}

static void *live(void *unused)
{
    while (sem_wait(&begins))
        ; /* a debugger has interrupted it */
    uint64_t last = sw_os_now();
    while (!atomic_load(&quit)) {
        uint32_t seen = atomic_load(&event);
        sw_agent_found_t found = work();
        if (found == SW_AGENT_WORKED) {
            last = sw_os_now();
        } else if (found == SW_AGENT_NOTHING &&
                   sw_os_now() - last > LINGER_NS) {
            park(seen);
            last = sw_os_now();
        } else {
            nap(last, seen);
        }
    }
    return unused;
}

static void wake(void)
{
    atomic_fetch_add(&event, 1);
    sw_os_futex_wake_all(&event);
}

/* One call to the system for each time that it parks: it may run late. */
static void wake_parked(void)
{
    if (atomic_exchange(&parked, 0))
        wake();
}

void sw_agent_wake(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (sw_unlikely(atomic_load_explicit(&parked, memory_order_relaxed)))
        wake_parked();
}

void sw_agent_wake_for_schedules(void)
{
    if (sw_unlikely(atomic_load(&parked)))
        wake_parked();
}

void sw_agent_add(sw_agent_found_t (*work_too)(void))
{
    int i = 0;
    while (i < MORE && more[i] && more[i] != work_too)
        i++;
    sw_assert(i < MORE);
    more[i] = work_too;
}

bool sw_agent_reserve(void)
{
    pthread_mutex_lock(&one);
    if (!there) {
        atomic_store(&quit, false);
        sem_init(&begins, 0, 0);
        there = sw_os_thread(&thread, live) == 0;
    }
    bool has = there;
    pthread_mutex_unlock(&one);
    return has;
}

bool sw_agent_start(sw_agent_found_t (*work_too)(void), bool has_core)
{
    if (!sw_agent_reserve())
        return false;
    also = work_too;
    eager = has_core;
    sw_os_thread_follow(thread);
    running = true;
    sem_post(&begins);
    return true;
}

void sw_agent_stop(void)
{
    if (!there)
        return;
    atomic_store(&quit, true);
    sem_post(&begins);
    wake();
    pthread_join(thread, NULL);
    there = running = false;
}

bool sw_agent_runs(void)
{
    return running;
}

int sw_agent_threads(void)
{
    return there;
}
