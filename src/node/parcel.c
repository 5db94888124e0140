/*
 * parcel.c - see parcel.h.
 *
 * A parcel's state names its holder. Only the holder changes it: give, accept
 * and free. A message orders these (p2p/slot.h), or the stack of freed parcels
 * (parcel_stack.h). The state is there to find the program's errors, so relaxed
 * accesses do.
 *
 * Strange parcels that this process holds are on a list, for fork. Its links
 * lie in the parcels' heads: the holder alone uses these.
 */
#include "parcel.h"

#include "arena/arena.h"
#include "node/base/settings.h"
#include "parcel_stack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEAD SW_LINE
/* Of the head: so the holder's bytes begin in the block's first page. */
#define ALIGN (2 * SW_LINE)

enum { AWAY = 0, FREED = -1 }; /* else the holder's process number */

typedef struct parcel {
    sw_token_t owner;
    uint64_t bytes;                /* that the holder may use */
    uint64_t stack;                /* its offset in the arena's file */
    uint64_t below;                /* on the stack: the next one's head */
    struct parcel *before, *after; /* of those that a stranger holds */
    _Atomic int32_t state;
    int32_t reserved;
} parcel_t;

_Static_assert(sizeof(parcel_t) == HEAD, "the head is one line");

bool sw_parcel_on;
_Atomic bool sw_parcel_any;

static sw_parcel_stack_t *_Atomic stack; /* this process's own */
static sw_token_t mine;                  /* set before it */
static _Atomic int32_t me;
static _Atomic uint64_t returns;

static int32_t my_number(void)
{
    int32_t is = atomic_load_explicit(&me, memory_order_relaxed);
    if (sw_unlikely(!is)) {
        is = (int32_t)getpid(); /* a child keeps its parent's */
        atomic_store(&me, is);
    }
    return is;
}

static bool same(const sw_token_t *a, const sw_token_t *b)
{
    return a->word[0] == b->word[0] && a->word[1] == b->word[1];
}

static parcel_t *head_of(const void *p)
{
    return (parcel_t *)((uintptr_t)p - HEAD);
}

static char *own_arena(void)
{
    return sw_arena.range[0].start;
}

/* Arenas of others ------------------------------------------------------- */

/* Those of which this process has held parcels: rows are added, and stay. */
#define ARENAS 4096

typedef struct {
    char *base;
    size_t span;
    sw_token_t owner;
} arena_t;

static struct {
    pthread_mutex_t lock;
    arena_t at[ARENAS];
    _Atomic int count;
    _Atomic uintptr_t low, high; /* all lie between */
    parcel_t *held;
    bool child; /* of a fork: all are private copies */
} others = {.lock = PTHREAD_MUTEX_INITIALIZER, .low = UINTPTR_MAX};

static const arena_t *find_owner(const sw_token_t *owner)
{
    int n = atomic_load_explicit(&others.count, memory_order_acquire);
    for (int i = 0; i < n; i++)
        if (same(&others.at[i].owner, owner))
            return &others.at[i];
    return NULL;
}

static const arena_t *find_around(const void *p)
{
    if ((uintptr_t)p <
            atomic_load_explicit(&others.low, memory_order_relaxed) ||
        (uintptr_t)p >=
            atomic_load_explicit(&others.high, memory_order_relaxed))
        return NULL;
    int n = atomic_load_explicit(&others.count, memory_order_acquire);
    for (int i = 0; i < n; i++)
        if ((size_t)((const char *)p - others.at[i].base) < others.at[i].span)
            return &others.at[i];
    return NULL;
}

/* A program that has an address there has it from an accept, after this. */
static void add(const sw_peer_t *peer)
{
    int n = atomic_load(&others.count);
    uintptr_t low = (uintptr_t)peer->arena, high = low + peer->card.arena_span;
    others.at[n] = (arena_t){peer->arena, peer->card.arena_span,
                             peer->card.token};
    atomic_store(&others.low, sw_min(low, atomic_load(&others.low)));
    atomic_store(&others.high, sw_max(high, atomic_load(&others.high)));
    atomic_store_explicit(&others.count, n + 1, memory_order_release);
    atomic_store(&sw_parcel_any, true);
}

static const arena_t *meet(const sw_token_t *owner)
{
    const arena_t *a = find_owner(owner);
    if (sw_likely(a != NULL))
        return a;
    const sw_peer_t *peer = sw_peer_known(owner);
    if (!peer || !peer->arena)
        return NULL;
    pthread_mutex_lock(&others.lock);
    a = find_owner(owner);
    if (!a && atomic_load(&others.count) < ARENAS) {
        add(peer);
        a = find_owner(owner);
    }
    pthread_mutex_unlock(&others.lock);
    return a;
}

