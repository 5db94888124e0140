/*
 * link.c - see link.h.
 */
#include "link.h"

#include "call.h"
#include "guard.h"
#include "posted.h"
#include "serve.h"
#include "../node/control.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 2u

bool sw_linked, sw_threaded, sw_link_stages;
size_t sw_link_scattered_min, sw_link_coarse_min;
sw_token_t sw_link_cookie;
int sw_link_place;
MPI_Comm sw_link_comm = MPI_COMM_NULL;

static sw_link_t *links;        /* by place on the node                   */
static int places;
static sw_link_t **world;       /* by rank in MPI_COMM_WORLD, or NULL     */
static int world_size;

typedef struct {
    sw_card_t card;
    sw_token_t cookie;          /* that of place 0 counts                 */
    uint64_t directory, ledger;
    uint32_t version;           /* 0: takes no part                       */
    int32_t virtual_node;
} hello_t;

static void fill_hello(hello_t *to)
{
    memset(to, 0, sizeof *to);
    if (!sw_settings.p2p || !sw_settings.enable || sw_arena.fd < 0 ||
        !sw_peer_card(&to->card))
        return;
    to->directory = sw_slots_directory();
    to->virtual_node = sw_comm_virtual_node();
    to->ledger = sw_ledger_open(places);
    to->version = to->directory && to->ledger ? VERSION : 0;
    sw_os_random(&to->cookie, sizeof to->cookie);
}

/* What we reach of the others: a byte for each. */
static void try_all(const hello_t *all, unsigned char *reach)
{
    for (int i = 0; i < places; i++) {
        reach[i] = 0;
        if (i == sw_link_place || all[i].version != VERSION ||
            all[sw_link_place].version != VERSION ||
            all[i].virtual_node != all[sw_link_place].virtual_node)
            continue;
        sw_peer_t *peer = sw_peer_attach(&all[i].card);
        if (!peer || !sw_peer_control(peer))
            continue;
        links[i] = (sw_link_t){.peer = peer, .place = i,
                               .directory = all[i].directory,
                               .row = sw_ledger_row(peer, all[i].ledger,
                                                    places, sw_link_place)};
        reach[i] = peer->arena != NULL;
    }
}

/* MPI_COMM_WORLD's ranks, from their places on the node. */
static bool name_all(void)
{
    MPI_Group here;
    host.Comm_size(MPI_COMM_WORLD, &world_size);
    world = calloc((size_t)world_size, sizeof *world);
    host.Comm_group(sw_link_comm, &here);
    int *to = sw_world_ranks(here, places);
    host.Group_free(&here);
    bool ok = to && world;
    for (int i = 0; ok && i < places; i++)
        if (links[i].open)
            world[to[i]] = &links[i];
    free(to);
    return ok;
}

/* What was measured of each host (docs/performance.md, "The threshold"): from
 * `least` on we win in every pattern, with data that has gaps from `scattered`
 * on, if its pieces are long from `coarse` on. `stages`: two copies of private
 * memory beat it, too. */
static void suit_host(void)
{
    static const struct {
        const char *name;
        size_t least, scattered, coarse;
        bool stages;
    } known[] = {
        {"Open MPI", 4096, 4096, 4096, true},
        {"Intel", 32768, 4096, 6144, false},
        {"MPICH", 8192, 4096, 4096, true},
        {"", 16384, 16384, 16384, false},
    }, *found = known;
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    host.Get_library_version(text, &length);
    while (!strstr(text, found->name))
        found++;
    sw_link_stages = found->stages;
    size_t asked = sw_settings.p2p_min
        ? sw_max(sw_settings.p2p_min, SW_DESCRIPTOR_BYTES) : 0;
    sw_settings.p2p_min = asked ? asked : found->least;
    sw_link_scattered_min = asked ? asked : found->scattered;
    sw_link_coarse_min = asked ? asked : found->coarse;
}

static void leave_alone(bool alone)
{
    sw_linked = !alone;
}

