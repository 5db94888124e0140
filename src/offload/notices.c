/*
 * notices.c - see notices.h.
 */
#include "notices.h"

#include "list.h"
#include "node/base/settings.h"
#include "node/parcel_stack.h"
#include "node/temporary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 64            /* entries of the first table */

typedef struct {
    _Atomic uint64_t name;      /* 0: free */
    _Atomic uint64_t offset;
} entry_t;

typedef struct table {
    uint64_t mask;
    _Atomic uint64_t changes;   /* odd: entries move              */
    sw_parcel_stack_t left;     /* of the first table alone       */
    struct table *smaller;      /* where a member may still look  */
    char pad[SW_LINE - 32];
    entry_t entry[];
} table_t;

typedef struct {
    uint64_t name;
    uint64_t offset;            /* of this, in the leader's arena        */
    uint64_t stack;             /* likewise: of those that all have left */
    uint64_t below;             /* on that stack                         */
    void *raw;                  /* as allocated: no pair begins there    */
    _Atomic int32_t members;    /* that have not left                    */
    char pad[SW_PAIR - 44];
    char memory[];
} sw_notice_t;

_Static_assert(sizeof(table_t) == SW_LINE && sizeof(sw_notice_t) == SW_PAIR,
               "entries start on a line, memory on a pair");

_Atomic uint64_t sw_notice_steps;

/* The leader's own books. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t puts;             /* blocks that are up */
static table_t *table;
/* Of the first table: where members put what all have left. */
static sw_parcel_stack_t *_Atomic stack;

static void count(uint64_t steps)
{
    sw_counter_add(&sw_notice_steps, steps, false, memory_order_relaxed);
}

static _Atomic uint64_t *place_of_table(char *segment)
{
    return &((sw_segment_head_t *)(void *)segment)->notices;
}

static uint64_t name_at(const table_t *t, uint64_t i)
{
    return atomic_load_explicit(&t->entry[i].name, memory_order_acquire);
}

static uint64_t offset_at(const table_t *t, uint64_t i)
{
    return atomic_load_explicit(&t->entry[i].offset, memory_order_acquire);
}

static void set(table_t *t, uint64_t i, uint64_t name, uint64_t offset)
{
    atomic_store_explicit(&t->entry[i].offset, offset, memory_order_release);
    atomic_store_explicit(&t->entry[i].name, name, memory_order_release);
}

/* The entry of a name, or the free one where its search ends. */
static uint64_t search(const table_t *t, uint64_t name)
{
    uint64_t i = name & t->mask, steps = 1;
    for (uint64_t seen; (seen = name_at(t, i)) && seen != name; steps++)
        i = (i + 1) & t->mask;
    count(steps);
    return i;
}

static void enter(table_t *t, uint64_t name, uint64_t offset)
{
    uint64_t i = search(t, name);
    sw_assert(name && !name_at(t, i));
    set(t, i, name, offset);
}

/* Moves entries into the gap at i, so that no search ends before its entry. */
static void close_gap(table_t *t, uint64_t i)
{
    uint64_t steps = 0, name, j = i;
    while (steps++, (name = name_at(t, j = (j + 1) & t->mask))) {
        if (((j - name) & t->mask) < ((j - i) & t->mask))
            continue;           /* it may not lie before its home */
        set(t, i, name, offset_at(t, j));
        i = j;
    }
    set(t, i, 0, 0);
    count(steps);
}

static void take_down(const sw_notice_t *b)
{
    uint64_t changes = atomic_load_explicit(&table->changes,
                                            memory_order_relaxed);
    uint64_t i = search(table, b->name);
    sw_assert(offset_at(table, i) == b->offset);
    atomic_store_explicit(&table->changes, changes + 1, memory_order_relaxed);
    close_gap(table, i);
    atomic_store_explicit(&table->changes, changes + 2, memory_order_release);
    puts--;
}

/* Frees what all members have left. */
static void take_back(void)
{
    uint64_t at = table ? sw_parcel_take_all(atomic_load(&stack)) : 0;
    while (at) {
        sw_notice_t *b = (sw_notice_t *)(void *)sw_arena_at(at);
        at = b->below;
        take_down(b);
        sw_temporary_free(b->raw);
    }
}

/* A table for twice as many. */
static void enlarge(void)
{
    uint64_t offset, entries = table ? 2 * (table->mask + 1) : FIRST;
    size_t bytes = sizeof *table + entries * sizeof *table->entry;
    table_t *old = table, *to;
    to = (table_t *)(void *)sw_list_memory(bytes, &offset);
    memset(to, 0, bytes);
    to->mask = entries - 1;
    to->smaller = old;
    for (uint64_t i = 0; old && i <= old->mask; i++)
        if (name_at(old, i))
            enter(to, name_at(old, i), offset_at(old, i));
    if (!old)
        atomic_store(&stack, &to->left);
    table = to;
    atomic_store_explicit(place_of_table(sw_segment()->base), offset,
                          memory_order_release);
}

char *sw_notice_put(uint64_t name, int n, size_t bytes, size_t zeroed)
{
    uint64_t offset;
    pthread_mutex_lock(&lock);
    take_back();
    if (!table || 2 * puts >= table->mask)
        enlarge();
    char *raw = sw_list_memory(sizeof(sw_notice_t) + bytes + SW_PAIR, &offset);
    sw_notice_t *b = (sw_notice_t *)sw_round_up((uintptr_t)raw, SW_PAIR);
    memset(b, 0, sizeof *b + zeroed);
    b->name = name;
    b->offset = offset + (uint64_t)((char *)b - raw);
    b->stack = sw_arena_offset(atomic_load(&stack), sizeof *stack);
    b->raw = raw;
    atomic_store_explicit(&b->members, n, memory_order_relaxed);
    enter(table, name, b->offset);
    puts++;
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
    uint64_t changes = atomic_load_explicit(&t->changes, memory_order_acquire);
    if (changes % 2)
        return NULL;
    uint64_t i = search(t, name);
    bool up = name_at(t, i) == name;
    uint64_t at = offset_at(t, i);
    if (!up || atomic_load_explicit(&t->changes, memory_order_relaxed) !=
                   changes)
        return NULL;
    return ((sw_notice_t *)(void *)(leader->arena + at))->memory;
}

void sw_notice_leave(char *memory)
{
    sw_notice_t *b = (sw_notice_t *)(void *)(memory -
                                             offsetof(sw_notice_t, memory));
    char *arena = (char *)b - b->offset;
    sw_parcel_stack_t *to = (sw_parcel_stack_t *)(void *)(arena + b->stack);
    if (atomic_fetch_sub_explicit(&b->members, 1, memory_order_acq_rel) > 1)
        return;
    sw_parcel_push(to, b->offset, &b->below);
    if (to != atomic_load(&stack))
        return;                 /* another process is the leader */
    pthread_mutex_lock(&lock);
    take_back();
    pthread_mutex_unlock(&lock);
}
