/*
 * p2p_plan.h - what all ranks know of a round of messages: which rank sends
 * what, and to which rank. Each side chooses how it calls, within the shape.
 *
 * A round must end on any MPI, and each receive must get the message that the
 * plan means. Both follow from the order of the items.
 *
 *   walk        Every rank goes through the items in order, and may stop at
 *               each. Both ends begin an item no later than at its turn, and no
 *               rank waits for an item before its turn. So the rank whose turn
 *               is earliest can always go on, even if the MPI buffers no send.
 *               A rank posts receives in the items' order, some before their
 *               turn.
 *   flock       Every rank begins all its sends, then receives, then
 *               completes what is left.
 *   wild        The same on one communicator, between two barriers, with
 *               receives from any source: the source tells which message has
 *               come, since the messages of one source come in order.
 *   ready       All receives are posted, a barrier, then the sends.
 *   persistent  As ready without the barrier, each request used again and
 *               again.
 *
 * Receives posted in the order of the sends match them whatever the tags, so
 * a receive may leave the tag open; and where the tag is the message's alone
 * it may leave the source open.
 */
#ifndef P2P_PLAN_H
#define P2P_PLAN_H

#include "mpi/random/p2p_buffers.h"

#define MEMBERS_MAX 64
#define CIRCLES_MAX 12
#define ITEMS_MAX 24
#define THREADS_MAX 4
#define TAG_ALONE 1000   /* tags of one message only begin here */
#define TAGS_ALONE 5000  /* so many for each thread */
#define TAG_NOBODY 30000 /* no rank sends with these */

/* A communicator, or one direction of one between two groups. */
typedef struct {
    MPI_Comm comm; /* MPI_COMM_NULL where left out */
    const char *name;
    int senders, receivers;
    int from[MEMBERS_MAX], to[MEMBERS_MAX]; /* ranks in the world */
    int as_sender, as_receiver;             /* mine, or -1 */
    bool between;                           /* two groups */
    bool crowded;                           /* several threads use it */
    bool mine_to_free;
} circle_t;

enum { WALK, FLOCK, WILD, READY, PERSISTENT, SHAPES };
static const char *const shape_names[SHAPES] = {"walk", "flock", "wild",
                                                "ready", "persistent"};

/* A message, from the first rank of the list to the second, or a ring of
 * exchanges. */
typedef struct {
    bool ring, chain;
    circle_t *circle;
    int n, who[4]; /* ranks in the circle */
    int tag;
    bool alone;  /* no other message has the tag */
    bool let_go; /* the sender frees its request */
    const element_t *element;
    size_t k;  /* elements */
    int grain; /* which k is a multiple of */
    uint64_t key;
} item_t;

typedef struct {
    long index;
    uint64_t key;
    int shape, times;
    bool fence; /* a barrier at the end */
    int items;
    item_t item[ITEMS_MAX];
} plan_t;

/* Bytes of a message: any size, and the ones where things change. */
static size_t draw_bytes(rng_t *r, size_t max)
{
    static const size_t edges[] = {192,   256,   1000,  4096,  8192,
                                   16384, 32768, 65536, 131072};
    size_t n;
    switch (rng_below(r, 8)) {
    case 0:
    case 1: n = 192; break;
    case 2: n = 184 + rng_below(r, 17); break;
    case 3:
    case 4:
        n = edges[rng_below(r, rng_one_in(r, 3) ? LENGTH(edges) : 5)];
        n += rng_one_in(r, 2) ? 0 : rng_below(r, 33) - 16;
        break;
    case 5: n = rng_size(r, rng_one_in(r, 6) ? max : 32768); break;
    default: n = rng_size(r, 2048);
    }
    return n > max ? max : n;
}

/* Elements of a message. MPICH and its kin cut large ones into segments, and
 * fail where the cut falls inside an element that is more than one word. */
static size_t draw_count(rng_t *r, const element_t *e, size_t max)
{
#ifndef OMPI_MAJOR_VERSION
    if ((e->packed > 8 || e->loose || e->derived) && max > 8192)
        max = 8192;
#endif
    return draw_bytes(r, max) / e->packed;
}

