/*
 * kinds.c - the kinds of requests that there are; see shadow.h.
 */
#include "shadow.h"

#include <stdlib.h>

#define KINDS 16

static const sw_shadow_kind_t *kinds[KINDS];
static int count;

void sw_shadow_kind_add(const sw_shadow_kind_t *kind)
{
    for (int i = 0; i < count; i++)
        if (kinds[i] == kind)
            return;
    if (count == KINDS)
        abort();
    kinds[count++] = kind;
}

void sw_shadow_progress(void)
{
    static __thread bool inside __attribute__((tls_model("initial-exec")));
    if (!sw_any_shadows() || inside)
        return;
    inside = true;
    for (int i = 0; i < count; i++)
        if (kinds[i]->progress)
            kinds[i]->progress();
    sw_shadow_go_on();
    inside = false;
}
