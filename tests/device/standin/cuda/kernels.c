/*
 * kernels.c - the kernels, run by the processor.
 *
 * A kernel knows memory by the program's addresses. Each load and store asks
 * where the driver has the byte, and so meets the bounds of the allocation. A
 * launch sees the allocations that live when it begins.
 */
#include "inside.h"

#include <sched.h>
#include <setjmp.h>
#include <time.h>

enum { LOAD, STORE, READ, WAYS };

static void *reach(const volatile void *at, size_t bytes, int way);
#define SW_LOAD(at) (*(__typeof__(at))reach(at, sizeof *(at), LOAD))
#define SW_STORE(at, unit) \
    (*(__typeof__(at))reach(at, sizeof *(at), STORE) = (unit))
#define SW_READ(at) (*(__typeof__(at))reach(at, sizeof *(at), READ))
#include "../../processor.h"

typedef struct {
    at_t at, end;
    char *alias;
} range_t;

typedef struct {
    const launch_t *launch;
    range_t *range, none;
    size_t ranges;
    const range_t *last[WAYS];
    jmp_buf end;
} view_t;

static _Thread_local view_t *view;

static _Noreturn void stop(int code, at_t at, const char *why)
{
    call_lock();
    fault(view->launch->op.context, code, "%s at %#llx: %s",
          view->launch->kernel->name, (unsigned long long)at,
          why ? why : block_lack(at));
    call_unlock();
    longjmp(view->end, 1);
}

/* A load of a word may hold bytes beside the allocation, if it holds one of it:
 * on a device, an allocation's last word is whole. */
static bool holds(const range_t *r, at_t at, size_t bytes, int way)
{
    at_t slack = way == LOAD && bytes == 4 ? 3 : 0;
    return at >= (r->at & ~slack) && at < r->end &&
           bytes <= ((r->end + slack) & ~slack) - at;
}

static __attribute__((noinline)) const range_t *look(at_t at, size_t bytes,
                                                     int way)
{
    size_t low = 0, high = view->ranges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (view->range[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    const range_t *r = &view->range[low];
    if (low == view->ranges)
        stop(ILLEGAL_ADDRESS, at, NULL);
    if (!holds(r, at, bytes, way))
        stop(ILLEGAL_ADDRESS, at,
             at < r->at ? NULL : "the end of an allocation");
    return r;
}

static void *reach(const volatile void *address, size_t bytes, int way)
{
    at_t at = (uintptr_t)address;
    const range_t *r = view->last[way];
    if (!holds(r, at, bytes, way))
        r = view->last[way] = look(at, bytes, way);
    if (at & (bytes - 1))
        stop(UNALIGNED, at, "the unit is not aligned");
    return r->alias + (ptrdiff_t)(at - r->at);
}

/* May kernels of a context use a block? They do not see what another context of
 * their device has allocated. */
static bool may_use(const context_t *c, const block_t *b)
{
    if (b->kind == PINNED || b->kind == REGISTERED)
        return true;
    if (b->hidden || !(c->near >> b->device & 1))
        return false;
    return b->context == c || b->device != c->device ||
           (b->kind != OF_DEVICE && b->kind != OPENED);
}

/* The allocations that kernels of the context may use. */
static bool see(view_t *v, const context_t *c)
{
    block_t *first, *b;
    block_t **live = block_above(0, &first);
    size_t n = 0;
    for (b = first; b; n++)
        block_above(b->at + b->bytes, &b);
    v->range = malloc((n + 1) * sizeof *v->range);
    for (size_t i = 0; v->range && i < n; i++) {
        b = live[i];
        if (may_use(c, b))
            v->range[v->ranges++] = (range_t){b->at, b->at + b->bytes,
                                              b->alias};
    }
    return v->range;
}

/* Kernels ---------------------------------------------------------------- */

static uint64_t ticks(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t number(const launch_t *l, int i)
{
    uint64_t value = 0;
    memcpy(&value, l->parameter[i], l->kernel->parameter[i]);
    return value;
}

static void empty(const launch_t *l)
{
}

static void busy(const launch_t *l)
{
    struct timespec t = {(time_t)(number(l, 0) / 1000000000u),
                         (long)(number(l, 0) % 1000000000u)};
    nanosleep(&t, NULL);
}

static _Atomic unsigned *flag_of(const launch_t *l)
{
    return reach((void *)number(l, 0), sizeof(unsigned), STORE);
}

static void flag(const launch_t *l)
{
    atomic_store(flag_of(l), (unsigned)number(l, 1));
}

static void turns(const launch_t *l)
{
    _Atomic unsigned *word = flag_of(l);
    unsigned side = (unsigned)number(l, 1), i = 0;
    uint64_t begin = ticks();
    for (; i < number(l, 2); i++) {
        while (atomic_load(word) != 2 * i + side) {
            if (ticks() - begin > number(l, 3))
                goto late;
            sched_yield();
        }
        atomic_store(word, 2 * i + side + 1);
    }
late:;
    long long *done = reach((void *)number(l, 4), 8, STORE);
    done[0] = i;
    done[1] = (long long)(ticks() - begin);
}

static void touch(const launch_t *l)
{
    *(char *)reach((void *)number(l, 0), 1, STORE) = 1;
}

#define MOVE(width, source, target, unit)                 \
    {"sw_move_" #width "_" #source "_" #target "_" #unit, \
     {sizeof(sw_move_t)},                                 \
     SW_THREADS},
#define REDUCTION(op, type) \
    {"sw_reduce_" #op "_" #type, {sizeof(sw_reduce_t)}, SW_REDUCE_THREADS},
static const kernel_info_t kernels[] = {
    SW_KERNELS(MOVE) SW_REDUCTIONS(REDUCTION){"probe_empty", {0}, 0},
    {"probe_busy", {8}, 0},
    {"probe_flag", {8, 4}, 0},
    {"probe_turns", {8, 4, 4, 8, 8}, 0},
    {"standin_touch", {8}, 0}};
static void (*const others[])(const launch_t *) = {empty, busy, flag, turns,
                                                   touch};
#define KERNELS (sizeof kernels / sizeof *kernels)
#define ENGINES (SW_KERNEL_COUNT + SW_REDUCE_COUNT)
_Static_assert(KERNELS == ENGINES + sizeof others / sizeof *others,
               "each kernel has a function");

const kernel_info_t *kernel_find(const char *name)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

void kernel_run(op_t *op)
{
    launch_t *l = (launch_t *)op;
    view_t v = {.launch = l};
    size_t i = (size_t)(l->kernel - kernels);
    v.last[LOAD] = v.last[STORE] = v.last[READ] = &v.none;
    call_lock();
    bool sees = see(&v, op->context);
    call_unlock();
    view = &v;
    if (sees && setjmp(v.end) == 0) {
        if (i < SW_KERNEL_COUNT)
            processor_launch((int)i, l->blocks, l->parameter[0]);
        else if (i < ENGINES)
            processor_launch_reduce((int)(i - SW_KERNEL_COUNT), l->blocks,
                                    l->parameter[0]);
        else
            others[i - ENGINES](l);
    }
    free(v.range);
}
