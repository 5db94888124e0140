/*
 * calls.c - how each call begins: it is counted, written down, and refused
 * where a test wishes so. Then it has the lock.
 */
#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static call_t *calls;
static call_t all = {.name = "*"};
static bool begun, orphan; /* orphan: the process forked after cuInit */
bool call_ready;
settings_t settings;

/* The child of a process that uses the driver has lost it. */
static void on_fork(void)
{
    pthread_mutex_init(&lock, NULL);
    orphan |= call_ready;
}

static const char *text(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static long number(const char *name, long otherwise)
{
    return text(name) ? strtol(text(name), NULL, 10) : otherwise;
}

static void begin(void)
{
    const char *faults = text("STANDIN_FAULTS");
    begun = true;
    settings = (settings_t){.refuse = text("STANDIN_REFUSE"),
                            .log = text("STANDIN_LOG"),
                            .delay = number("STANDIN_DELAY", 0),
                            .reuse = number("STANDIN_REUSE", 0),
                            .devices = number("STANDIN_DEVICES", 1),
                            .counts = faults && strcmp(faults, "count") == 0};
    if (settings.devices < 1 || settings.devices > DEVICES)
        settings.devices = 1;
    pthread_atfork(NULL, NULL, on_fork);
}

bool call_begin(void)
{
    if (!begun)
        begin();
    call_ready |= !orphan;
    return !orphan;
}

/* The code with which an entry "CALL[:N[:CODE]]" refuses a call, or 0. */
static int refuses(const char *entry, const call_t *call)
{
    size_t n = strcspn(entry, ":,");
    if (strncmp(entry, call->name, n) != 0 ||
        (call->name[n] && strcmp(call->name + n, "_v2") != 0))
        return 0;
    bool once = false;
    uint64_t from = 1;
    int code = UNKNOWN;
    entry += n;
    if (*entry == ':') {
        once = entry[1] == '=';
        char *rest;
        from = strtoull(entry + 1 + once, &rest, 10);
        if (*rest == ':')
            code = (int)strtol(rest + 1, NULL, 10);
    }
    return once                  ? call->count == from ? code : 0
           : call->count >= from ? code
                                 : 0;
}

static int refused(const call_t *call)
{
    for (const char *entry = settings.refuse; entry && *entry;) {
        int code = refuses(entry, call);
        if (!code)
            code = refuses(entry, &all);
        if (code)
            return code;
        entry += strcspn(entry, ",");
        entry += *entry == ',';
    }
    return 0;
}

int call_enter(call_t *call, const char *name, int asks)
{
    pthread_mutex_lock(&lock);
    if (!begun)
        begin();
    if (!call->name) {
        call->name = name;
        call->next = calls;
        calls = call;
    }
    call->count++;
    all.count++;
    int code = orphan ? NOT_INITIALIZED : refused(call);
    if (!code && asks && !call_ready)
        code = NOT_INITIALIZED;
    if (!code && (asks & CONTEXT) == CONTEXT)
        code = context_check();
    if (!code && asks & UNSAFE && capture_forbids())
        code = CAPTURE_FORBIDS;
    if (code)
        fault_log("%s: %d", name, code);
    else
        fault_log("%s", name);
    return code;
}

void call_leave(int *code)
{
    pthread_mutex_unlock(&lock);
}

void call_lock(void)
{
    pthread_mutex_lock(&lock);
}

void call_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void call_wait(bool processes)
{
    if (!processes) {
        pthread_cond_wait(&changed, &lock);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&changed, &lock, &until);
}

void call_changed(void)
{
    pthread_cond_broadcast(&changed);
}

EXPORTED uint64_t standin_count(const char *name)
{
    pthread_mutex_lock(&lock);
    uint64_t count = name ? 0 : all.count;
    for (const call_t *c = calls; c && name; c = c->next)
        if (strcmp(c->name, name) == 0)
            count += c->count;
    pthread_mutex_unlock(&lock);
    return count;
}
