/*
 * entries.c - the heap's entry points: malloc and its kin, as the program calls
 * them.
 *
 * Blocks of at least the threshold come from the arena, all others from libc.
 * An address tells which: the arena is one range. So free is a comparison and a
 * jump. Any mix of old and new blocks is right at any time, blocks from before
 * the arena stood included.
 *
 * A program may have brought another heap: jemalloc, mimalloc or tcmalloc
 * preloaded or linked, a debugging heap, a sanitizer's. Theirs is the next
 * malloc after ours then and not libc's, and everything goes to it, at the
 * price of one more jump: two heaps that both mean to be the only one (own
 * usable sizes, own fork handlers, own leak reports) do not mix.
 *
 * libc's functions are called by their second names (__libc_malloc, ...),
 * which need no look-up. Looking the next heap up may itself allocate: until
 * it is known, blocks come from a small static store and are never reused.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "front/objects/elf.h"
#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "node/parcel.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void *__libc_valloc(size_t);
extern void *__libc_pvalloc(size_t);
extern void __libc_free(void *);
SW_API void *malloc(size_t size);
SW_API void free(void *p);
/* `free` itself is the program's where that defines one, and so is malloc. */
static void own_free(void *p) __attribute__((alias("free"), nothrow));
static void *own_malloc(size_t size)
    __attribute__((alias("malloc"), nothrow, malloc, alloc_size(1)));

#define SLACK_MIN ((size_t)1 << 20) /* blocks that move get room to grow */

/* Which sizes are the arena's: size - big_from < big_span. One comparison so
 * sends the ordinary small block straight to libc. big_from is 0 while the heap
 * below is not known, or is not libc's. */
static size_t big_from, big_span;

static enum { UNKNOWN, ASKING, LIBC, OTHER } below;

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable)(void *);
} next;

static const char *other_name;

/* The store for the first moments -------------------------------------- */

static char store[1 << 16] __attribute__((aligned(64)));
static size_t stored;

static bool in_store(const void *p)
{
    return (size_t)((const char *)p - store) < sizeof store;
}

/* One header word before each block holds its size, for realloc. */
static void *store_take(size_t size, size_t align)
{
    align = align < 16 ? 16 : align;
    size_t at = sw_round_up(stored + sizeof(size_t), align);
    if (align > SW_PAGE || size > sizeof store || at > sizeof store - size) {
        errno = ENOMEM;
        return NULL;
    }
    stored = at + size;
    memcpy(store + at - sizeof size, &size, sizeof size);
    return store + at;
}

static size_t store_size(const void *p)
{
    size_t size;
    memcpy(&size, (const char *)p - sizeof size, sizeof size);
    return size;
}

/* Which heap is below --------------------------------------------------- */

