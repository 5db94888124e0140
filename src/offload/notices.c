/*
 * notices.c - see notices.h.
 */
#include "notices.h"

#include "list.h"
#include "room.h"
#include "node/base/settings.h"
#include "node/temporary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 64            /* entries of the first table */
#define REFUSED 1           /* where no block can be      */

typedef struct {
    _Atomic uint64_t name;      /* 0: free since ever */
    _Atomic uint64_t offset;    /* its place; 0: taken down; or REFUSED */
} entry_t;

typedef struct {
    uint64_t mask;
    char pad[SW_LINE - 8];
    entry_t entry[];
} table_t;

typedef struct {
    uint64_t name;
    uint64_t offset;            /* of this: its place (room.h)    */
    void *raw;                  /* as allocated: no pair begins there */
    _Atomic int32_t members;    /* that have not left                        */
    uint32_t note;
    char pad[SW_PAIR - 32];
    char memory[];
} sw_notice_t;

/* The leader's own books, of blocks that somebody may use. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_notice_t **put;
static size_t puts, room, refusals;
static table_t *table;

static sw_segment_head_t *head_of(char *segment)
{
    return (sw_segment_head_t *)(void *)segment;
}

/* Puts one up, in an entry that is free or was taken down: there is one. */
static void enter(uint64_t name, uint64_t offset)
{
    uint64_t i = name & table->mask;
    sw_assert(puts + refusals <= table->mask + 1);
    while (atomic_load_explicit(&table->entry[i].offset,
                                memory_order_relaxed))
        i = (i + 1) & table->mask;
    atomic_store_explicit(&table->entry[i].offset, offset,
                          memory_order_relaxed);
    atomic_store_explicit(&table->entry[i].name, name, memory_order_release);
}

static void take_down(const sw_notice_t *b)
{
    uint64_t i = b->name & table->mask;
    while (atomic_load_explicit(&table->entry[i].offset,
                                memory_order_relaxed) != b->offset)
        i = (i + 1) & table->mask;
    atomic_store_explicit(&table->entry[i].offset, 0, memory_order_relaxed);
}

/* Room in the common zone, or anywhere. */
static void *room_for(size_t n, bool anywhere, uint64_t *place)
{
    return anywhere ? sw_room_take(n, place) : sw_temporary_shared(n, place);
}

static uint64_t offset_of(const entry_t *e)
{
    return atomic_load_explicit(&e->offset, memory_order_relaxed);
}

/* A table for twice as many as there are blocks, if there is room for it. */
static void enlarge(void)
{
    uint64_t offset, entries = table ? 2 * (table->mask + 1) : FIRST;
    size_t bytes = sizeof *table + entries * sizeof *table->entry;
    table_t *old = table, *larger = room_for(bytes, true, &offset);
    if (!larger)
        return;
    table = larger;
    memset(table, 0, bytes);
    table->mask = entries - 1;
    for (size_t i = 0; i < puts; i++)
        enter(put[i]->name, put[i]->offset);
    for (uint64_t i = 0; old && i <= old->mask; i++)
        if (offset_of(&old->entry[i]) == REFUSED)
            enter(old->entry[i].name, REFUSED);
    atomic_store_explicit(&head_of(sw_segment()->base)->notices, offset,
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
            sw_room_give(b->raw, b->offset);
        }
    }
    puts = kept;
}

/* Room in the books and in the table for one more. False: no name will ever
 * have any. */
static bool make_room(void)
{
    if (puts == room) {
        room = room ? 2 * room : FIRST;
        put = realloc(put, room * sizeof *put);
        if (!put) {
            sw_say("out of memory while setting a communicator up");
            abort();
        }
    }
    _Atomic uint32_t *no_more = &head_of(sw_segment()->base)->no_more;
    if (atomic_load_explicit(no_more, memory_order_relaxed))
        return false;
    if (!table || 2 * (puts + refusals) > table->mask)
        enlarge();
    if (table && puts + refusals <= table->mask)
        return true;
    atomic_store_explicit(no_more, true, memory_order_release);
    return false;
}

/* Where a table leads for a name; 0: nowhere. */
static uint64_t look_up(const table_t *t, uint64_t name)
{
    for (uint64_t i = 0; t && i <= t->mask; i++) {
        const entry_t *e = &t->entry[(name + i) & t->mask];
        uint64_t seen = atomic_load_explicit(&e->name, memory_order_acquire);
        if (!seen)
            break;
        if (seen == name && offset_of(e))
            return offset_of(e);
    }
    return 0;
}

static void refuse(uint64_t name)
{
    if (look_up(table, name) || !make_room())
        return;
    refusals++;
    enter(name, REFUSED);
}

void sw_notice_refuse(uint64_t name)
{
    pthread_mutex_lock(&lock);
    refuse(name);
    pthread_mutex_unlock(&lock);
}

char *sw_notice_put(const sw_notice_want_t *want)
{
    uint64_t offset;
    char *raw = NULL;
    pthread_mutex_lock(&lock);
    sweep();
    if (make_room() && look_up(table, want->name) != REFUSED)
        raw = room_for(sizeof(sw_notice_t) + want->bytes + SW_PAIR,
                       want->anywhere, &offset);
    if (sw_unlikely(!raw)) {
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    sw_notice_t *b = (sw_notice_t *)sw_round_up((uintptr_t)raw, SW_PAIR);
    memset(b, 0, sizeof *b + want->zeroed);
    b->name = want->name;
    b->offset = offset + (uint64_t)((char *)b - raw);
    b->raw = raw;
    b->note = want->note;
    atomic_store_explicit(&b->members, want->n, memory_order_relaxed);
    put[puts++] = b;
    enter(b->name, b->offset);
    pthread_mutex_unlock(&lock);
    return b->memory;
}

char *sw_notice_find(const sw_peer_t *leader, uint64_t name, uint32_t *note,
                     bool *refused)
{
    sw_segment_head_t *head = head_of(leader->control);
    uint32_t no_more = atomic_load_explicit(&head->no_more,
                                            memory_order_acquire);
    uint64_t where = atomic_load_explicit(&head->notices,
                                          memory_order_acquire);
    uint64_t at = !where ? 0
        : look_up((const table_t *)(void *)sw_room_at(leader, where), name);
    *refused = at == REFUSED || (!at && no_more);
    if (at <= REFUSED)
        return NULL;
    sw_notice_t *b = (sw_notice_t *)(void *)sw_room_at(leader, at);
    *note = b->note;
    return b->memory;
}

void sw_notice_leave(char *memory)
{
    sw_notice_t *b = (sw_notice_t *)(void *)(memory -
                                             offsetof(sw_notice_t, memory));
    atomic_fetch_sub_explicit(&b->members, 1, memory_order_release);
}
