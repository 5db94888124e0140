/*
 * scratch.h - working memory that its owner keeps from call to call.
 */
#ifndef SW_COLL_SCRATCH_H
#define SW_COLL_SCRATCH_H

#include "node/base/aligned.h"
#include "node/base/base.h"

#include <stdlib.h>

typedef struct {
    char *at;
    size_t bytes;
} sw_scratch_t;

/* At least n bytes of any content. NULL: no memory. */
static inline char *sw_scratch(sw_scratch_t *s, size_t n)
{
    if (n > s->bytes) {
        n = sw_round_up(n, SW_PAGE);
        free(s->at);
        s->at = sw_aligned(SW_LINE, n);
        s->bytes = s->at ? n : 0;
    }
    return s->at;
}

static inline void sw_scratch_end(sw_scratch_t *s)
{
    free(s->at);
    *s = (sw_scratch_t){.at = NULL};
}

#endif
