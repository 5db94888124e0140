/*
 * known.c - see known.h.
 *
 * A table of one place for each hash. A layout that another one displaces lives
 * as long as it has a user: the table is one user.
 */
#include "known.h"

#include "share.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PLACES 512u

typedef struct {
    const sw_peer_t *peer;
    uint64_t serial;
    sw_layout_t *layout;
} place_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static place_t place[PLACES];
static uint64_t hits, misses;

static place_t *place_of(const sw_peer_t *peer, uint64_t serial)
{
    uint64_t h = ((uintptr_t)peer >> 6 ^ serial) * 0x9e3779b97f4a7c15u;
    return &place[(h >> 40) % PLACES];
}

/* A validated copy of our own. */
static sw_layout_t *bring(const sw_peer_t *peer, uint64_t offset,
                          uint64_t serial)
{
    sw_layout_t head;
    uint64_t span = peer->card.arena_span;
    errno = EBADMSG;
    if (!peer->arena || offset % 8 || span < sizeof head ||
        offset > span - sizeof head)
        return NULL;
    memcpy(&head, peer->arena + offset, sizeof head);
    if (head.serial != serial || head.bytes < sizeof head ||
        head.bytes > span - offset)
        return NULL;
    sw_layout_t *l = malloc(head.bytes);
    if (!l) {
        errno = ENOMEM;
        return NULL;
    }
    memcpy(l, peer->arena + offset, head.bytes);
    if (!sw_layout_valid(l, head.bytes)) {
        free(l);
        errno = EBADMSG;
        return NULL;
    }
    atomic_store_explicit(&l->users, 1, memory_order_relaxed);
    atomic_store_explicit(&l->kept, 0, memory_order_relaxed);
    return l;
}

const sw_layout_t *sw_layout_known(const sw_peer_t *peer, uint64_t offset,
                                   uint64_t serial)
{
    place_t *p = place_of(peer, serial);
    pthread_mutex_lock(&lock);
    if (p->peer != peer || p->serial != serial) {
        sw_layout_t *l = bring(peer, offset, serial);
        if (!l) {
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        if (p->layout)
            sw_layout_drop(p->layout);
        *p = (place_t){peer, serial, l};
        misses++;
    } else {
        hits++;
    }
    sw_layout_t *found = p->layout;
    sw_layout_hold(found);
    pthread_mutex_unlock(&lock);
    return found;
}

void sw_layout_done(const sw_layout_t *l)
{
    sw_layout_drop((sw_layout_t *)(uintptr_t)l);
}

void sw_layout_counts(uint64_t *found, uint64_t *brought)
{
    pthread_mutex_lock(&lock);
    *found = hits;
    *brought = misses;
    pthread_mutex_unlock(&lock);
}
