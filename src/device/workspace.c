/*
 * workspace.c - see workspace.h.
 */
#include "workspace.h"

#include "context.h"

#include <stdlib.h>

#define GRAIN ((uint64_t)2 << 20)        /* as the driver's own blocks */
#define KEPT_BYTES ((uint64_t)256 << 20) /* of the largest that is kept */
#define KEPT 4                           /* in a context */

struct sw_workspace {
    struct sw_workspace *next; /* the larger ones come later */
    sw_cuda_handle_t context;
    unsigned long long id; /* of the context */
    sw_cuda_at_t at;
    uint64_t bytes;
};

static bool enter(const void *like, sw_visit_t *v)
{
    sw_cuda_place_t place;
    return sw_cuda_usable() && sw_cuda_place(like, &place) && place.context &&
           sw_visit_begin(&place, v);
}

/* The smallest that has room. Where none has, the largest leaves the list, too:
 * to be freed. */
static sw_workspace_t *unlist(sw_context_t *c, uint64_t bytes)
{
    sw_workspace_t **at = &c->workspaces, *w;
    pthread_mutex_lock(&c->lock);
    while (*at && (*at)->bytes < bytes && (*at)->next)
        at = &(*at)->next;
    w = *at;
    if (w)
        *at = w->next;
    pthread_mutex_unlock(&c->lock);
    return w;
}

static sw_workspace_t *make(sw_context_t *c, uint64_t bytes)
{
    sw_workspace_t *w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (sw_workspace_t){
        .context = c->handle, .id = c->id, .bytes = sw_round_up(bytes, GRAIN)};
    if (!sw_context_ok(c, sw_cuda.cuMemAlloc_v2(&w->at, w->bytes))) {
        free(w);
        return NULL;
    }
    sw_cuda_count(&sw_cuda_counts.allocations);
    return w;
}

sw_workspace_t *sw_workspace_take(const void *like, uint64_t bytes)
{
    sw_visit_t v;
    if (!enter(like, &v))
        return NULL;
    sw_workspace_t *w = unlist(v.context, bytes);
    if (w && w->bytes < bytes) {
        sw_context_ok(v.context, sw_cuda.cuMemFree_v2(w->at));
        free(w);
        w = NULL;
    }
    if (!w)
        w = make(v.context, bytes);
    sw_visit_end(&v);
    return w;
}

void *sw_workspace_at(const sw_workspace_t *w)
{
    return (void *)(uintptr_t)w->at;
}

/* False: there are enough. */
static bool list(sw_context_t *c, sw_workspace_t *w)
{
    int n = 0;
    sw_workspace_t **to = &c->workspaces;
    pthread_mutex_lock(&c->lock);
    for (const sw_workspace_t *i = c->workspaces; i; i = i->next)
        n++;
    while (*to && (*to)->bytes < w->bytes)
        to = &(*to)->next;
    if (n < KEPT) {
        w->next = *to;
        *to = w;
    }
    pthread_mutex_unlock(&c->lock);
    return n < KEPT;
}

/* Of a context that is gone, or that the engine has left alone, the driver is
 * asked nothing. */
void sw_workspace_give(sw_workspace_t *w, const void *like, bool done)
{
    sw_visit_t v;
    bool kept = false;
    if (!w)
        return;
    if (enter(like, &v)) {
        sw_context_t *c = v.context;
        bool same = c->handle == w->context && c->id == w->id;
        kept = same && done && w->bytes <= KEPT_BYTES && list(c, w);
        if (same && !kept)
            sw_context_ok(c, sw_cuda.cuMemFree_v2(w->at));
        sw_visit_end(&v);
    }
    if (!kept)
        free(w);
}

void sw_workspaces_forget(sw_context_t *c)
{
    for (sw_workspace_t *w = c->workspaces, *next; w; w = next) {
        next = w->next;
        free(w);
    }
}
