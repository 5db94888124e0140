/*
 * context.c - see context.h.
 */
#include "context.h"

#include "node/base/settings.h"
#include "node/os/os.h"
#include "shape.h"
#include "workspace.h"

#include <stdlib.h>

#define CONTEXTS_MAX 32
/* So many failures in a row, and the engine leaves a context alone. */
#define FAILURES_MAX 8
#define SPINS 256 /* questions to a stream before the core is given away */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock, as are a context's users, listed, used. */
static sw_context_t *list[CONTEXTS_MAX];
static uint64_t visits;

bool sw_context_ok(sw_context_t *c, int code)
{
    /* Deinitialised; no context, or not this one; the context is destroyed; no
     * such handle. A reset of the device has these for what we had there. */
    static const int gone[] = {4, 201, 709, 400};
    if (code == SW_CUDA_OK)
        return true;
    atomic_fetch_add_explicit(&c->failures, 1, memory_order_relaxed);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (code == gone[i])
            atomic_store(&c->stale, true);
    return false;
}

/* Contexts ------------------------------------------------------------- */

static void discard(sw_context_t *c)
{
    sw_tables_forget(c);
    sw_workspaces_forget(c);
    for (int i = 0; i < SW_CHANNELS; i++)
        pthread_mutex_destroy(&c->channel[i].lock);
    pthread_mutex_destroy(&c->loading);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* The last thread that is in the context discards it. */
static void unlist(int i)
{
    sw_context_t *c = list[i];
    list[i] = NULL;
    c->listed = false;
    if (!c->users)
        discard(c);
}

static sw_context_t *new_context(sw_cuda_handle_t handle, uint64_t id)
{
    int device, major, minor;
    if (sw_cuda.cuCtxGetDevice(&device) ||
        sw_cuda.cuDeviceGetAttribute(&major, SW_CUDA_MAJOR, device) ||
        sw_cuda.cuDeviceGetAttribute(&minor, SW_CUDA_MINOR, device))
        return NULL;
    sw_context_t *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->handle = handle;
    c->id = id;
    c->sm = 10 * major + minor;
    for (int i = 0; i < SW_CHANNELS; i++)
        pthread_mutex_init(&c->channel[i].lock, NULL);
    pthread_mutex_init(&c->loading, NULL);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

/* A place for one more: an empty one, or that of the context which no thread
 * is in and whose last visit is the oldest. */
static int place_for_one(void)
{
    int oldest = -1;
    for (int i = 0; i < CONTEXTS_MAX; i++) {
        if (!list[i])
            return i;
        if (!list[i]->users &&
            (oldest < 0 || list[i]->used < list[oldest]->used))
            oldest = i;
    }
    if (oldest >= 0)
        unlist(oldest);
    return oldest;
}

/* The context is current. */
static sw_context_t *find(sw_cuda_handle_t handle, uint64_t id)
{
    int i = 0, failures = 0;
    while (i < CONTEXTS_MAX && (!list[i] || list[i]->handle != handle))
        i++;
    if (i < CONTEXTS_MAX &&
        (list[i]->id != id || atomic_load(&list[i]->stale))) {
        if (list[i]->id == id)
            failures = atomic_load(&list[i]->failures);
        unlist(i);
        i = CONTEXTS_MAX;
    }
    if (i == CONTEXTS_MAX) {
        sw_context_t *c = new_context(handle, id);
        if (!c)
            return NULL;
        if ((i = place_for_one()) < 0) {
            discard(c);
            return NULL;
        }
        c->failures = failures;
        c->listed = true;
        list[i] = c;
    }
    if (atomic_load(&list[i]->failures) >= FAILURES_MAX) {
        static _Atomic bool said;
        sw_say_once(&said,
                    "--gpu: CUDA's driver has refused %d calls in a row: the "
                    "MPI serves this context",
                    FAILURES_MAX);
        return NULL;
    }
    list[i]->users++;
    list[i]->used = ++visits;
    return list[i];
}

static void leave(sw_context_t *c)
{
    pthread_mutex_lock(&lock);
    if (--c->users == 0 && !c->listed)
        discard(c);
    pthread_mutex_unlock(&lock);
}

void sw_contexts_each(void (*show)(sw_context_t *c, const void *what),
                      const void *what)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CONTEXTS_MAX; i++)
        if (list[i])
            show(list[i], what);
    pthread_mutex_unlock(&lock);
}

/* Visits ----------------------------------------------------------------- */

/* A context for memory that has none, such as a pool's: the thread's own, if
 * that is of the same device, or else the device's primary one, if the program
 * has it. The visit holds that one, for another thread may let it go. */
