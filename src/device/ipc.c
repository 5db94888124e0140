/*
 * ipc.c - see ipc.h.
 */
#include "ipc.h"

#include "context.h"
#include "settle.h"
#include "node/os/os.h"

#include <pthread.h>
#include <string.h>

_Static_assert(sizeof(sw_ipc_t) <= 128, "it travels with a message");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A number that no process has had. A child has another one than its parent. */
static uint64_t process(void)
{
    static uint64_t number;
    static pid_t pid;
    if (pid != sw_os_pid()) {
        pid = sw_os_pid();
        number = sw_os_unique();
    }
    return number;
}

/* The owner ---------------------------------------------------------------- */

#define HANDLES 256

static struct {
    uint64_t id; /* 0: none */
    sw_cuda_ipc_t handle;
} handles[HANDLES];

/* The id is asked once more: the handle may be of memory that has just come to
 * this address. */
static bool get_handle(const sw_cuda_place_t *place, sw_cuda_ipc_t *to)
{
    sw_visit_t v;
    sw_cuda_place_t now;
    if (!sw_visit_begin(place, &v))
        return false;
    sw_settle(place);
    bool got = sw_cuda.cuIpcGetMemHandle(to, place->start) == SW_CUDA_OK;
    sw_visit_end(&v);
    return got && sw_cuda_place((const void *)place->start, &now) &&
           now.id == place->id;
}

bool sw_ipc_export(const void *at, size_t bytes, sw_ipc_t *to)
{
    sw_cuda_place_t p;
    if (!sw_cuda_usable() || !sw_cuda_place(at, &p) || !sw_cuda_own() ||
        p.type != SW_CUDA_MEMORY_DEVICE || p.managed || !p.exports || !p.id ||
        !p.context || !sw_cuda_holds(&p, p.at, bytes))
        return false;
    size_t i = p.id % HANDLES;
    sw_cuda_ipc_t handle;
    pthread_mutex_lock(&lock);
    uint64_t owner = process();
    bool known = handles[i].id == p.id;
    if (known)
        handle = handles[i].handle;
    pthread_mutex_unlock(&lock);
    if (!known) {
        if (!get_handle(&p, &handle))
            return false;
        pthread_mutex_lock(&lock);
        handles[i].id = p.id;
        handles[i].handle = handle;
        pthread_mutex_unlock(&lock);
    }
    *to = (sw_ipc_t){.process = owner,
                     .id = p.id,
                     .start = p.start,
                     .bytes = p.bytes,
                     .offset = p.at - p.start};
    memcpy(to->handle, handle.bytes, sizeof handle.bytes);
    return true;
}

/* The peer ----------------------------------------------------------------- */

typedef struct {
    int peer;
    uint64_t process, id, start, bytes;
    sw_cuda_handle_t context; /* where it is open; NULL: no opening */
    unsigned long long context_id;
    sw_cuda_at_t at;
    int users;
    uint64_t used; /* the last use's number */
    bool old;      /* the owner has freed it */
} opening_t;

/* Under the lock. */
static opening_t opening[SW_IPC_OPENINGS];
static uint64_t uses;

/* Within a visit of its context. */
static void close_one(opening_t *o)
{
    sw_cuda.cuIpcCloseMemHandle(o->at);
    *o = (opening_t){.peer = -1};
}

static bool is_of(const opening_t *o, const sw_context_t *c)
{
    return o->context == c->handle && o->context_id == c->id;
}

/* Openings that this context had before it ended and began again went with its
 * earlier life. Those of memory that the owner has freed are closed. */
static void review(const sw_context_t *c, const sw_ipc_t *from, int peer)
{
    for (int i = 0; i < SW_IPC_OPENINGS; i++) {
        opening_t *o = &opening[i];
        if (o->context == c->handle && o->context_id != c->id && !o->users)
            *o = (opening_t){.peer = -1};
        if (!o->context || !is_of(o, c))
            continue;
        if (o->peer == peer &&
            (o->process != from->process ||
             (o->id != from->id && o->start < from->start + from->bytes &&
              from->start < o->start + o->bytes)))
            o->old = true;
        if (o->old && !o->users)
            close_one(o);
    }
}

/* A place for one more; NULL: all are in use. Those of another context cannot
 * be closed here, and are forgotten if need be: they go with that context. */
