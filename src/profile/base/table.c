/*
 * table.c - see table.h.
 *
 * A row becomes visible by the count of rows, then by its slot in the index;
 * both are stored with release. An index is at most half full; the sum of all
 * old ones is smaller than the one in use.
 *
 * The lock is a mutex and a note of its holder. A signal handler may interrupt
 * a thread that writes, and may call MPI_Abort, which comes by here. The note
 * then tells the thread so, instead of waiting for itself. After a fork the
 * child's lock is free: a row that was half written is not visible.
 */
#include "table.h"

#include "node/os/os.h"

#include <string.h>

#define INDEX_FIRST 1024

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local volatile bool writing
    __attribute__((tls_model("initial-exec")));

static void child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    writing = false;
}

static void prepare(void)
{
    pthread_atfork(NULL, NULL, child);
}

bool sw_profile_lock(void)
{
    if (writing)
        return false;
    writing = true;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    return true;
}

void sw_profile_unlock(void)
{
    pthread_mutex_unlock(&lock);
    writing = false;
}

void *sw_table_new(sw_table_t *t)
{
    uint32_t i = atomic_load_explicit(&t->rows, memory_order_relaxed);
    unsigned c, log;

    if (i >= t->limit)
        return NULL;
    i += 1u << SW_TABLE_FIRST;
    log = 31 - (unsigned)__builtin_clz(i);
    c = log - SW_TABLE_FIRST;
    if (c >= SW_TABLE_CHUNKS)
        return NULL;
    char *chunk = atomic_load_explicit(&t->chunk[c], memory_order_relaxed);
    if (!chunk) {
        chunk = sw_os_map_lazy(NULL,
                               sw_round_up((size_t)t->width << log, SW_PAGE));
        if (!chunk)
            return NULL;
        atomic_store_explicit(&t->chunk[c], chunk, memory_order_relaxed);
    }
    chunk += (size_t)(i - (1u << log)) * t->width;
    memset(chunk, 0, t->width);
    return chunk;
}

static void put(sw_index_t *index, uint64_t slot, uint32_t at)
{
    while (atomic_load_explicit(&index->slot[at & index->mask],
                                memory_order_relaxed))
        at++;
    atomic_store_explicit(&index->slot[at & index->mask], slot,
                          memory_order_release);
}

/* An index has room for twice the rows; a slot knows only the upper half of
 * its hash, so rows are placed by that in a larger index, too. */
static sw_index_t *roomy(sw_table_t *t, uint32_t rows)
{
    sw_index_t *old = atomic_load_explicit(&t->index, memory_order_relaxed);
    if (old && rows < old->mask / 2)
        return old;
    sw_assert(!old || rows <= old->mask);
    uint32_t slots = old ? 2 * (old->mask + 1) : INDEX_FIRST;
    sw_index_t *index = sw_os_map_lazy(
        NULL,
        sw_round_up(sizeof *index + slots * sizeof *index->slot, SW_PAGE));
    if (!index)
        return NULL;
    index->mask = slots - 1;
    for (uint32_t i = 0; old && i <= old->mask; i++) {
        uint64_t slot = atomic_load_explicit(&old->slot[i],
                                             memory_order_relaxed);
        if (slot)
            put(index, slot, (uint32_t)(slot >> 32));
    }
    atomic_store_explicit(&t->index, index, memory_order_release);
    return index;
}

uint32_t sw_table_publish(sw_table_t *t, uint64_t hash)
{
    uint32_t row = atomic_load_explicit(&t->rows, memory_order_relaxed) + 1;
    sw_index_t *index = roomy(t, row);

    if (!index)
        return 0;
    sw_assert(row <= t->limit && row <= index->mask / 2);
    atomic_store_explicit(&t->rows, row, memory_order_release);
    put(index, hash >> 32 << 32 | row, (uint32_t)(hash >> 32));
    return row;
}

const char *sw_table_text(const char *text, size_t n)
{
    static char *at;
    static size_t left;

    if (n + 1 > left) {
        size_t size = sw_round_up(sw_max(n + 1, 65536), SW_PAGE);
        char *fresh = sw_os_map_lazy(NULL, size);
        if (!fresh)
            return NULL;
        at = fresh;
        left = size;
    }
    char *copy = at;
    memcpy(copy, text, n);
    copy[n] = 0;
    at += n + 1;
    left -= n + 1;
    return copy;
}
