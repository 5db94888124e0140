/*
 * thread.c - see thread.h.
 *
 * A thread's memory goes when it ends, by a key's destructor. Another
 * destructor may make an MPI call after that: it gets new memory, which goes
 * in the next round of destructors.
 */
#include "thread.h"

#include "node/os/os.h"

#include <string.h>

_Thread_local sw_thread_t *sw_thread_own
    __attribute__((tls_model("initial-exec")));
_Atomic uint32_t sw_epoch = 1;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

static void end(void *thread)
{
    sw_thread_own = NULL;
    sw_os_unmap(thread, ((sw_thread_t *)thread)->size);
}

static void prepare(void)
{
    have_key = pthread_key_create(&key, end) == 0;
}

/* A frame has two words at most: the return address, and the frame pointer if
 * that matters. Some more for the layers that are skipped. */
sw_thread_t *sw_thread_new(int depth)
{
    uint32_t room = 2 * (uint32_t)depth + 8;
    uint32_t each = (uint32_t)sw_round_up(
        sizeof(sw_trail_t) + room * sizeof(((sw_trail_t *)0)->word[0]), 64);
    size_t size = sw_round_up(sizeof(sw_thread_t) + SW_TRAILS * each, SW_PAGE);
    sw_thread_t *t = sw_os_map_lazy(NULL, size);

    if (!t)
        return NULL;
    t->size = size;
    t->trail_room = room;
    t->trail_size = each;
    if (!sw_os_stack(&t->stack_low, &t->stack_high))
        t->stack_low = t->stack_high = 0;
    pthread_once(&once, prepare);
    if (have_key)
        pthread_setspecific(key, t);
    sw_thread_own = t;
    return t;
}

void sw_thread_forget(sw_thread_t *t)
{
    memset(t->alone, 0, sizeof t->alone);
    memset(t->places, 0, sizeof t->places);
    memset(t->stacks, 0, sizeof t->stacks);
    memset(t->python, 0, sizeof t->python);
    memset(t->trails, 0, SW_TRAILS * (size_t)t->trail_size);
}
