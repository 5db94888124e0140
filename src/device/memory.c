/*
 * memory.c - see memory.h.
 */
#include "memory.h"

#include "driver.h"
#include "loads.h"
#include "node/arena/arena.h"
#include "node/os/os.h"

#include <pthread.h>

/* Never a count: the first object has long been loaded. */
static const _Atomic uint64_t nothing;
sw_device_watch_t sw_device_watch = {.count = &nothing, .seen = UINT64_MAX};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* The count when the drivers were last looked for. */
static _Atomic uint64_t looked;
/* The linker's own count, also beside a driver; NULL: its place is not known.
 * A thread that reads an older value looks once more. */
static _Atomic(const _Atomic uint64_t *) loads;
static _Atomic bool here[SW_DRIVERS];
static _Atomic int drivers;

/* Anything may have been loaded: which drivers are there? The lock is taken
 * after the linker's own: a library's constructor may call MPI. */
static void look(void)
{
    const char *stem[SW_DRIVERS];
    void *handle[SW_DRIVERS];
    for (int i = 0; i < SW_DRIVERS; i++)
        stem[i] = sw_drivers[i].library;
    uint64_t now = sw_os_libraries(stem, handle, SW_DRIVERS);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SW_DRIVERS; i++)
        if (handle[i] && !here[i] && sw_drivers[i].bind(handle[i])) {
            atomic_store(&here[i], true);
            atomic_fetch_add(&drivers, 1);
        }
    const uint64_t *word = sw_loads_learn(sw_os_loads());
    atomic_store(&loads, (const _Atomic uint64_t *)word);
    if (drivers)
        word = NULL;
    if (now > looked)
        atomic_store(&looked, now);
    atomic_store(&sw_device_watch.seen, word ? looked : UINT64_MAX);
    atomic_store(&sw_device_watch.count,
                 word ? (const _Atomic uint64_t *)word : &nothing);
    pthread_mutex_unlock(&lock);
}

void sw_device_start(void)
{
    look();
}

bool sw_device_present(void)
{
    const _Atomic uint64_t *word = atomic_load(&loads);
    uint64_t now = word ? atomic_load_explicit(word, memory_order_relaxed)
                        : sw_os_loads();
    if (now != atomic_load(&looked))
        look();
    return atomic_load(&drivers) > 0;
}

bool sw_device_holds_slow(const void *at)
{
    if (!sw_device_present() || !at || sw_arena_offset(at, 1) != UINT64_MAX)
        return false;
    for (int i = 0; i < SW_DRIVERS; i++)
        if (atomic_load(&here[i]) && sw_drivers[i].holds(at))
            return true;
    return false;
}
