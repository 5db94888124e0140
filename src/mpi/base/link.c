/*
 * link.c - see link.h.
 */
#include "link.h"

#include "guard.h"
#include "coll/agreement.h"
#include "node/base/settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 2u

bool sw_linked, sw_threaded;
sw_token_t sw_link_cookie;
int sw_link_place;
MPI_Comm sw_link_comm = MPI_COMM_NULL;

static sw_link_t *links;        /* by place on the node                   */
static int places;
static sw_link_t **world;       /* by rank in MPI_COMM_WORLD, or NULL     */
static int *place_of;           /* likewise: the place on the node, or -1 */
static int world_size;
/* What the ranks of the node have said of themselves, by place, and what holds
 * among all of them (SW_AGREE_*; 0: some do not reach some others). */
static sw_introduction_t *introduced;
static uint32_t agreed;

typedef struct {
    sw_introduction_t self;
    sw_token_t cookie;          /* that of place 0 counts                 */
    uint64_t directory, ledger;
    uint32_t version;           /* 0: takes no part                       */
} hello_t;

static void fill_hello(hello_t *to)
{
    memset(to, 0, sizeof *to);
    if (!sw_settings.p2p || !sw_settings.enable || sw_arena.fd < 0 ||
        !sw_team_introduce(&to->self, sw_comm_virtual_node()))
        return;
    to->directory = sw_slots_directory();
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
            all[i].self.virtual_node !=
                all[sw_link_place].self.virtual_node)
            continue;
        sw_peer_t *peer = sw_peer_attach(&all[i].self.card);
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
    place_of = malloc((size_t)world_size * sizeof *place_of);
    host.Comm_group(sw_link_comm, &here);
    int *to = sw_world_ranks(here, places);
    host.Group_free(&here);
    bool ok = to && world && place_of;
    for (int i = 0; ok && i < world_size; i++)
        place_of[i] = -1;
    for (int i = 0; ok && i < places; i++) {
        place_of[to[i]] = i;
        if (links[i].open)
            world[to[i]] = &links[i];
    }
    free(to);
    return ok;
}

/* What holds among all ranks of the node, which tell each other. `ready`: this
 * rank can serve. */
static void agree(const hello_t *all, bool ready)
{
    unsigned mine = SW_AGREE_NODE | SW_AGREE_ARENA | SW_AGREE_CMA, here = 0;
    for (int i = 0; i < places; i++) {
        if (i == sw_link_place)
            continue;
        if (!links[i].open)
            mine = 0;
        else if (!links[i].peer->cma)
            mine &= ~(unsigned)SW_AGREE_CMA;
    }
    introduced = malloc((size_t)places * sizeof *introduced);
    for (int i = 0; introduced && i < places; i++)
        introduced[i] = all[i].self;
    if (!ready || !introduced || !sw_peer_attach(&all[sw_link_place].self.card))
        mine = 0;
    host.Allreduce(&mine, &here, 1, MPI_UNSIGNED, MPI_BAND, sw_link_comm);
    agreed = here;
}

uint32_t sw_link_introduce(sw_comm_t *c, sw_introduction_t *all,
                           sw_peer_t **peer)
{
    if (!agreed || c->n > places)
        return 0;
    MPI_Group these;
    host.Comm_group(c->handle, &these);
    int *to = sw_world_ranks(these, c->n);
    host.Group_free(&these);
    bool here = to;
    for (int i = 0; here && i < c->n; i++) {
        int place = to[i] == MPI_UNDEFINED ? -1 : place_of[to[i]];
        here = place >= 0;
        if (!here)
            break;
        all[i] = introduced[place];
        peer[i] = sw_peer_attach(&all[i].card);
    }
    if (!to) {
        sw_say("out of memory while setting a communicator up");
        abort();
    }
    free(to);
    return here ? agreed : 0;
}

bool sw_link_start(void)
{
    SW_INSIDE;
    int level = MPI_THREAD_SINGLE;
    host.Query_thread(&level);
    sw_threaded = level == MPI_THREAD_MULTIPLE;
    sw_ledger_shared = sw_threaded;
    if (!host.Comm_split_type ||
        host.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                             MPI_INFO_NULL, &sw_link_comm) != MPI_SUCCESS)
        return false;
    host.Comm_set_errhandler(sw_link_comm, MPI_ERRORS_RETURN);
    host.Comm_size(sw_link_comm, &places);
    host.Comm_rank(sw_link_comm, &sw_link_place);
    if (places < 2)
        return false;
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
    bool ready = all[0].version == VERSION && any && name_all();
    agree(all, ready);
    if (ready) {
        sw_comm_measure_crowd();
        sw_wait_progress = sw_comm_progress;
    }
    free(all);
    free(reach);
    free(reached);
    return ready;
}

void sw_link_stop(void)
{
    SW_INSIDE;
    if (sw_link_comm == MPI_COMM_NULL)
        return;
    agreed = 0;
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
    if (!sw_linked || !c->context_id || c->reason == SW_REASON_INTER ||
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