static void hold(parcel_t *h)
{
    pthread_mutex_lock(&others.lock);
    h->before = NULL;
    h->after = others.held;
    if (h->after)
        h->after->before = h;
    others.held = h;
    pthread_mutex_unlock(&others.lock);
}

static void let_go(parcel_t *h)
{
    pthread_mutex_lock(&others.lock);
    if (h->before)
        h->before->after = h->after;
    else
        others.held = h->after;
    if (h->after)
        h->after->before = h->before;
    pthread_mutex_unlock(&others.lock);
}

/* Fork ------------------------------------------------------------------- */

static void lock_held(void)
{
    pthread_mutex_lock(&others.lock);
}

static void unlock_held(void)
{
    pthread_mutex_unlock(&others.lock);
}

static bool try_held(void)
{
    return !pthread_mutex_trylock(&others.lock);
}

static bool any_held(void)
{
    return others.held != NULL;
}

/* Each parcel has its pages to itself. */
static void copy_held(void (*make_private)(void *start, size_t size))
{
    for (parcel_t *h = others.held; h; h = h->after) {
        uintptr_t from = (uintptr_t)h & ~(uintptr_t)(SW_PAGE - 1);
        uintptr_t end = sw_round_up((uintptr_t)h + HEAD + h->bytes, SW_PAGE);
        make_private((void *)from, end - from);
    }
    others.child = true;
}

static const sw_fork_also_t also = {.lock = lock_held,
                                    .unlock = unlock_held,
                                    .try = try_held,
                                    .any = any_held,
                                    .copy = copy_held};

/* Blocks ----------------------------------------------------------------- */

/* The stack, made at the first need; NULL: no memory. */
static sw_parcel_stack_t *own_stack(void)
{
    sw_parcel_stack_t *is = atomic_load_explicit(&stack, memory_order_acquire);
    if (sw_likely(is != NULL))
        return is;
    const sw_segment_t *segment = sw_segment();
    if (!segment)
        return NULL;
    pthread_mutex_lock(&others.lock);
    is = atomic_load(&stack);
    if (!is && (is = sw_arena_alloc_shared(sizeof *is, SW_LINE))) {
        atomic_store(&is->top, 0);
        mine = segment->token;
        atomic_store(&sw_parcel_any, true);
        atomic_store(&stack, is);
    }
    pthread_mutex_unlock(&others.lock);
    return is;
}

/* The owner frees the block, and its head's name first: left where it is, the
 * name would show a parcel in the midst of a later one. */
static void retire(parcel_t *h)
{
    h->owner = (sw_token_t){{0, 0}};
    sw_arena_free(h);
}

/* The owner takes back what strangers have freed. */
static void drain(void)
{
    sw_parcel_stack_t *from = atomic_load_explicit(&stack,
                                                   memory_order_acquire);
    uint64_t at = from ? sw_parcel_take_all(from) : 0, n = 0;
    for (; at; n++) {
        parcel_t *h = (parcel_t *)(own_arena() + at);
        at = h->below;
        retire(h);
    }
    if (n)
        atomic_fetch_add_explicit(&returns, n, memory_order_relaxed);
}

void *sw_parcel_alloc(size_t bytes)
{
    if (!sw_parcel_on || bytes > sw_arena.range[0].size)
        return NULL;
    sw_parcel_stack_t *back = own_stack();
    if (!back)
        return NULL;
    drain();
    parcel_t *h = sw_arena_alloc_shared(HEAD + bytes, ALIGN);
    if (!h)
        return NULL;
    *h = (parcel_t){.owner = mine,
                    .bytes = bytes,
                    .stack = (uint64_t)((char *)back - own_arena()),
                    .state = my_number()};
    sw_fork_also = &also;
    return (char *)h + HEAD;
}

/* The head of the parcel that begins at p; NULL: none does. *strange: it lies
 * in another process's arena. */
static parcel_t *find(const void *p, bool *strange)
{
    parcel_t *h = head_of(p);
    *strange = !sw_arena_is_block(p);
    if ((uintptr_t)p % ALIGN != HEAD % ALIGN)
        return NULL;
    if (!*strange)
        return atomic_load_explicit(&stack, memory_order_acquire) &&
                       sw_arena_begin(p) == (void *)h && same(&h->owner, &mine)
                   ? h
                   : NULL;
    const arena_t *a = find_around(p);
    return a && (char *)h >= a->base && same(&h->owner, &a->owner) ? h : NULL;
}

static int32_t state_of(parcel_t *h)
{
    return atomic_load_explicit(&h->state, memory_order_relaxed);
}

static void set_state(parcel_t *h, int32_t state)
{
    atomic_store_explicit(&h->state, state, memory_order_relaxed);
}

