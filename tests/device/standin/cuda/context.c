/*
 * context.c - contexts, and the stack of them that each thread has.
 *
 * A context that ended leaves its place to the next one, which thus has the
 * same handle and another id.
 */
#include "inside.h"

#define DEPTH 32

static context_t primary[DEVICES];
static context_t *others;
static uint64_t ids;

typedef struct {
    context_t *context;
    uint64_t id;
} place_t;
static _Thread_local place_t stack[DEPTH];
static _Thread_local int depth;

context_t *context_current(void)
{
    return depth ? stack[depth - 1].context : NULL;
}

int context_check(void)
{
    const context_t *c = context_current();
    if (!c)
        return INVALID_CONTEXT;
    if (!c->users || c->id != stack[depth - 1].id)
        return CONTEXT_DESTROYED;
    return c->fault;
}

/* A new life. */
static int begin(context_t *c, int device, bool is_primary)
{
    *c = (context_t){.next = c->next,
                     .device = device,
                     .users = 1,
                     .primary = is_primary,
                     .id = ++ids,
                     .near = 1u << device};
    c->legacy = stream_make(c, true);
    return c->legacy ? 0 : OUT_OF_MEMORY;
}

static void end(context_t *c)
{
    stream_await_all(c);
    stream_end_all(c);
    event_end_all(c);
    module_end_all(c);
    block_free_all(c);
    c->users = 0;
}

/* A handle that the program passes. */
static context_t *find(handle_t handle)
{
    context_t *c = others;
    for (int i = 0; i < DEVICES; i++)
        if (handle == &primary[i])
            return primary[i].users ? &primary[i] : NULL;
    while (c && c != handle)
        c = c->next;
    return c && c->users ? c : NULL;
}

static int push(context_t *c)
{
    if (depth == DEPTH)
        return INVALID_VALUE;
    stack[depth++] = (place_t){c, c ? c->id : 0};
    return 0;
}

context_t *context_primary(int device)
{
    context_t *c = &primary[device];
    if (!c->users)
        return begin(c, device, true) ? NULL : c;
    c->users++;
    return c;
}

EXPORTED int cuCtxEnablePeerAccess(handle_t peer, unsigned flags)
{
    CALL(CONTEXT);
    context_t *c = context_current(), *p = find(peer);
    if (!p || p->device == c->device)
        return p ? INVALID_DEVICE : INVALID_CONTEXT;
    if (c->near >> p->device & 1)
        return PEER_ALREADY;
    c->near |= 1u << p->device;
    return 0;
}

EXPORTED int cuCtxDisablePeerAccess(handle_t peer)
{
    CALL(CONTEXT);
    context_t *c = context_current(), *p = find(peer);
    if (!p)
        return INVALID_CONTEXT;
    if (p->device == c->device || !(c->near >> p->device & 1))
        return PEER_NOT_YET;
    c->near &= ~(1u << p->device);
    return 0;
}

/* Primary contexts ------------------------------------------------------- */

EXPORTED int cuDevicePrimaryCtxRetain(handle_t *context, int device)
{
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    context_t *c = context_primary(device);
    *context = c;
    return c ? c->fault : OUT_OF_MEMORY;
}

EXPORTED int cuDevicePrimaryCtxRelease_v2(int device)
{
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    context_t *c = &primary[device];
    if (!c->users)
        return INVALID_CONTEXT;
    if (c->users == 1)
        end(c);
    else
        c->users--;
    return 0;
}

EXPORTED int cuDevicePrimaryCtxReset_v2(int device)
{
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    if (primary[device].users)
        end(&primary[device]);
    return 0;
}

EXPORTED int cuDevicePrimaryCtxGetState(int device, unsigned *flags,
                                        int *active)
{
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    *flags = 0;
    *active = primary[device].users > 0;
    return 0;
}

/* Contexts of the program's own ------------------------------------------ */

EXPORTED int cuCtxCreate_v2(handle_t *context, unsigned flags, int device)
{
    CALL(DRIVER);
    if (!device_exists(device))
        return INVALID_DEVICE;
    context_t *c = others;
    while (c && c->users)
        c = c->next;
    if (!c) {
        if (!(c = calloc(1, sizeof *c)))
            return OUT_OF_MEMORY;
        c->next = others;
        others = c;
    }
    int code = begin(c, device, false);
    if (!code)
        code = push(c);
    *context = c;
    return code;
}

EXPORTED int cuCtxDestroy_v2(handle_t context)
{
    CALL(DRIVER);
    context_t *c = find(context);
    if (!c || c->primary)
        return INVALID_CONTEXT;
    end(c);
    if (context_current() == c)
        depth--;
    return 0;
}

/* The thread's context --------------------------------------------------- */

EXPORTED int cuCtxGetCurrent(handle_t *context)
{
    CALL(DRIVER);
    *context = context_current();
    return 0;
}

EXPORTED int cuCtxSetCurrent(handle_t context)
{
    CALL(DRIVER);
    context_t *c = find(context);
    if (context && !c)
        return INVALID_CONTEXT;
    if (depth)
        depth--;
    return c ? push(c) : 0;
}

EXPORTED int cuCtxPushCurrent_v2(handle_t context)
{
    CALL(DRIVER);
    context_t *c = find(context);
    return c ? push(c) : INVALID_CONTEXT;
}

EXPORTED int cuCtxPopCurrent_v2(handle_t *context)
{
    CALL(DRIVER);
    if (!depth)
        return INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth].context;
    return 0;
}

EXPORTED int cuCtxGetDevice(int *device)
{
    CALL(CONTEXT);
    *device = context_current()->device;
    return 0;
}

EXPORTED int cuCtxGetId(handle_t context, unsigned long long *value)
{
    CALL(DRIVER);
    int code = context ? 0 : context_check();
    if (code)
        return code;
    const context_t *c = context ? find(context) : context_current();
    if (!c)
        return INVALID_CONTEXT;
    *value = c->id;
    return 0;
}

EXPORTED int cuCtxSynchronize(void)
{
    CALL(CONTEXT | UNSAFE);
    context_t *c = context_current();
    stream_await_all(c);
    return c->fault;
}

/* The controls of a test ------------------------------------------------- */

EXPORTED void *standin_allocate(size_t bytes, int managed)
{
    static context_t *c;
    void *at = NULL;
    call_lock();
    if (call_begin() && (!c || !c->users))
        c = context_primary(0);
    block_t *b = c ? block_allocate(managed ? MANAGED : OF_DEVICE, bytes, c)
                   : NULL;
    if (b)
        at = (void *)b->at;
    call_unlock();
    return at;
}

EXPORTED void *standin_alias(const void *device)
{
    call_lock();
    const block_t *b = block_find((uintptr_t)device);
    void *at = b ? b->alias + ((uintptr_t)device - b->at) : NULL;
    call_unlock();
    return at;
}