static void *look(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static const char *owner(void *function)
{
    Dl_info info;
    return function && dladdr(function, &info) ? info.dli_fname : NULL;
}

static void ask(void)
{
    below = ASKING;
    *(void **)&next.malloc = look("malloc");
    *(void **)&next.calloc = look("calloc");
    *(void **)&next.realloc = look("realloc");
    *(void **)&next.free = look("free");
    *(void **)&next.memalign = look("memalign");
    *(void **)&next.aligned_alloc = look("aligned_alloc");
    *(void **)&next.posix_memalign = look("posix_memalign");
    *(void **)&next.valloc = look("valloc");
    *(void **)&next.pvalloc = look("pvalloc");
    *(void **)&next.usable = look("malloc_usable_size");
    Dl_info libc, heap;
    bool same = !next.malloc ||
                (dladdr(dlsym(RTLD_NEXT, "__libc_malloc"), &libc) &&
                 dladdr(*(void **)&next.malloc, &heap) &&
                 libc.dli_fbase == heap.dli_fbase);
    if (same) {
        big_from = SIZE_MAX;
        below = LIBC;
    } else {
        other_name = owner(*(void **)&next.malloc);
        below = OTHER;
    }
}

/* True when blocks go to another heap than libc's; `asking`: to the store. */
static bool elsewhere(void)
{
    if (sw_unlikely(below == UNKNOWN))
        ask();
    return below == OTHER;
}

const char *sw_heap_other(void)
{
    elsewhere();
    return other_name;
}

typedef struct {
    const char *symbol;
    void *at;
} search_t;

static int defines(const sw_object_t *object, void *context)
{
    search_t *s = context;
    s->at = sw_object_address(object, s->symbol);
    return s->at != NULL;
}

/* The function that the program calls by this name: that of the first object
 * that defines one. dlsym may name the program itself. If its code is not
 * position-independent and takes the address of a function, that address is an
 * entry of its own PLT. (Python has such programs.) */
static void *called(const char *symbol)
{
    search_t s = {.symbol = symbol};
    sw_objects_walk(defines, &s);
    return s.at;
}

/* The program's blocks never come here: a heap stands before ours, which is in
 * the program itself, or must be first (a sanitizer's). */
static bool passed_by(void)
{
    void *first = called("malloc");
    if (first == (void *)own_malloc)
        return false;
    other_name = owner(first);
    return true;
}

void sw_heap_start(void)
{
    if (elsewhere() || passed_by()) {
        if (sw_settings.verbose)
            sw_say("the program's heap is %s; its blocks stay private",
                   other_name ? other_name : "its own");
        return;
    }
    if (sw_arena.fd < 0)
        return;
    size_t from = sw_max(sw_settings.arena_threshold, SW_PAGE);
    big_span = sw_arena_heap_limit > from ? sw_arena_heap_limit - from : 0;
    big_from = from;
    /* Or a heap of the program's own gets blocks that it does not know. */
    sw_parcel_on = called("free") == (void *)own_free;
}

static inline bool is_big(size_t size)
{
    return size - big_from < big_span;
}

/* Overflow: the product, or false with errno set. */
static bool product(size_t n, size_t size, size_t *bytes)
{
    if (!__builtin_mul_overflow(n, size, bytes))
        return true;
    errno = ENOMEM;
    return false;
}

/* malloc, calloc, free -------------------------------------------------- */

static __attribute__((noinline)) void *slow_malloc(size_t size)
{
    if (elsewhere())
        return next.malloc(size);
    if (below == ASKING)
        return store_take(size, 16);
    if (is_big(size)) {
        void *p = sw_arena_alloc(size, 16);
        if (sw_likely(p != NULL))
            return p;
    }
    return __libc_malloc(size);
}

SW_API void *malloc(size_t size)
{
    if (sw_likely(size < big_from))
        return __libc_malloc(size);
    return slow_malloc(size);
}

SW_API void *calloc(size_t n, size_t size)
{
    size_t bytes;
    if (!product(n, size, &bytes))
        return NULL;
    if (sw_likely(bytes < big_from))
        return __libc_calloc(n, size);
    if (elsewhere())
        return next.calloc(n, size);
    if (below == ASKING)
        return store_take(bytes, 16); /* fresh, hence zero */
    if (is_big(bytes)) {
        void *p = sw_arena_calloc(bytes);
        if (sw_likely(p != NULL))
            return p;
    }
    return __libc_calloc(n, size);
}

/* A block that another process may have made (node/parcel.h). */
static inline bool may_be_parcel(void)
{
    return sw_unlikely(
        atomic_load_explicit(&sw_parcel_any, memory_order_relaxed));
}

SW_API void free(void *p)
{
    if (may_be_parcel() && sw_parcel_free(p))
        return;
    if (sw_arena_is_block(p)) {
        sw_arena_free(p);
        return;
    }
    if (sw_likely(big_from != 0 && !in_store(p))) {
        __libc_free(p);
        return;
    }
    if (!p || in_store(p))
        return;
    if (elsewhere())
        next.free(p);
    else
        __libc_free(p);
}

SW_API void cfree(void *p)
{
    free(p);
}

/* C23's, which glibc has since 2.43. The size is known here as well. */
SW_API void free_sized(void *p, size_t size)
{
    (void)size;
    free(p);
}

SW_API void free_aligned_sized(void *p, size_t align, size_t size)
{
    (void)align;
    (void)size;
    free(p);
}

SW_API size_t malloc_usable_size(void *p)
{
    if (!p)
        return 0;
    size_t bytes = may_be_parcel() ? sw_parcel_bytes(p) : 0;
    if (bytes)
        return bytes;
    if (sw_arena_is_block(p))
        return sw_arena_usable(p);
    if (in_store(p))
        return store_size(p);
    elsewhere();
    return next.usable ? next.usable(p) : 0;
}

/* realloc --------------------------------------------------------------- */

/* Move a block to a new place of `size` bytes. Private pages of the arena
 * move as libc's do. Others are copied, with room to grow further if they
 * are large: growing by half each time keeps that linear. Untouched room
 * costs nothing. */
static void *move(void *p, size_t have, size_t size)
{
    void *to = NULL;
    if (have >= SLACK_MIN && size > have && is_big(size) &&
        sw_arena_is_block(p) && (to = sw_arena_move(p, have, size)))
        return to;
    if (is_big(size)) {
        if (size > have && have >= SLACK_MIN)
            to = sw_arena_alloc(size + size / 2, 16);
        if (!to)
            to = sw_arena_alloc(size, 16);
    }
    if (!to)
        to = __libc_malloc(size);
    if (!to)
        return NULL;
    memcpy(to, p, sw_min(have, size));
    free(p);
    return to;
}

SW_API void *realloc(void *p, size_t size)
{
    if (!p)
        return malloc(size);
    void *moved;
    if (may_be_parcel() && sw_parcel_resize(p, size, &moved))
        return moved;
    if (sw_arena_is_block(p)) {
        if (size == 0) {
            sw_arena_free(p);
            return NULL;
        }
        /* Back to libc only well below the threshold: no to and fro. */
        if (size >= big_from / 2 && sw_arena_resize(p, size))
            return p;
        void *to = move(p, sw_arena_usable(p), size);
        /* A shrink need not fail: the block stays as it is. */
        return to || size > sw_arena_usable(p) ? to : p;
    }
    if (in_store(p)) {
        void *to = malloc(size);
        if (to)
            memcpy(to, p, sw_min(store_size(p), size));
        return to;
    }
    if (elsewhere())
        return next.realloc(p, size);
    /* Big blocks that are libc's already stay there: it remaps them. */
    if (is_big(size) && next.usable) {
        size_t have = next.usable(p);
        if (have < big_from)
            return move(p, have, size);
    }
    return __libc_realloc(p, size);
}

SW_API void *reallocarray(void *p, size_t n, size_t size)
{
    size_t bytes;
    return product(n, size, &bytes) ? realloc(p, bytes) : NULL;
}

/* Aligned blocks -------------------------------------------------------- */

static bool is_power(size_t n)
{
    return n && !(n & (n - 1));
}

/* From the arena, or NULL: then the heap below decides, and reports what is
 * wrong with the arguments in its own way. */
static void *big_aligned(size_t align, size_t size)
{
    return is_big(size) && is_power(align) ? sw_arena_alloc(size, align) : NULL;
}

SW_API void *memalign(size_t align, size_t size)
{
    if (elsewhere() && next.memalign)
        return next.memalign(align, size);
    if (below == ASKING)
        return store_take(size, align);
    void *p = big_aligned(align, size);
    return p ? p : __libc_memalign(align, size);
}

SW_API void *aligned_alloc(size_t align, size_t size)
{
    if (elsewhere() && next.aligned_alloc)
        return next.aligned_alloc(align, size);
    if (below == ASKING)
        return store_take(size, align);
    void *p = big_aligned(align, size);
    if (p)
        return p;
    return next.aligned_alloc ? next.aligned_alloc(align, size)
                              : __libc_memalign(align, size);
}

SW_API int posix_memalign(void **to, size_t align, size_t size)
{
    if (elsewhere() && next.posix_memalign)
        return next.posix_memalign(to, align, size);
    if (!is_power(align) || align % sizeof(void *))
        return EINVAL;
    int saved = errno;
    void *p = memalign(align, size);
    errno = saved;
    if (!p)
        return ENOMEM;
    *to = p;
    return 0;
}

SW_API void *valloc(size_t size)
{
    if (elsewhere() && next.valloc)
        return next.valloc(size);
    void *p = big_aligned(SW_PAGE, size);
    return p ? p : __libc_valloc(size);
}

SW_API void *pvalloc(size_t size)
{
    if (elsewhere() && next.pvalloc)
        return next.pvalloc(size);
    size_t whole = sw_round_up(size, SW_PAGE);
    void *p = whole >= size ? big_aligned(SW_PAGE, whole) : NULL;
    return p ? p : __libc_pvalloc(size);
}
