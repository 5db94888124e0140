/*
 * comm_pair.c - see comm_pair.h.
 */
#include "comm_pair.h"

#include "link.h"
#include "node/base/settings.h"

#include <pthread.h>
#include <stdlib.h>

/* So many were initialized. */
struct sw_pair_count {
    struct sw_pair_count *next;
    int sender, receiver, tag;
    uint64_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void out_of_memory(void)
{
    sw_say("out of memory for a partitioned message");
    abort();                    /* the other member counts it */
}

static uint64_t counted(sw_comm_t *c, int sender, int receiver, int tag)
{
    pthread_mutex_lock(&lock);
    struct sw_pair_count *p = c->pairs;
    while (p && (p->sender != sender || p->receiver != receiver ||
                 p->tag != tag))
        p = p->next;
    if (!p && (p = malloc(sizeof *p))) {
        *p = (struct sw_pair_count){c->pairs, sender, receiver, tag, 0};
        c->pairs = p;
    }
    if (!p)
        out_of_memory();
    uint64_t count = ++p->count;
    pthread_mutex_unlock(&lock);
    return count;
}

void sw_comm_pairs_free(sw_comm_t *c)
{
    struct sw_pair_count *p = c->pairs;
    while (p) {
        struct sw_pair_count *next = p->next;
        free(p);
        p = next;
    }
    c->pairs = NULL;
}

/* As comm_slates.c demands it of the members of a communicator. */
static bool is_helped(int rank)
{
    return sw_world.at[sw_world_place(rank)].said.self.helper;
}

static sw_team_t *team_of(int sender, int receiver, int me)
{
    const sw_place_t *at[] = {&sw_world.at[sw_world_place(sender)],
                              &sw_world.at[sw_world_place(receiver)]};
    sw_introduction_t all[] = {at[0]->said.self, at[1]->said.self};
    sw_peer_t **peer = malloc(2 * sizeof *peer);
    if (!peer)
        out_of_memory();
    peer[0] = at[0]->peer;
    peer[1] = at[1]->peer;
    return sw_team_make(all, 2, me, peer, true, false, false);
}

bool sw_comm_pair(sw_comm_t *c, int sender, int receiver, int tag,
                  sw_comm_pair_t *to)
{
    int other = c->me == sender ? receiver : sender;
    if (other == c->me || !c->context_id || atomic_load(&sw_comms_closing) ||
        !sw_link(c, other) || !is_helped(c->members->rank[c->me]) ||
        !is_helped(c->members->rank[other]))
        return false;
    uint64_t name = sw_mixed(c->context_id, counted(c, sender, receiver, tag));
    name = sw_mixed(name, (uint64_t)(uint32_t)sender << 32 | (uint32_t)receiver);
    *to = (sw_comm_pair_t){
        .team = team_of(c->members->rank[sender], c->members->rank[receiver],
                        c->me == receiver),
        .name = sw_mixed(name, (uint32_t)tag)};
    return true;
}
