/*
 * notices.c - see notices.h.
 */
#include "notices.h"

#include "room.h"
#include "schedule.h"
#include "node/base/settings.h"
#include "node/parcel_stack.h"
#include "node/temporary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 64  /* entries of the first table */
#define REFUSED 1 /* where no block can be */

typedef struct {
    _Atomic uint64_t name;   /* 0: free */
    _Atomic uint64_t offset; /* the block's place, or REFUSED */
} entry_t;

typedef struct {
    uint64_t mask;
    _Atomic uint64_t changes; /* odd: entries move */
    char pad[SW_LINE - 16];
    entry_t entry[];
} table_t;

typedef struct {
    uint64_t name;
    uint64_t offset; /* of this: its place (room.h) */
    /* of those that all have left: how far behind the beginning of what this
     * block lies in */
    uint64_t stack;
    uint64_t below;          /* on that stack */
    void *raw;               /* as allocated: no pair begins there */
    _Atomic int32_t members; /* that have not left */
    uint32_t note;
    char pad[SW_PAIR - 48];
    char memory[];
} sw_notice_t;

_Static_assert(sizeof(table_t) == SW_LINE && sizeof(sw_notice_t) == SW_PAIR,
               "entries start on a line, memory on a pair");

_Atomic uint64_t sw_notice_steps;

/* The leader's own books. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t put_blocks, refusals; /* blocks and refused names in the table */
static table_t *table;
/* Blocks that all members have left: those of the arena, those of the pool. */
static sw_parcel_stack_t *_Atomic left_in_arena, *_Atomic left_in_pool;

static void count(uint64_t steps)
{
    sw_counter_add(&sw_notice_steps, steps, false, memory_order_relaxed);
}

static sw_segment_head_t *head_of(char *segment)
{
    return (sw_segment_head_t *)(void *)segment;
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

/* The entry of a name, or the free one where its search ends: there always is
 * one. */
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
            continue; /* it may not lie before its home */
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
    put_blocks--;
}

/* Frees what all members have left. */
static void take_back_from(sw_parcel_stack_t *stack)
{
    uint64_t at = stack ? sw_parcel_take_all(stack) : 0;
    while (at) {
        sw_notice_t *b = (sw_notice_t *)(void *)sw_room_own(at);
        at = b->below;
        take_down(b);
        sw_room_give(b->raw, b->offset);
    }
}

static void take_back(void)
{
    take_back_from(left_in_arena);
    take_back_from(left_in_pool);
}

/* Room in the common zone, or anywhere. */
static void *room_for(size_t n, bool anywhere, uint64_t *place)
{
    return anywhere ? sw_room_take(n, place) : sw_temporary_shared(n, place);
}

/* A table for twice as many, if there is room for it. */
static void enlarge(void)
{
    uint64_t place, entries = table ? 2 * (table->mask + 1) : FIRST;
    size_t bytes = sizeof *table + entries * sizeof *table->entry;
    table_t *old = table, *to = room_for(bytes, true, &place);
    if (!to)
        return;
    memset(to, 0, bytes);
    to->mask = entries - 1;
    for (uint64_t i = 0; old && i <= old->mask; i++)
        if (name_at(old, i))
            enter(to, name_at(old, i), offset_at(old, i));
    table = to;
    atomic_store_explicit(&head_of(sw_segment()->base)->notices, place,
                          memory_order_release);
}

/* Room in the table for one more. False: no name will ever have any. */
static bool make_room(void)
{
    sw_segment_head_t *head = head_of(sw_segment()->base);
    left_in_pool = &head->left;
    if (atomic_load_explicit(&head->no_more, memory_order_relaxed))
        return false;
    if (!table || 2 * (put_blocks + refusals) >= table->mask)
        enlarge();
    /* One entry stays free. */
    if (table && put_blocks + refusals < table->mask)
        return true;
    atomic_store_explicit(&head->no_more, true, memory_order_release);
    return false;
}

