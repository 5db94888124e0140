/*
 * The agent carries out what a thread posts, soon and in a thread of its own.
 * Without work it parks, and comes back when a poster wakes it. It stops on
 * request. The poster's and the agent's side of the parking race, many times.
 */
#include <stdio.h>
#include <unistd.h>

#include "node/os/os.h"
#include "node/base/settings.h"
#include "offload/agent.h"

#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               fflush(stdout), _exit(1)))

#define ROUNDS 300
#define SOON 2000000000u /* ns: many times what it takes, even crowded */
#define LATE 50000000u   /* a lost wake-up costs up to 100 ms */
#define WHILE_US 60000   /* it must have parked by then */

static _Atomic int posted, done, watched, calls;
static pthread_t starter;

static sw_agent_found_t work(void)
{
    atomic_fetch_add(&calls, 1);
    CHECK(!pthread_equal(pthread_self(), starter));
    if (atomic_load(&done) < atomic_load(&posted)) {
        atomic_fetch_add(&done, 1);
        return SW_AGENT_WORKED;
    }
    return atomic_load(&watched) ? SW_AGENT_WATCHING : SW_AGENT_NOTHING;
}

static int late; /* as if a wake-up had been lost */

static bool finished_soon(int n)
{
    uint64_t start = sw_os_now(), ns = 0;
    while (atomic_load(&done) < n && ns < SOON) {
        sw_os_yield();
        ns = sw_os_now() - start;
    }
    late += ns > LATE;
    return atomic_load(&done) >= n;
}

static int calls_in(unsigned us)
{
    int before = atomic_load(&calls);
    usleep(us);
    return atomic_load(&calls) - before;
}

int main(void)
{
    sw_settings_load();
    starter = pthread_self();
    for (int twice = 0; twice < 2; twice++) {
        int n = atomic_load(&posted);
        CHECK(sw_agent_start(work, true));
        atomic_fetch_add(&posted, 1);
        sw_agent_wake();
        CHECK(finished_soon(n + 1));

        /* Parked: a look every 100 ms at most. */
        usleep(WHILE_US);
        CHECK(calls_in(WHILE_US) <= 2);
        atomic_fetch_add(&posted, 1);
        sw_agent_wake();
        CHECK(finished_soon(n + 2));

        /* Watching, it looks without being woken. */
        atomic_store(&watched, 1);
        sw_agent_wake();
        usleep(WHILE_US);
        atomic_fetch_add(&posted, 1);
        CHECK(finished_soon(n + 3));
        CHECK(calls_in(WHILE_US) >= 2);
        atomic_store(&watched, 0);

        /* The moment of parking is met now and then. */
        for (int i = 0; i < ROUNDS; i++) {
            usleep(1500 + (unsigned)i * 5);
            n = atomic_fetch_add(&posted, 1) + 1;
            sw_agent_wake();
            CHECK(finished_soon(n));
        }
        sw_agent_stop();
        CHECK(calls_in(5000) == 0);
    }
    sw_agent_stop(); /* harmless */
    CHECK(late < ROUNDS / 20);
    printf("all is well\n");
    return 0;
}
