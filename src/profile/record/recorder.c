/*
 * recorder.c - see recorder.h.
 */
#include "recorder.h"

#include "profile/base/memory.h"
#include "node/base/settings.h"

#include <pthread.h>

_Thread_local sw_recorder_t *sw_recorder
    __attribute__((tls_model("initial-exec")));
_Atomic int sw_recording;
static _Atomic uint32_t unknown = 1;
struct sw_recorder_turn sw_recorder_turn;
_Atomic uint32_t *sw_watchers = &unknown;
_Atomic uint64_t sw_recorder_folded;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(sw_recorder_t *) first;
static uint32_t made;
static _Atomic int64_t records; /* of all threads */
static pthread_key_t key_of_thread;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *recorder)
{
    sw_recorder_t *r = recorder;
    sw_recorder = NULL;
    pthread_mutex_lock(&lock);
    r->ended = true;
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&key_of_thread, thread_ends);
}

sw_recorder_t *sw_recorder_make(void)
{
    pthread_once(&key_once, make_key);
    pthread_mutex_lock(&lock);
    sw_recorder_t *r = atomic_load(&first);
    while (r && !r->ended)
        r = r->next;
    if (r) {
        r->ended = false;
        r->inside = NULL;
    } else if ((r = sw_profile_memory(sizeof *r))) {
        r->number = made++;
        r->next = atomic_load(&first);
        sw_sampler_start(&r->sampler, r->number);
        if (sw_tracing)
            r->tracer = sw_tracer_make(r->number, false);
        atomic_store_explicit(&first, r, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    if (r)
        pthread_setspecific(key_of_thread, r);
    sw_recorder = r;
    return r;
}

sw_recorder_t *sw_recorder_scratch(void)
{
    sw_recorder_t *r = sw_profile_memory(sizeof *r);
    if (r)
        sw_sampler_start(&r->sampler, 0);
    return r;
}

sw_recorder_t *sw_recorder_now(void)
{
    int state = atomic_load_explicit(&sw_recording, memory_order_relaxed);
    sw_recorder_t *r = sw_recorder;
    if (state == SW_RECORDING_OFF || (!r && !(r = sw_recorder_make())))
        return NULL;
    if (state == SW_RECORDING_ON)
        return r;
    if (!r->scratch)
        r->scratch = sw_recorder_scratch();
    return r->scratch;
}

/* The processes' counts are hints, and order nothing. A rank that sees one late
 * posts a stamp in vain, or misses one of the moment when recording began. */
static void watch(bool before, bool now)
{
    if (now && !before)
        atomic_fetch_add_explicit(sw_watchers, 1, memory_order_relaxed);
    else if (before && !now)
        atomic_fetch_sub_explicit(sw_watchers, 1, memory_order_relaxed);
}

void sw_recording_set(sw_recording_t to)
{
    watch(atomic_exchange(&sw_recording, (int)to) == SW_RECORDING_ON,
          to == SW_RECORDING_ON);
}

int sw_recording_switch(bool on)
{
    int from = on ? SW_RECORDING_PAUSED : SW_RECORDING_ON;
    int to = on ? SW_RECORDING_ON : SW_RECORDING_PAUSED;
    if (atomic_compare_exchange_strong(&sw_recording, &from, to)) {
        watch(!on, on);
        return !on;
    }
    return from == SW_RECORDING_OFF ? -1 : on;
}

void sw_recorder_close_tracers(void)
{
    for (const sw_recorder_t *r = sw_recorder_first(); r; r = r->next)
        if (r->tracer)
            sw_tracer_close(r->tracer);
}

void sw_recorder_look_again(void)
{
    for (sw_recorder_t *r = atomic_load(&first); r; r = r->next)
        sw_later_look(&r->later, UINT64_MAX);
}

const sw_recorder_t *sw_recorder_first(void)
{
    return atomic_load_explicit(&first, memory_order_acquire);
}

sw_record_t *sw_recorder_record(sw_recorder_t *recorder, sw_key_t *key,
                                uint32_t slot)
{
    uint32_t before = recorder->records.used;
    uint32_t room = atomic_load(&records) < sw_settings.profile_records
                        ? UINT32_MAX
                        : 0;
    sw_record_t *r = sw_records_find(&recorder->records, key, room);
    if (sw_unlikely(!r)) {
        atomic_fetch_add(&sw_recorder_folded, 1);
        sw_key_t folded = {.procedure = key->procedure, .region = key->region};
        return sw_records_find(&recorder->records, &folded, UINT32_MAX);
    }
    if (recorder->records.used != before)
        atomic_fetch_add(&records, 1);
    recorder->cache[slot] = r;
    return r;
}