/* The stack for blocks that lie where this place is; NULL: no room. */
static sw_parcel_stack_t *stack_for(uint64_t place)
{
    uint64_t there;
    if (sw_room_is_pool(place))
        return left_in_pool;
    if (!left_in_arena) {
        sw_parcel_stack_t *stack = sw_temporary_shared(SW_LINE, &there);
        if (stack)
            memset(stack, 0, SW_LINE);
        left_in_arena = stack;
    }
    return left_in_arena;
}

void sw_notice_refuse(uint64_t name)
{
    pthread_mutex_lock(&lock);
    if (make_room() && !name_at(table, search(table, name))) {
        refusals++;
        enter(table, name, REFUSED);
    }
    pthread_mutex_unlock(&lock);
}

static sw_notice_t *put(const sw_notice_want_t *want)
{
    uint64_t place;
    take_back();
    if (!make_room() || name_at(table, search(table, want->name)))
        return NULL; /* refused: a name is put up once */
    char *raw = room_for(sizeof(sw_notice_t) + want->bytes + SW_PAIR,
                         want->anywhere, &place);
    sw_parcel_stack_t *stack = raw ? stack_for(place) : NULL;
    if (!stack) {
        if (raw)
            sw_room_give(raw, place);
        return NULL;
    }
    sw_notice_t *b = (sw_notice_t *)sw_round_up((uintptr_t)raw, SW_PAIR);
    memset(b, 0, sizeof *b + want->zeroed);
    b->name = want->name;
    b->offset = place + (uint64_t)((char *)b - raw);
    b->stack = (uint64_t)((char *)stack - sw_room_begin(b, b->offset));
    b->raw = raw;
    b->note = want->note;
    atomic_store_explicit(&b->members, want->n, memory_order_relaxed);
    enter(table, b->name, b->offset);
    put_blocks++;
    return b;
}

char *sw_notice_put(const sw_notice_want_t *want)
{
    pthread_mutex_lock(&lock);
    sw_notice_t *b = put(want);
    pthread_mutex_unlock(&lock);
    return b ? b->memory : NULL;
}

/* Where a leader's table leads for a name; 0: nowhere. *sure: the table did not
 * change meanwhile. */
static uint64_t look_up(const table_t *t, uint64_t name, bool *sure)
{
    uint64_t changes = atomic_load_explicit(&t->changes, memory_order_acquire);
    *sure = false;
    if (changes % 2)
        return 0;
    uint64_t i = search(t, name);
    bool up = name_at(t, i) == name;
    uint64_t at = offset_at(t, i);
    *sure = atomic_load_explicit(&t->changes, memory_order_relaxed) == changes;
    return up && *sure ? at : 0;
}

char *sw_notice_find(const sw_peer_t *leader, uint64_t name, uint32_t *note,
                     bool *refused)
{
    sw_segment_head_t *head = head_of(leader->control);
    bool sure = true,
         no_more = atomic_load_explicit(&head->no_more, memory_order_acquire);
    uint64_t where = atomic_load_explicit(&head->notices, memory_order_acquire);
    uint64_t at = !where ? 0
                         : look_up((const table_t *)(void *)sw_room_at(leader,
                                                                       where),
                                   name, &sure);
    *refused = at == REFUSED || (!at && sure && no_more);
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
    sw_parcel_stack_t *stack = (sw_parcel_stack_t *)(void *)(sw_room_begin(
                                                                 b, b->offset) +
                                                             b->stack);
    bool own = stack == left_in_arena || stack == left_in_pool;
    if (atomic_fetch_sub_explicit(&b->members, 1, memory_order_acq_rel) > 1)
        return;
    sw_parcel_push(stack, b->offset, &b->below);
    if (!own)
        return;
    pthread_mutex_lock(&lock);
    take_back();
    pthread_mutex_unlock(&lock);
}