void sw_link_start(void)
{
    SW_INSIDE;
    int level = MPI_THREAD_SINGLE;
    host.Query_thread(&level);
    sw_threaded = sw_tracks_shared = level == MPI_THREAD_MULTIPLE;
    sw_ledger_shared = sw_threaded;
    if (!host.Comm_split_type ||
        host.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                             MPI_INFO_NULL, &sw_link_comm) != MPI_SUCCESS)
        return;
    host.Comm_size(sw_link_comm, &places);
    host.Comm_rank(sw_link_comm, &sw_link_place);
    if (places < 2)
        return;
    hello_t mine, *all = calloc((size_t)places, sizeof *all);
    unsigned char *reach = calloc((size_t)places, 1);
    unsigned char *reached = calloc((size_t)places, 1);
    links = calloc((size_t)places, sizeof *links);
    if (!all || !reach || !reached || !links) {
        sw_say("out of memory in MPI_Init");
        abort();
    }
    fill_hello(&mine);
    host.Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine,
                   MPI_BYTE, sw_link_comm);
    sw_link_cookie = all[0].cookie;
    try_all(all, reach);
    host.Alltoall(reach, 1, MPI_BYTE, reached, 1, MPI_BYTE, sw_link_comm);
    bool any = false;
    for (int i = 0; i < places; i++) {
        links[i].open = reach[i] && reached[i];
        any = any || links[i].open;
    }
    if (all[0].version == VERSION && any && name_all()) {
        sw_comm_measure_crowd();
        sw_wait_progress = sw_comm_progress;
        suit_host();
        sw_posted_start(places);
        sw_linked = true;
        sw_serve_start();
        sw_control_alone = leave_alone;
    }
    free(all);
    free(reach);
    free(reached);
}

/* A message may lie aside that its receiver has not fetched. When everybody
 * has come here, all are fetched. */
void sw_link_stop(void)
{
    SW_INSIDE;
    if (sw_link_comm == MPI_COMM_NULL)
        return;
    if (sw_linked && host.Ibarrier) {
        MPI_Request request;
        int all_here = 0;
        host.Ibarrier(sw_link_comm, &request);
        while (!all_here) {
            host.Test(&request, &all_here, MPI_STATUS_IGNORE);
            sw_track_progress();
            if (!all_here)
                sw_os_yield();
        }
        for (int left = atomic_load(&sw_tracks); left > 0; left--)
            sw_track_progress();
    }
    sw_serve_stop();
    sw_control_alone = NULL;
    sw_linked = false;
    host.Comm_free(&sw_link_comm);
}

void sw_link_poke(void)
{
    int flag;
    if (sw_linked)
        host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sw_link_comm, &flag,
                    MPI_STATUS_IGNORE);
}

int sw_link_places(void)
{
    return places;
}

sw_link_t *sw_link_at(int place)
{
    return place >= 0 && place < places && links[place].open ? &links[place]
                                                             : NULL;
}

sw_link_t **sw_links_slow(sw_comm_t *c)
{
    if (!sw_linked || !c->lineage || c->reason == SW_REASON_INTER ||
        c->reason == SW_REASON_FOREIGN)
        return NULL;
    MPI_Group these;
    host.Comm_group(c->handle, &these);
    int *to = sw_world_ranks(these, c->n);
    host.Group_free(&these);
    sw_link_t **link = calloc((size_t)c->n, sizeof *link);
    if (to && link) {
        for (int i = 0; i < c->n; i++)
            if (to[i] != MPI_UNDEFINED)
                link[i] = world[to[i]];
    } else {
        free(link);
        link = NULL;
    }
    free(to);
    /* Another thread may have done the same. */
    sw_link_t **none = NULL;
    if (link && !__atomic_compare_exchange_n(&c->link, &none, link, false,
                                             __ATOMIC_ACQ_REL,
                                             __ATOMIC_ACQUIRE)) {
        free(link);
        link = none;
    }
    return link;
}
