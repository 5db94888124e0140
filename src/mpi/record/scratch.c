/*
 * scratch.c - room for a call that completes many requests; see event.h.
 */
#include "event.h"

#include "profile/base/memory.h"

void *sw_event_scratch(size_t bytes)
{
    static __thread struct {
        void *at;
        size_t room;
    } mine __attribute__((tls_model("initial-exec")));
    if (mine.room < bytes) {
        size_t room = sw_max(2 * bytes, 4096);
        void *at = sw_profile_memory(room);
        if (!at)
            return NULL;
        mine.at = at;
        mine.room = room;
    }
    return mine.at;
}
