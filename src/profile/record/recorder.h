/*
 * recorder.h - one thread's part of the profile.
 *
 * The thread finds its own through thread-local data in the preloaded library,
 * whose place is fixed: one load. All recorders hang in a list that only grows.
 * A new thread takes the recorder of one that has ended. So a program with a
 * thread a task does not grow without bound.
 */
#ifndef SW_PROFILE_RECORD_RECORDER_H
#define SW_PROFILE_RECORD_RECORDER_H

#include "later.h"
#include "peers.h"
#include "record.h"
#include "sampler.h"
#include "tracer.h"

#define SW_RECORDER_CACHED 128

typedef struct sw_recorder {
    /* The call under way: the address of its frame. Calls from deeper frames
     * are the host's, or a callback's; one from a frame above it says that
     * the call was left by an exception or a longjmp. */
    const void *inside;
    uint32_t site; /* of the latest call */
    sw_sampler_t sampler;
    sw_tracer_t *tracer; /* NULL: none */
    sw_record_t *cache[SW_RECORDER_CACHED];
    sw_records_t records;
    sw_peers_t peers;
    uint32_t number; /* 0 and up, in the order of first calls */
    bool ended;
    struct sw_recorder *scratch; /* used while paused */
    sw_later_t later;
    struct sw_recorder *next;
} sw_recorder_t;

SW_API extern _Thread_local sw_recorder_t *sw_recorder
    __attribute__((tls_model("initial-exec")));

/* While recording is paused, a thread still follows its calls, because it must
 * know partners and requests when recording goes on. It uses a recorder that
 * goes into no report (sw_recorder_now). */
typedef enum {
    SW_RECORDING_OFF,
    SW_RECORDING_ON,
    SW_RECORDING_PAUSED
} sw_recording_t;
SW_API extern _Atomic int sw_recording;

/* How many processes of the node record now, on the board of one of them; where
 * the node has no board for all, one of our own, which is never 0. */
SW_API extern _Atomic uint32_t *sw_watchers;

/* Record (SW_RECORDING_ON), or end it (SW_RECORDING_OFF). */
SW_API void sw_recording_set(sw_recording_t to);

/* Go on (true) or pause, between the beginning of a profile and its end; else
 * nothing happens. Returns whether it was on, or -1. */
SW_API int sw_recording_switch(bool on);

/* Turns (mpi/turns/turns.h): the side that calls begin on, and the ticks that
 * the call under way has spent in a meeting, which are not its own. */
SW_API extern struct sw_recorder_turn {
    uint64_t away;
    uint8_t side;
} sw_recorder_turn;

/* This thread's, made at its first call; NULL: no memory. */
SW_API sw_recorder_t *sw_recorder_make(void);

/* The thread's to record in as things are, made at need: while recording is
 * paused, its scratch one. NULL: recording is off, or no memory. */
SW_API sw_recorder_t *sw_recorder_now(void);

/* One that is in no list, to try things out; NULL: no memory. */
SW_API sw_recorder_t *sw_recorder_scratch(void);

/* Close the traces of all threads. */
SW_API void sw_recorder_close_tracers(void);

/* In the end: look once more for all stamps that came too late. */
SW_API void sw_recorder_look_again(void);

/* The first of the list, newest first. */
SW_API const sw_recorder_t *sw_recorder_first(void);

/* Calls that were counted without their site, communicator and types. */
SW_API extern _Atomic uint64_t sw_recorder_folded;

/* The record of a key, which is not in the cache. Never NULL but where the
 * system has no memory at all: beyond STRAIGHTWAY_PROFILE_RECORDS records,
 * calls are folded together by procedure. */
SW_API sw_record_t *sw_recorder_record(sw_recorder_t *recorder, sw_key_t *key,
                                       uint32_t slot);

/* Returns the record, or NULL. */
static inline sw_record_t *sw_recorder_add(sw_recorder_t *recorder,
                                           sw_key_t *key,
                                           const sw_amount_t *amount)
{
    /* Site, 8 communicator, 16 bin: sites come in a row. */
    uint32_t slot = (uint32_t)(key->words[0] ^ key->words[0] >> 45 ^
                               key->words[1] >> 44) %
                    SW_RECORDER_CACHED;
    sw_record_t *r = recorder->cache[slot];
    if (sw_unlikely(!r || !sw_key_same(&r->key, key)))
        r = sw_recorder_record(recorder, key, slot);
    if (sw_likely(r))
        sw_record_add(r, amount);
    return r;
}

#endif