static opening_t *free_place(const sw_context_t *c)
{
    opening_t *oldest = NULL;
    for (int i = 0; i < SW_IPC_OPENINGS; i++) {
        opening_t *o = &opening[i];
        if (!o->context)
            return o;
        if (o->users)
            continue;
        bool closer = oldest && is_of(o, c) > is_of(oldest, c);
        bool alike = oldest && is_of(o, c) == is_of(oldest, c);
        if (!oldest || closer || (alike && o->used < oldest->used))
            oldest = o;
    }
    if (oldest && is_of(oldest, c))
        close_one(oldest);
    else if (oldest)
        *oldest = (opening_t){.peer = -1};
    return oldest;
}

/* The driver has opened something: is it what the peer says? */
static bool is_right(sw_cuda_at_t at, const sw_ipc_t *from)
{
    sw_cuda_place_t p;
    return sw_cuda_place((const void *)at, &p) &&
           p.type == SW_CUDA_MEMORY_DEVICE && p.start == at &&
           p.bytes == from->bytes;
}

static opening_t *open_one(const sw_context_t *c, const sw_ipc_t *from,
                           int peer)
{
    sw_cuda_ipc_t handle;
    sw_cuda_at_t at = 0;
    opening_t *o = free_place(c);
    if (!o)
        return NULL;
    memcpy(handle.bytes, from->handle, sizeof handle.bytes);
    if (sw_cuda.cuIpcOpenMemHandle_v2(&at, handle, SW_CUDA_LAZY_PEERS))
        return NULL;
    if (!is_right(at, from)) {
        sw_cuda.cuIpcCloseMemHandle(at);
        return NULL;
    }
    *o = (opening_t){.peer = peer,
                     .process = from->process,
                     .id = from->id,
                     .start = from->start,
                     .bytes = from->bytes,
                     .context = c->handle,
                     .context_id = c->id,
                     .at = at};
    return o;
}

static opening_t *find(const sw_context_t *c, const sw_ipc_t *from, int peer)
{
    for (int i = 0; i < SW_IPC_OPENINGS; i++) {
        opening_t *o = &opening[i];
        if (o->context && o->peer == peer && o->id == from->id &&
            o->process == from->process && !o->old && is_of(o, c))
            return o->bytes == from->bytes ? o : NULL;
    }
    review(c, from, peer);
    return open_one(c, from, peer);
}

/* Whose context is to have the opening. Memory of no context, and the first
 * device's, stands for the thread's current one. */
static bool home_of(const void *beside, sw_cuda_place_t *home)
{
    if (beside && sw_cuda_place(beside, home) &&
        home->type == SW_CUDA_MEMORY_DEVICE && !home->managed)
        return true;
    *home = (sw_cuda_place_t){.ordinal = 0};
    return sw_cuda.cuCtxGetCurrent(&home->context) == SW_CUDA_OK;
}

void *sw_ipc_open(const sw_ipc_t *from, int peer, const void *beside)
{
    /* A peer may write while this process reads. */
    sw_ipc_t f = *from;
    sw_visit_t v;
    sw_cuda_place_t home;
    void *found = NULL;
    if (!sw_cuda_usable() || !f.id || f.offset >= f.bytes ||
        f.start + f.bytes < f.start)
        return NULL;
    if (!home_of(beside, &home) || !sw_visit_begin(&home, &v))
        return NULL;
    pthread_mutex_lock(&lock);
    opening_t *o = f.process == process() ? NULL : find(v.context, &f, peer);
    if (o) {
        o->users++;
        o->used = ++uses;
        found = (void *)(o->at + f.offset);
    }
    pthread_mutex_unlock(&lock);
    sw_visit_end(&v);
    return found;
}

void sw_ipc_done(const void *at)
{
    sw_cuda_at_t place = (uintptr_t)at;
    if (!sw_cuda_usable())
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SW_IPC_OPENINGS; i++) {
        opening_t *o = &opening[i];
        if (o->context && o->users && place - o->at < o->bytes) {
            o->users--;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

int sw_ipc_openings(void)
{
    int n = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SW_IPC_OPENINGS; i++)
        n += opening[i].context != NULL;
    pthread_mutex_unlock(&lock);
    return n;
}
