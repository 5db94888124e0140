/*
 * context.h - what the engine keeps in each context of the program's.
 *
 * A buffer belongs to a context, and a call of the driver that moves its bytes
 * needs that context to be the thread's current one. A visit makes it so, and
 * restores what was current before. Streams, kernels and tables that the engine
 * has made there are found by the context's address and by its number: the
 * driver may give the address of a destroyed context to a new one, but never
 * the number.
 *
 *   context ---+--- channel 0 ---+--- stage 0: a stream, a piece of pinned
 *              |                 +--- stage 1  memory
 *              +--- channel 1 ...              (a message takes a channel)
 *              +--- functions: the kernels that were needed so far
 *              +--- tables: of layouts that are lists (shape.h)
 *
 * All of it is made when it is first needed. Nothing is on the program's
 * streams, and the streams do not wait for the default stream.
 *
 * Nothing is ever given back to a context outside of a visit: a context that
 * the program has destroyed may not even be asked whether it lives. What was
 * made there went with it.
 */
#ifndef SW_DEVICE_CONTEXT_H
#define SW_DEVICE_CONTEXT_H

#include "cuda.h"
#include "move.h"
#include "reduce.h"

#include <pthread.h>

#define SW_STAGE ((size_t)1 << 20) /* bytes of a stage's pinned memory */
#define SW_CHANNELS 4
#define SW_TABLE_BUCKETS 64
#define SW_TABLE_CLASSES 64
#define SW_FUNCTIONS (SW_KERNEL_COUNT + SW_REDUCE_COUNT)

typedef struct {
    sw_cuda_handle_t stream; /* NULL: not made yet */
    char *host;              /* NULL: not made yet */
    sw_cuda_at_t at;         /* the same memory, for the device */
} sw_stage_t;

typedef struct {
    pthread_mutex_t lock;
    sw_stage_t stage[2];
} sw_channel_t;

typedef struct sw_context {
    sw_cuda_handle_t handle;
    unsigned long long id;
    int sm; /* the device's compute capability: 90 is 9.0 */
    int users;
    bool listed;
    uint64_t used; /* the last visit's number */
    /* Something made in it can no more be used: the next visit begins anew. */
    _Atomic bool stale;
    _Atomic int failures; /* since the last success */
    sw_channel_t channel[SW_CHANNELS];
    pthread_mutex_t loading; /* for `function` to be filled, and `tries` */
    uint8_t tries[SW_FUNCTIONS];
    _Atomic(sw_cuda_handle_t) function[SW_FUNCTIONS];
    pthread_mutex_t lock; /* for what follows */
    struct sw_table_kept *table[SW_TABLE_BUCKETS];
    struct sw_table_kept *spare[SW_TABLE_CLASSES];
    _Atomic bool sweep;              /* some spare ones are large */
    struct sw_workspace *workspaces; /* spare ones: workspace.h */
} sw_context_t;

typedef struct {
    sw_context_t *context;
    sw_cuda_handle_t before; /* current before */
    bool pushed, retained;
    int mode;   /* of stream capture, before */
    int device; /* if retained */
} sw_visit_t;

/* Enter the context of a place. False: the program's state is as it was. */
bool sw_visit_begin(const sw_cuda_place_t *place, sw_visit_t *v);
void sw_visit_end(sw_visit_t *v);

/* A call of the driver in this context returned `code`: was that success? */
bool sw_context_ok(sw_context_t *c, int code);
/* A message was carried: earlier failures are forgotten. */
static inline void sw_context_succeeded(sw_context_t *c)
{
    if (atomic_load_explicit(&c->failures, memory_order_relaxed))
        atomic_store_explicit(&c->failures, 0, memory_order_relaxed);
}

/* Show each context that is listed. The list stays as it is meanwhile. */
void sw_contexts_each(void (*show)(sw_context_t *c, const void *what),
                      const void *what);

/* A channel for the calling thread alone, until it is given back. Within a
 * visit. */
sw_channel_t *sw_channel_take(sw_context_t *c);
static inline void sw_channel_give(sw_channel_t *channel)
{
    pthread_mutex_unlock(&channel->lock);
}

/* The stage has its stream, and pinned memory if that is wanted. */
bool sw_stage_ready(sw_context_t *c, sw_stage_t *s, bool memory);
/* All that was put on the stage's stream is done. False: that is not known. */
bool sw_stage_wait(sw_context_t *c, sw_stage_t *s);

#endif
