/*
 * event.c - events, also those of several processes.
 *
 * Each record of an event has a number, and a word that holds this number once
 * the stream has come there. To wait for the event is to wait for the word of
 * its latest record. The words of an interprocess event lie in shared memory.
 */
#include "inside.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECORDS 64 /* that may be under way together */

typedef struct {
    word_t records, reached[RECORDS];
} state_t;

typedef struct event {
    struct event *next;
    context_t *context;
    unsigned flags;
    bool live, captured;
    int fd; /* of the state; -1: this process's own */
    state_t *state;
    struct timespec when;
} event_t;

typedef struct {
    op_t op;
    event_t *event;
    uint64_t number;
} record_t;

typedef struct {
    int process, fd;
    uint64_t inode, mark;
} name_t;
#define MARK 0x7374616e64657674u

static event_t *events;

static event_t *make(context_t *c, unsigned flags)
{
    event_t *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (event_t){events, c, flags, true, false, -1, NULL, {0, 0}};
    return e;
}

static state_t *map(int fd)
{
    void *at = mmap(NULL, sizeof(state_t), PROT_READ | PROT_WRITE, MAP_SHARED,
                    fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

static int find(handle_t handle, event_t **event)
{
    *event = NULL;
    for (event_t *e = events; e; e = e->next)
        if (e == handle && e->live) {
            *event = e;
            return e->context->fault;
        }
    return fault(NULL, INVALID_HANDLE, "there is no event %p", handle);
}

static word_t *latest(const event_t *e, uint64_t *number)
{
    *number = e->state->records;
    return &e->state->reached[*number % RECORDS];
}

static bool reached(const event_t *e)
{
    uint64_t number;
    const word_t *word = latest(e, &number);
    return *word >= number;
}

void event_end_all(const context_t *c)
{
    for (event_t *e = events; e; e = e->next)
        if (e->context == c)
            e->live = false;
}

EXPORTED int cuEventCreate(handle_t *event, unsigned flags)
{
    CALL(CONTEXT);
    bool shared = flags & INTERPROCESS;
    if (flags > 7 || (shared && !(flags & NO_TIMING)))
        return INVALID_VALUE;
    event_t *e = make(context_current(), flags);
    if (!e)
        return OUT_OF_MEMORY;
    if (!shared) {
        e->state = calloc(1, sizeof *e->state);
    } else {
        e->fd = memfd_create("event", MFD_CLOEXEC);
        if (e->fd >= 0 && ftruncate(e->fd, sizeof(state_t)) == 0)
            e->state = map(e->fd);
    }
    if (!e->state) {
        if (e->fd >= 0)
            close(e->fd);
        free(e);
        return OUT_OF_MEMORY;
    }
    events = e;
    *event = e;
    return 0;
}

/* The record stays: operations that are under way may name it. */
EXPORTED int cuEventDestroy_v2(handle_t handle)
{
    CALL(DRIVER);
    event_t *e;
    int code = find(handle, &e);
    if (!code)
        e->live = false;
    return code;
}

static void arrive(op_t *op)
{
    record_t *r = (record_t *)op;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    call_lock();
    if (r->number == r->event->state->records)
        r->event->when = now;
    atomic_store(&r->event->state->reached[r->number % RECORDS], r->number);
    call_unlock();
}

EXPORTED int cuEventRecord(handle_t handle, handle_t on)
{
    CALL(DRIVER);
    event_t *e;
    stream_t *s;
    int code = find(handle, &e);
    if (!code)
        code = stream_find(on, &s);
    if (code)
        return code;
    if (e->context != s->context)
        return fault(NULL, INVALID_HANDLE,
                     "an event is recorded in a stream of another context");
    e->captured = s->capture;
    record_t *r = op_make(sizeof *r, arrive);
    if (!r)
        return OUT_OF_MEMORY;
    r->event = e;
    r->op.always = true;
    if (!s->capture)
        r->number = atomic_fetch_add(&e->state->records, 1) + 1;
    return stream_put(s, &r->op);
}

static int question(handle_t handle, event_t **e)
{
    int code = find(handle, e);
    return code ? code : (*e)->captured ? CAPTURE_FORBIDS : 0;
}

EXPORTED int cuEventQuery(handle_t handle)
{
    CALL(DRIVER | UNSAFE);
    event_t *e;
    int code = question(handle, &e);
    return code ? code : reached(e) ? 0 : NOT_READY;
}

EXPORTED int cuEventSynchronize(handle_t handle)
{
    CALL(DRIVER | UNSAFE);
    event_t *e;
    int code = question(handle, &e);
    if (code)
        return code;
    uint64_t number;
    const word_t *word = latest(e, &number);
    while (*word < number && !e->context->fault)
        call_wait(e->fd >= 0);
    return e->context->fault;
}

EXPORTED int cuEventElapsedTime(float *ms, handle_t from, handle_t to)
{
    CALL(DRIVER);
    event_t *a, *b;
    int code = find(from, &a);
    if (!code)
        code = find(to, &b);
    if (code)
        return code;
    if ((a->flags | b->flags) & NO_TIMING || !a->state->records ||
        !b->state->records)
        return INVALID_HANDLE;
    if (!reached(a) || !reached(b))
        return NOT_READY;
    *ms = (float)((double)(b->when.tv_sec - a->when.tv_sec) * 1e3 +
                  (double)(b->when.tv_nsec - a->when.tv_nsec) * 1e-6);
    return 0;
}

static void nothing(op_t *op)
{
}

EXPORTED int cuStreamWaitEvent(handle_t stream, handle_t handle, unsigned flags)
{
    CALL(DRIVER);
    event_t *e;
    stream_t *s;
    int code = stream_find(stream, &s);
    if (!code)
        code = find(handle, &e);
    if (code)
        return code;
    op_t *op = op_make(sizeof *op, nothing);
    uint64_t number;
    const word_t *word = latest(e, &number);
    if (op && *word < number)
        op_wait(op, word, number, e->fd >= 0);
    return stream_put(s, op);
}

/* Between processes ------------------------------------------------------ */

EXPORTED int cuIpcGetEventHandle(ipc_t *handle, handle_t event)
{
    CALL(CONTEXT);
    event_t *e;
    struct stat s;
    int code = find(event, &e);
    if (code)
        return code;
    if (e->fd < 0 || fstat(e->fd, &s) != 0)
        return INVALID_HANDLE;
    name_t name = {getpid(), e->fd, s.st_ino, MARK};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &name, sizeof name);
    return 0;
}

EXPORTED int cuIpcOpenEventHandle(handle_t *event, ipc_t handle)
{
    CALL(CONTEXT);
    name_t name;
    struct stat s;
    char path[64];
    memcpy(&name, &handle, sizeof name);
    if (name.mark != MARK)
        return INVALID_VALUE;
    if (name.process == getpid())
        return INVALID_CONTEXT;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", name.process, name.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    event_t *e = make(context_current(), NO_TIMING | INTERPROCESS);
    if (fd >= 0 && e && fstat(fd, &s) == 0 && s.st_ino == name.inode)
        e->state = map(fd);
    if (!e || !e->state) {
        free(e);
        if (fd >= 0)
            close(fd);
        return INVALID_VALUE;
    }
    e->fd = fd;
    events = e;
    *event = e;
    return 0;
}
