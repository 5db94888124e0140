/*
 * kinds.c - the kinds of requests that there are; see track.h.
 */
#include "track.h"

#include <stdlib.h>

#define KINDS 16

static const sw_track_kind_t *kinds[KINDS];
static int count;

void sw_track_kind_add(const sw_track_kind_t *kind)
{
    for (int i = 0; i < count; i++)
        if (kinds[i] == kind)
            return;
    if (count == KINDS)
        abort();
    kinds[count++] = kind;
}

void sw_track_progress(void)
{
    static __thread bool inside __attribute__((tls_model("initial-exec")));
    if (!sw_any_tracks() || inside)
        return;
    inside = true;
    for (int i = 0; i < count; i++)
        if (kinds[i]->progress)
            kinds[i]->progress();
    sw_track_go_on();
    inside = false;
}
