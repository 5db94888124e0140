/*
 * message.h - a message on its way, or in its channel.
 */
#ifndef SW_VTIME_ENGINE_BASE_MESSAGE_H
#define SW_VTIME_ENGINE_BASE_MESSAGE_H

#include "names.h"
#include "vtime/base/time.h"

/* What travels for one rank alone (window.c). */
typedef enum {
    SW_REMOTE_NOT,
    SW_REMOTE_PUT,
    SW_REMOTE_REDUCE,
    SW_REMOTE_FETCH, /* to the target, which answers */
    SW_REMOTE_ANSWER,
} sw_remote_t;

struct sw_message {
    /* What is needed when something happens to it, in two cache lines. */
    sw_channel_t *channel;
    sw_request_t *send, *receive;
    uint32_t from, to; /* as the channel's */
    int32_t tag;
    bool rendezvous; /* its request is on the way, not its data */
    bool known;      /* `arrival` is: of the request, or of data */
    bool network, matched;
    bool loose;     /* counted in its sender's `loose` */
    bool early;     /* in its place, but not sent (thread.c) */
    bool synced;    /* its send ends as its receive begins */
    uint8_t remote; /* sw_remote_t; then of the origin: `access` */
    sw_ps_t ready, latency, transfer, gap, receive_time, answer;
    sw_ps_t began, arrival; /* began: its sender's call */
    uint64_t bytes, number;
    double scale;
    sw_access_t *access;
    sw_message_t *next, *previous; /* in its channel */
    sw_message_t *newer, *older;   /* of all unmatched of the receiver */
};

#endif
