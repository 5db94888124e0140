/*
 * channel.h - all between two ranks on a context, in order.
 */
#ifndef SW_VTIME_ENGINE_BASE_CHANNEL_H
#define SW_VTIME_ENGINE_BASE_CHANNEL_H

#include "names.h"
#include "vtime/base/time.h"

/* What was sent and is not matched, and receives that were posted and are not
 * matched. A cache line. */
struct sw_channel {
    uint32_t to, from;
    uint32_t context; /* twice its place, 1 more for collectives */
    uint32_t users;   /* messages and receives that know it */
    sw_channel_t *next;
    sw_message_t *first, *last;
    sw_request_t *posted, *posted_last;
    sw_access_t *access; /* of the sender to the other's window */
};

/* The channel between these two; a new one, if there was none. */
sw_channel_t *sw_channel_find(sw_engine_t *engine, uint32_t to, uint32_t from,
                              uint64_t context);
void sw_channels_free(sw_engine_t *engine);

#endif
