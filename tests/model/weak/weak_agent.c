/* offload/agent.c: the agent does not park while there is work. */
#include "weak.h"

#include "offload/agent.c"

_Atomic int sw_schedules, sw_schedules_open;
_Atomic uint64_t sw_schedules_attended;
static _Atomic bool done, woken;

bool sw_schedules_push(bool calls)
{
    return calls;
}

void sw_os_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t ns)
{
    (void)word;
    (void)value;
    (void)ns;
    if (!atomic_load_explicit(&done, memory_order_acquire))
        NEVER;
    assert(atomic_load_explicit(&woken, memory_order_relaxed));
    atomic_store(&quit, true);
}

void sw_os_futex_wake_all(_Atomic uint32_t *word)
{
    (void)word;
    atomic_store_explicit(&woken, true, memory_order_relaxed);
}

static void *agent(void *unused)
{
    park(0);
    return unused;
}

static void *caller(void *unused)
{
    atomic_fetch_add(&sw_schedules, 1);
    sw_agent_wake_for_schedules();
    atomic_store_explicit(&done, true, memory_order_release);
    return unused;
}

int main(void)
{
    run(agent, caller);
}
