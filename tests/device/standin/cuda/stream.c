/*
 * stream.c - a stream is a thread that takes operations from a queue.
 *
 * Two counters say how many operations a stream was given and how many have
 * ended. What must wait for a stream waits for a value of the second one. By
 * that alone the default stream waits for the others, and they for it.
 */
#include "inside.h"

#include <signal.h>
#include <unistd.h>

static stream_t *streams;
static unsigned running; /* operations, in all streams */
static bool held;

/* Operations ------------------------------------------------------------- */

void *op_make(size_t bytes, void (*run)(op_t *op))
{
    op_t *op = calloc(1, bytes);
    if (op)
        op->run = run;
    return op;
}

void op_wait(op_t *op, const word_t *word, uint64_t value, bool shared)
{
    wait_t *w = malloc(sizeof *w);
    if (!w)
        abort();
    *w = (wait_t){op->wait, word, value, shared};
    op->wait = w;
}

void stream_drop(op_t *op)
{
    for (wait_t *w = op->wait, *next; w; w = next) {
        next = w->next;
        free(w);
    }
    free(op);
}

/* May the operation begin? If it waits for another process, look again soon. */
static bool may_begin(op_t *op, bool *shared)
{
    *shared = false;
    while (op->wait) {
        wait_t *w = op->wait;
        if (atomic_load(w->word) < w->value) {
            *shared = w->shared;
            return false;
        }
        op->wait = w->next;
        free(w);
    }
    return !held;
}

static bool may_run(const op_t *op)
{
    for (int i = 0; i < 2 && !op->context->fault; i++)
        if (op->use[i] && !op->use[i]->live)
            fault(
                op->context, ILLEGAL_ADDRESS,
                "an operation of a stream met memory that was freed, at %#llx",
                (unsigned long long)op->use[i]->at);
    return op->always || !op->context->fault;
}

static void *serve(void *stream)
{
    stream_t *s = stream;
    bool shared;
    call_lock();
    while (s->live || s->head) {
        op_t *op = s->head;
        if (!op || !may_begin(op, &shared)) {
            call_wait(op && shared);
            continue;
        }
        if (settings.delay && !op->delayed) {
            op->delayed = true;
            call_unlock();
            usleep((useconds_t)settings.delay);
            call_lock();
            continue;
        }
        if (may_run(op)) {
            running++;
            call_unlock();
            op->run(op);
            call_lock();
            running--;
        }
        if (!running)
            file_bury();
        if (!(s->head = op->next))
            s->tail = &s->head;
        stream_drop(op);
        s->done++;
        call_changed();
    }
    call_unlock();
    return NULL;
}

/* The signals of the process are its own threads'. */
static int start(stream_t *s)
{
    pthread_t thread;
    pthread_attr_t detached;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread, &detached, serve, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    s->works = !code;
    return code ? OUT_OF_MEMORY : 0;
}

/* Streams ---------------------------------------------------------------- */

stream_t *stream_make(context_t *c, bool blocking)
{
    stream_t *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->context = c;
    s->blocking = blocking;
    s->live = true;
    s->tail = &s->head;
    s->next = streams;
    streams = s;
    return s;
}

int stream_find(handle_t handle, stream_t **stream)
{
    *stream = NULL;
    if ((uintptr_t)handle < 2) { /* NULL and CU_STREAM_LEGACY */
        int code = context_check();
        if (!code)
            *stream = context_current()->legacy;
        return code;
    }
    for (stream_t *s = streams; s; s = s->next)
        if (s == handle && s->live) {
            *stream = s;
            return s->context->fault;
        }
    return fault(NULL, INVALID_HANDLE, "there is no stream %p", handle);
}

int stream_put(stream_t *s, op_t *op)
{
    context_t *c = s->context;
    if (!op)
        return OUT_OF_MEMORY;
    int code = s == c->legacy && capture_beside(c, true) ? CAPTURE_IMPLICIT : 0;
    if (code || s->capture || (!s->works && (code = start(s)))) {
        stream_drop(op); /* what is captured does not run */
        return code;
    }
    op->context = c;
    if (s == c->legacy) {
        for (stream_t *o = streams; o; o = o->next)
            if (o != s && o->context == c && o->blocking && o->done < o->put)
                op_wait(op, &o->done, o->put, false);
    } else if (s->blocking && c->legacy->done < c->legacy->put) {
        op_wait(op, &c->legacy->done, c->legacy->put, false);
    }
    *s->tail = op;
    s->tail = &op->next;
    s->put++;
    call_changed();
    return 0;
}

void stream_await(stream_t *s)
{
    for (uint64_t all = s->put; s->done < all;)
        call_wait(false);
}

void stream_await_all(const context_t *c)
{
    for (stream_t *s = streams; s; s = s->next)
        if (s->context == c)
            stream_await(s);
    if (!running)
        file_bury();
}

void stream_end_all(const context_t *c)
{
    for (stream_t *s = streams; s; s = s->next)
        if (s->context == c)
            s->live = false;
    call_changed();
}

EXPORTED int cuStreamCreate(handle_t *stream, unsigned flags)
{
    CALL(CONTEXT);
    if (flags > 1)
        return INVALID_VALUE;
    *stream = stream_make(context_current(), flags == 0);
    return *stream ? 0 : OUT_OF_MEMORY;
}

EXPORTED int cuStreamCreateWithPriority(handle_t *stream, unsigned flags,
                                        int priority)
{
    return cuStreamCreate(stream, flags);
}

/* The stream ends when its work has. */
EXPORTED int cuStreamDestroy_v2(handle_t handle)
{
    CALL(DRIVER);
    stream_t *s;
    int code = stream_find(handle, &s);
    if (code)
        return code;
    if (s == s->context->legacy)
        return INVALID_HANDLE;
    s->live = false;
    call_changed();
    return 0;
}

static int question(handle_t handle, stream_t **s)
{
    int code = stream_find(handle, s);
    if (!code && (*s)->capture) {
        (*s)->spoilt = true;
        code = CAPTURE_FORBIDS;
    }
    return code;
}

EXPORTED int cuStreamSynchronize(handle_t handle)
{
    CALL(DRIVER | UNSAFE);
    stream_t *s;
    int code = question(handle, &s);
    if (code)
        return code;
    stream_await(s);
    return s->context->fault;
}

EXPORTED int cuStreamQuery(handle_t handle)
{
    CALL(DRIVER | UNSAFE);
    stream_t *s;
    int code = question(handle, &s);
    return code ? code : s->done < s->put ? NOT_READY : 0;
}

/* The controls of a test ------------------------------------------------- */

EXPORTED void standin_hold(void)
{
    call_lock();
    held = true;
    while (running)
        call_wait(false);
    call_unlock();
}

EXPORTED void standin_release(void)
{
    call_lock();
    held = false;
    call_changed();
    call_unlock();
}
