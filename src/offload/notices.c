/*
 * notices.c - see notices.h.
 */
#include "notices.h"

#include "list.h"
#include "node/base/settings.h"
#include "node/temporary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 64            /* entries of the first table */

typedef struct {
    _Atomic uint64_t name;      /* 0: free since ever */
    _Atomic uint64_t offset;    /* 0: taken down      */
} entry_t;

typedef struct {
    uint64_t mask;
    char pad[SW_LINE - 8];
    entry_t entry[];
} table_t;

typedef struct {
    uint64_t name;
    uint64_t offset;            /* of this, in the leader's arena */
    void *raw;                  /* as allocated: no pair begins there */
    _Atomic int32_t members;    /* that have not left                        */
    char pad[SW_PAIR - 28];
    char memory[];
} sw_notice_t;

/* The leader's own books, of blocks that somebody may use. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_notice_t **put;
static size_t puts, room;
static table_t *table;

static _Atomic uint64_t *place_of_table(char *segment)
{
    return &((sw_segment_head_t *)(void *)segment)->notices;
}

/* Puts one up, in an entry that is free or was taken down. */
static void enter(const sw_notice_t *b)
{
    uint64_t i = b->name & table->mask;
    while (atomic_load_explicit(&table->entry[i].offset,
                                memory_order_relaxed))
        i = (i + 1) & table->mask;
    atomic_store_explicit(&table->entry[i].offset, b->offset,
                          memory_order_relaxed);
    atomic_store_explicit(&table->entry[i].name, b->name,
                          memory_order_release);
}

static void take_down(const sw_notice_t *b)
{
    uint64_t i = b->name & table->mask;
    while (atomic_load_explicit(&table->entry[i].offset,
                                memory_order_relaxed) != b->offset)
        i = (i + 1) & table->mask;
    atomic_store_explicit(&table->entry[i].offset, 0, memory_order_relaxed);
}

/* A table for twice as many as there are blocks. */
static void enlarge(void)
{
    uint64_t offset, entries = table ? 2 * (table->mask + 1) : FIRST;
    size_t bytes = sizeof *table + entries * sizeof *table->entry;
    table = (table_t *)(void *)sw_list_memory(bytes, &offset);
    memset(table, 0, bytes);
    table->mask = entries - 1;
    for (size_t i = 0; i < puts; i++)
        enter(put[i]);
    atomic_store_explicit(place_of_table(sw_segment()->base), offset,
                          memory_order_release);
}

/* Frees what all members have left. */
static void sweep(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < puts; i++) {
        sw_notice_t *b = put[i];
        if (atomic_load_explicit(&b->members, memory_order_acquire)) {
            put[kept++] = b;
        } else {
            take_down(b);
            sw_temporary_free(b->raw);
        }
    }
    puts = kept;
}

/* Room in the books and in the table for one more. */
static void make_room(void)
{
    if (puts == room) {
        room = room ? 2 * room : FIRST;
        put = realloc(put, room * sizeof *put);
        if (!put) {
            sw_say("out of memory while setting a communicator up");
            abort();
        }
    }
    if (!table || 2 * puts > table->mask)
        enlarge();
}

char *sw_notice_put(uint64_t name, int n, size_t bytes, size_t zeroed)
{
    uint64_t offset;
    pthread_mutex_lock(&lock);
    sweep();
    char *raw = sw_list_memory(sizeof(sw_notice_t) + bytes + SW_PAIR, &offset);
    sw_notice_t *b = (sw_notice_t *)sw_round_up((uintptr_t)raw, SW_PAIR);
    memset(b, 0, sizeof *b + zeroed);
    b->name = name;
    b->offset = offset + (uint64_t)((char *)b - raw);
    b->raw = raw;
    atomic_store_explicit(&b->members, n, memory_order_relaxed);
    make_room();
    put[puts++] = b;
    enter(b);
    pthread_mutex_unlock(&lock);
    return b->memory;
}

char *sw_notice_find(const sw_peer_t *leader, uint64_t name)
{
    uint64_t where = atomic_load_explicit(place_of_table(leader->control),
                                          memory_order_acquire);
    if (!where)
        return NULL;
    const table_t *t = (table_t *)(void *)(leader->arena + where);
    for (uint64_t i = 0; i <= t->mask; i++) {
        const entry_t *e = &t->entry[(name + i) & t->mask];
        uint64_t seen = atomic_load_explicit(&e->name, memory_order_acquire);
        if (!seen)
            break;
        uint64_t at = atomic_load_explicit(&e->offset, memory_order_relaxed);
        if (seen == name && at)
            return ((sw_notice_t *)(void *)(leader->arena + at))->memory;
    }
    return NULL;
}

void sw_notice_leave(char *memory)
{
    sw_notice_t *b = (sw_notice_t *)(void *)(memory -
                                             offsetof(sw_notice_t, memory));
    atomic_fetch_sub_explicit(&b->members, 1, memory_order_release);
}