static sw_cuda_handle_t context_for(int ordinal, sw_visit_t *v)
{
    int device, own, active = 0;
    unsigned flags;
    sw_cuda_handle_t primary = NULL;
    if (ordinal < 0 || sw_cuda.cuDeviceGet(&device, ordinal))
        return NULL;
    if (v->before && sw_cuda.cuCtxGetDevice(&own) == SW_CUDA_OK &&
        own == device)
        return v->before;
    if (sw_cuda.cuDevicePrimaryCtxGetState(device, &flags, &active) ||
        !active || sw_cuda.cuDevicePrimaryCtxRetain(&primary, device))
        return NULL;
    v->retained = true;
    v->device = device;
    return primary;
}

static bool begin(const sw_cuda_place_t *place, sw_visit_t *v)
{
    unsigned long long id = 0;
    if (sw_cuda.cuCtxGetCurrent(&v->before))
        return false;
    sw_cuda_handle_t handle = place->context;
    if (!handle)
        handle = context_for(place->ordinal, v);
    if (!handle || sw_cuda.cuCtxGetId(handle, &id))
        return false;
    if (handle != v->before) {
        if (sw_cuda.cuCtxPushCurrent_v2(handle))
            return false;
        v->pushed = true;
    }
    pthread_mutex_lock(&lock);
    v->context = find(handle, id);
    pthread_mutex_unlock(&lock);
    return v->context;
}

/* What is not allowed while the program captures a stream is allowed in the
 * relaxed mode, of this thread: nothing of ours is on the captured stream.
 *
 * The process owns the driver before it takes any lock: a child that finds a
 * lock taken is a child of the owner, and never comes here. */
bool sw_visit_begin(const sw_cuda_place_t *place, sw_visit_t *v)
{
    *v = (sw_visit_t){.mode = SW_CUDA_RELAXED};
    if (!sw_cuda_own() || sw_cuda.cuThreadExchangeStreamCaptureMode(&v->mode))
        return false;
    if (begin(place, v))
        return true;
    sw_visit_end(v);
    return false;
}

void sw_visit_end(sw_visit_t *v)
{
    sw_cuda_handle_t ours = NULL;
    if (v->context)
        leave(v->context);
    if (v->pushed && sw_cuda.cuCtxPopCurrent_v2(&ours))
        sw_cuda.cuCtxSetCurrent(v->before);
    if (v->retained)
        sw_cuda.cuDevicePrimaryCtxRelease_v2(v->device);
    sw_cuda.cuThreadExchangeStreamCaptureMode(&v->mode);
}

/* Channels --------------------------------------------------------------- */

sw_channel_t *sw_channel_take(sw_context_t *c)
{
    static _Atomic unsigned turn;
    for (int i = 0; i < SW_CHANNELS; i++)
        if (pthread_mutex_trylock(&c->channel[i].lock) == 0)
            return &c->channel[i];
    sw_channel_t
        *channel = &c->channel[atomic_fetch_add(&turn, 1) % SW_CHANNELS];
    pthread_mutex_lock(&channel->lock);
    return channel;
}

bool sw_stage_ready(sw_context_t *c, sw_stage_t *s, bool memory)
{
    void *host = NULL;
    if (!s->stream &&
        !sw_context_ok(
            c, sw_cuda.cuStreamCreate(&s->stream, SW_CUDA_NON_BLOCKING))) {
        s->stream = NULL;
        return false;
    }
    if (!memory || s->host)
        return true;
    if (!sw_context_ok(
            c, sw_cuda.cuMemHostAlloc(&host, SW_STAGE,
                                      SW_CUDA_PORTABLE | SW_CUDA_MAPPED)))
        return false;
    if (!sw_context_ok(c,
                       sw_cuda.cuMemHostGetDevicePointer_v2(&s->at, host, 0))) {
        sw_cuda.cuMemFreeHost(host);
        return false;
    }
    s->host = host;
    sw_cuda_count(&sw_cuda_counts.allocations);
    return true;
}

/* Where a question is refused, the waits are asked, for the bytes may be there
 * all the same. If no call says so, the stage may still be in use: nothing of
 * this context is used again. */
bool sw_stage_wait(sw_context_t *c, sw_stage_t *s)
{
    for (int i = 0;; i++) {
        int code = sw_cuda.cuStreamQuery(s->stream);
        if (code == SW_CUDA_OK)
            return true;
        if (code != SW_CUDA_NOT_READY)
            break;
        if (i < SPINS)
            sw_os_pause();
        else
            sw_os_yield();
    }
    if (sw_cuda.cuStreamSynchronize(s->stream) == SW_CUDA_OK ||
        sw_cuda.cuCtxSynchronize() == SW_CUDA_OK)
        return true;
    atomic_fetch_add_explicit(&c->failures, 1, memory_order_relaxed);
    atomic_store(&c->stale, true);
    return false;
}