static void draw_message(rng_t *r, item_t *m, size_t max)
{
    static const int grains[] = {1, 2, 3, 4, 6, 8, 12, 24, 64, 100};
    /* Mostly the types that most programs use. */
    m->element = &elements[rng_one_in(r, 3)
                               ? rng_below(r, (size_t)element_count)
                               : rng_below(r, 4)];
    m->k = draw_count(r, m->element, max);
    m->grain = grains[rng_below(r, LENGTH(grains))];
    if (m->k >= 2 * (size_t)m->grain && rng_one_in(r, 2))
        m->k -= m->k % (size_t)m->grain;
    if (m->k % (size_t)m->grain)
        m->grain = 1;
}

/* The plan of round `index` of thread `thread`. `alone` counts the tags that
 * have been given to one message only. */
static void draw_plan(plan_t *p, uint64_t seed, int thread, long index,
                      circle_t *circles, int circle_count, long *alone,
                      size_t max, int only_shape, bool rings)
{
    p->key = key2(seed, key2((uint64_t)thread, (uint64_t)index));
    p->index = index;
    rng_t r = rng_from(p->key);
    static const int shapes[] = {WALK, WALK,  WALK,      WALK,  WALK,
                                 WALK, FLOCK, FLOCK,     FLOCK, WILD,
                                 WILD, READY, PERSISTENT};
    p->shape = shapes[rng_below(&r, LENGTH(shapes))];
    if (only_shape >= 0)
        p->shape = only_shape;
    p->times = p->shape == PERSISTENT ? 1 + (int)rng_below(&r, 3) : 1;
    p->fence = p->shape == WILD || rng_one_in(&r, 8);
    p->items = 1 + (int)rng_size(&r, ITEMS_MAX - 1);

    bool stream = rng_one_in(&r, 4), tags_alone = rng_one_in(&r, 3);
    for (int i = 0; i < p->items; i++) {
        item_t *m = &p->item[i];
        *m = (item_t){.n = 2, .key = rng_next(&r)};
        if (i > 0 && stream && !rng_one_in(&r, 8)) {
            /* One more of the same, perhaps of another size. */
            uint64_t key = m->key;
            *m = p->item[i - 1];
            m->key = key;
            if (rng_one_in(&r, 2) && p->shape != WILD)
                draw_message(&r, m, max);
            m->let_go = false;
        } else {
            if (i > 0 && p->shape == WILD)
                m->circle = p->item[0].circle;
            else
                do
                    m->circle = &circles[rng_below(&r, (size_t)circle_count)];
                while (p->shape == WILD && m->circle->crowded);
            const circle_t *c = m->circle;
            m->ring = p->shape == WALK && !c->between && rng_one_in(&r, 4) &&
                      rings;
            m->who[0] = (int)rng_below(&r, (size_t)c->senders);
            m->who[1] = (int)rng_below(&r, (size_t)c->receivers);
            if (!c->between && m->who[1] == m->who[0] && !rng_one_in(&r, 6))
                m->who[1] = (m->who[0] + 1) % c->receivers;
            if (m->ring) {
                int order[MEMBERS_MAX];
                shuffle(&r, order, c->senders);
                m->n = 1 + (int)rng_below(
                               &r, c->senders < 4 ? (size_t)c->senders : 4);
                for (int j = 0; j < m->n; j++)
                    m->who[j] = order[j];
                m->chain = rng_one_in(&r, 4);
            }
            draw_message(&r, m, max);
        }
        if (p->shape == WILD && i > 0) {
            /* One datatype, since the receiver cannot know which message
             * comes. */
            m->element = p->item[0].element;
            m->k = draw_count(&r, m->element, max);
            m->grain = 1;
        }
        m->let_go = !m->ring && rng_one_in(&r, 40);
        p->fence = p->fence || m->let_go;
        m->alone = tags_alone || p->shape == PERSISTENT || rng_one_in(&r, 3);
        m->tag = 8 * thread + (int)rng_below(&r, 5);
        if (m->alone)
            m->tag = TAG_ALONE + TAGS_ALONE * thread +
                     (int)((*alone)++ % TAGS_ALONE);
    }
}

#endif