sw_parcel_kind_t sw_parcel_look(const void *p, size_t *bytes)
{
    bool strange;
    if (!atomic_load_explicit(&sw_parcel_any, memory_order_relaxed))
        return SW_PARCEL_NONE;
    parcel_t *h = find(p, &strange);
    if (h) {
        *bytes = h->bytes;
        return state_of(h) == my_number() ? SW_PARCEL_HELD : SW_PARCEL_GONE;
    }
    if (strange)
        return find_around(p) ? SW_PARCEL_INSIDE : SW_PARCEL_NONE;
    return sw_arena_begin(p) == p ? SW_PARCEL_NONE : SW_PARCEL_INSIDE;
}

size_t sw_parcel_bytes(const void *p)
{
    bool strange;
    const parcel_t *h = atomic_load(&sw_parcel_any) ? find(p, &strange) : NULL;
    return h ? h->bytes : 0;
}

/* A parcel that this process holds no more. */
static void give_back(parcel_t *h, bool strange)
{
    set_state(h, FREED);
    if (!strange) {
        retire(h);
    } else if (!others.child) {
        char *arena = find_around(h)->base;
        sw_parcel_push((sw_parcel_stack_t *)(arena + h->stack),
                       (uint64_t)((char *)h - arena), &h->below);
    }
}

/* The head of a parcel that this process holds; NULL: p is none. */
static parcel_t *held(const void *p, const char *what, bool *strange)
{
    parcel_t *h = find(p, strange);
    if (!h && !(*strange && find_around(p)))
        return NULL;
    if (sw_unlikely(!h || state_of(h) != my_number())) {
        sw_say("%s(): %p is not an allocated block: %s", what, p,
               h ? "this process has given it away or freed it"
                 : "no block begins there");
        abort();
    }
    return h;
}

bool sw_parcel_free(void *p)
{
    bool strange;
    parcel_t *h = held(p, "free", &strange);
    if (!h)
        return false;
    if (strange)
        let_go(h);
    give_back(h, strange);
    return true;
}

bool sw_parcel_resize(void *p, size_t bytes, void **to)
{
    bool strange;
    parcel_t *h = held(p, "realloc", &strange);
    if (!h)
        return false;
    *to = NULL;
    if (bytes == 0) {
        sw_parcel_free(p);
        return true;
    }
    if (!strange && bytes <= sw_arena.range[0].size &&
        sw_arena_resize(h, HEAD + bytes)) {
        h->bytes = bytes;
        *to = p;
        return true;
    }
    if (bytes <= h->bytes) { /* a stranger's stays as it is */
        *to = p;
        return true;
    }
    void *new = sw_parcel_alloc(bytes);
    if (!new && !(new = malloc(bytes)))
        return true;
    memcpy(new, p, sw_min(h->bytes, bytes));
    sw_parcel_free(p);
    *to = new;
    return true;
}

/* Hands ------------------------------------------------------------------ */

sw_parcel_name_t sw_parcel_give(void *p)
{
    bool strange;
    parcel_t *h = find(p, &strange);
    char *arena = own_arena();
    sw_assert(h && state_of(h) == my_number());
    drain();
    if (strange) {
        let_go(h);
        arena = find_around(p)->base;
    }
    set_state(h, AWAY);
    return (sw_parcel_name_t){h->owner, (uint64_t)((char *)p - arena)};
}

/* Where its head must lie; NULL: out of reach. */
static parcel_t *place(const sw_parcel_name_t *name, bool *strange)
{
    *strange = !atomic_load_explicit(&stack, memory_order_acquire) ||
               !same(&mine, &name->owner);
    const arena_t *arena = *strange ? meet(&name->owner) : NULL;
    char *base = arena ? arena->base : own_arena();
    size_t span = arena ? arena->span : sw_arena.range[0].size;
    if ((*strange && !arena) || name->at < HEAD || name->at >= span)
        return NULL;
    return head_of(base + name->at);
}

static parcel_t *reach(const sw_parcel_name_t *name, bool *strange)
{
    parcel_t *h = place(name, strange);
    return h && same(&h->owner, &name->owner) ? h : NULL;
}

void sw_parcel_prefetch(const sw_parcel_name_t *name)
{
    bool strange;
    const parcel_t *h = place(name, &strange);
    if (h)
        sw_prefetch_write(h);
}

void *sw_parcel_find(const sw_parcel_name_t *name)
{
    bool strange;
    parcel_t *h = reach(name, &strange);
    return h ? (char *)h + HEAD : NULL;
}

void *sw_parcel_accept(const sw_parcel_name_t *name)
{
    bool strange;
    parcel_t *h = reach(name, &strange);
    if (!h)
        return NULL;
    set_state(h, my_number());
    sw_fork_also = &also;
    if (strange)
        hold(h);
    return (char *)h + HEAD;
}

void sw_parcel_drop(const sw_parcel_name_t *name)
{
    bool strange;
    parcel_t *h = reach(name, &strange);
    if (h)
        give_back(h, strange);
}

uint64_t sw_parcel_returns(void)
{
    return atomic_load(&returns);
}
