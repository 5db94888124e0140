/*
 * roster.c - see roster.h.
 */
#include "roster.h"

#include "aware.h"
#include "guard.h"
#include "link.h"
#include "patience.h"
#include "tuned.h"
#include "node/arena/arena.h"
#include "node/base/array.h"
#include "node/base/crc.h"
#include "node/base/settings.h"
#include "node/launcher.h"
#include "offload/agent.h"
#include "p2p/tally.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERSION 7u

sw_roster_t sw_roster = {.comm = MPI_COMM_NULL};
bool sw_threaded;
uint64_t (*sw_roster_board)(void);

bool sw_roster_has_world(void)
{
    int begun = 0, ended = 0;
    host.Initialized(&begun);
    if (begun)
        host.Finalized(&ended);
    return begun && !ended;
}

int sw_roster_virtual_node(void)
{
    int ready = 0, rank = 0;
    if (sw_settings.node_size <= SW_NONE)
        return 0;
    host.Initialized(&ready);
    if (ready)
        host.Comm_rank(MPI_COMM_WORLD, &rank);
    return rank / (int)sw_settings.node_size;
}

/* Ranks known to run on this machine, on any of the MPI's nodes. */
static _Atomic int machine_ranks;

/* What files say of the cores, read once. */
static struct {
    _Atomic long online; /* 0: not asked yet */
    double quota;
} cores;

static void ask_for_cores(void)
{
    if (atomic_load(&cores.online))
        return;
    cores.quota = sw_os_quota();
    atomic_store(&cores.online, sysconf(_SC_NPROCESSORS_ONLN));
}

/* Unbound ranks all share all cores, met or not. So do the ranks of a container
 * its processor time. */
void sw_roster_measure_crowd(void)
{
    uint64_t mask[SW_CARD_MASK];
    double mine = sw_os_affinity(mask, SW_CARD_MASK);
    double crowd = sw_peer_crowd(), share = crowd;
    int ranks = sw_launcher_node_ranks(), known = machine_ranks;
    ranks = known > ranks ? known : ranks;
    ask_for_cores();
    if (cores.quota > 0 && cores.quota < mine)
        share = (ranks > sw_roster.places ? ranks : sw_roster.places) /
                cores.quota;
    else if (mine >= (double)atomic_load(&cores.online))
        share = ranks / mine;
    sw_wait_crowd(share > crowd ? share : crowd);
}

bool sw_roster_crowd_machine(int ranks, int nodes)
{
    if (ranks > machine_ranks) {
        machine_ranks = ranks;
        sw_roster_measure_crowd();
    }
    return nodes > sysconf(_SC_NPROCESSORS_ONLN);
}

/* What the kernel calls itself: the same on all nodes that it has. */
uint32_t sw_roster_machine(void)
{
    char boot[64];
    int n = sw_os_read_text("/proc/sys/kernel/random/boot_id", boot,
                            sizeof boot);
    return n > 0 ? sw_crc32(0, boot, (size_t)n) : (uint32_t)sw_roster.node;
}

/* A job of more ranks has machines of its own. */
#define MACHINE_RANKS 1024

void sw_roster_meet_machine(void)
{
    uint32_t mine = sw_roster_machine(), *all;
    int n = 0;
    if (sw_roster.ranks > MACHINE_RANKS)
        return;
    all = sw_array_zeroed((size_t)sw_roster.ranks, sizeof *all);
    host.Allgather(&mine, 4, MPI_BYTE, all, 4, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < sw_roster.ranks; i++)
        n += all[i] == mine;
    free(all);
    sw_roster_crowd_machine(n, 0);
}

/* The roster ------------------------------------------------------------- */

static void find_node(void)
{
    int level = MPI_THREAD_SINGLE;
    MPI_Comm parent = MPI_COMM_NULL;
    host.Query_thread(&level);
    host.Comm_get_parent(&parent);
    sw_roster.spawned = parent != MPI_COMM_NULL;
    sw_roster.level = level;
    sw_threaded = sw_tallies_shared = level == MPI_THREAD_MULTIPLE;
    host.Comm_rank(MPI_COMM_WORLD, &sw_roster.rank);
    host.Comm_size(MPI_COMM_WORLD, &sw_roster.ranks);
    sw_roster.places = 1;
    if (!host.Comm_split_type ||
        host.Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
                             MPI_INFO_NULL, &sw_roster.comm) != MPI_SUCCESS) {
        sw_roster.comm = MPI_COMM_NULL;
        return;
    }
    host.Comm_set_errhandler(sw_roster.comm, MPI_ERRORS_RETURN);
    host.Comm_size(sw_roster.comm, &sw_roster.places);
    host.Comm_rank(sw_roster.comm, &sw_roster.place);
}

bool sw_roster_self(sw_introduction_t *to)
{
    bool able = sw_team_introduce(to, sw_roster_virtual_node());
    to->helper = sw_settings.enable && sw_agent_reserve();
    return able;
}

static void fill_hello(sw_hello_t *to)
{
    memset(to, 0, sizeof *to);
    to->version = VERSION;
    to->rank = sw_roster.rank;
    to->drawn = sw_os_unique();
    to->board = sw_roster_board ? sw_roster_board() : 0;
    if (sw_settings.enable)
        to->tuned = sw_tuned_start(sw_roster.places) ^ sw_aware_lacks();
    if (sw_roster_self(&to->self) && sw_settings.enable && sw_roster.places > 1)
        sw_link_offer(to);
}

/* All judge the same answers. */
static void agree_on_tuned(void)
{
    bool alike = true;
    for (int i = 0; i < sw_roster.places; i++)
        alike &= sw_roster.at[i].said.tuned == sw_roster.at[0].said.tuned;
    sw_tuned_agree(alike, sw_roster.place == 0);
}

static void exchange_hellos(void)
{
    size_t n = (size_t)sw_roster.places, size = sizeof(sw_hello_t);
    sw_hello_t mine, *all = sw_array_zeroed(n, size);
    fill_hello(&mine);
    if (sw_roster.places > 1)
        host.Allgather(&mine, (int)size, MPI_BYTE, all, (int)size, MPI_BYTE,
                       sw_roster.comm);
    else
        all[0] = mine;
    sw_roster.at = sw_array_zeroed(n, sizeof *sw_roster.at);
    for (size_t i = 0; i < n; i++)
        sw_roster.at[i].said = all[i];
    free(all);
    agree_on_tuned();
    sw_roster.first = sw_roster.at[0].said.rank;
    while (sw_roster.run < sw_roster.places &&
           sw_roster.at[sw_roster.run].said.rank ==
               sw_roster.first + sw_roster.run)
        sw_roster.run++;
}

static uint8_t try_it(sw_place_t *p)
{
    const sw_hello_t *mine = &sw_roster.at[sw_roster.place].said;
    if (p->said.version != VERSION ||
        p->said.self.virtual_node != mine->self.virtual_node)
        return 0;
    p->peer = sw_peer_attach(&p->said.self.card);
    if (!p->peer || !sw_peer_control(p->peer))
        return 0;
    bool arena = p->peer->self ? sw_arena.fd >= 0 : p->peer->arena != NULL;
    return (uint8_t)(SW_AGREE_NODE | (arena ? SW_AGREE_ARENA : 0) |
                     (p->peer->cma ? SW_AGREE_CMA : 0));
}

/* Each rank tries out what it reaches of the others, and tells them. */
static void exchange_reach(void)
{
    int n = sw_roster.places;
    const sw_place_t *mine = &sw_roster.at[sw_roster.place];
    uint8_t *reach = sw_array_zeroed((size_t)n, 1), all = 0xff;
    uint8_t *reached = sw_array_zeroed((size_t)n, 2);
    for (int i = 0; i < n; i++) {
        sw_place_t *p = &sw_roster.at[i];
        reach[i] = p->reach = try_it(p);
        if (p->said.self.virtual_node == mine->said.self.virtual_node)
            all &= reach[i];
    }
    host.Alltoall(reach, 1, MPI_BYTE, reached, 1, MPI_BYTE, sw_roster.comm);
    for (int i = 0; i < n; i++)
        sw_roster.at[i].reached = reached[i];
    sw_roster_measure_crowd();
    uint8_t said[2] = {all, sw_patience_wish()};
    host.Allgather(said, 2, MPI_BYTE, reached, 2, MPI_BYTE, sw_roster.comm);
    for (int i = 0; i < n; i++) {
        sw_roster.at[i].reaches_all = reached[2 * i];
        sw_roster.at[i].patience = reached[2 * i + 1];
    }
    free(reach);
    free(reached);
}

/* What this node is called. */
static void find_name(void)
{
    int here = sw_roster.at[sw_roster.place].said.self.virtual_node, i = 0;
    while (sw_roster.at[i].said.self.virtual_node != here)
        i++;
    sw_roster.node = sw_roster.at[i].said.rank;
}

/* On one node the number that its first rank has drawn; on several nodes that
 * of rank 0. */
static void find_job(void)
{
    sw_roster.job = sw_roster.at[0].said.drawn;
    if (sw_roster.places < sw_roster.ranks)
        host.Bcast(&sw_roster.job, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void sw_roster_start(void)
{
    SW_INSIDE;
    if (sw_roster.places)
        return;
    find_node();
    if (sw_settings.enable || sw_roster_board || sw_settings.where) {
        exchange_hellos();
        find_name();
        find_job();
    }
    /* A rank alone on its node has a part in what spans nodes. */
    if (sw_settings.enable && sw_roster.ranks > 1 &&
        sw_roster.comm != MPI_COMM_NULL)
        exchange_reach();
}

void sw_roster_stop(void)
{
    SW_INSIDE;
    if (sw_roster.comm != MPI_COMM_NULL)
        host.Comm_free(&sw_roster.comm);
}

int sw_roster_place_far(int rank)
{
    int low = 0, high = sw_roster.at ? sw_roster.places : 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sw_roster.at[middle].said.rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sw_roster.places && sw_roster.at &&
                   sw_roster.at[low].said.rank == rank
               ? low
               : -1;
}

int sw_roster_near_ranks(void)
{
    int n = 0;
    if (!sw_roster.at)
        return 1;
    for (int i = 0; i < sw_roster.places; i++)
        n += sw_roster_is_near(sw_roster.at[i].said.rank);
    return n;
}

/* Communicators ---------------------------------------------------------- */

sw_roster_meeting_t sw_roster_meeting(const sw_members_t *members)
{
    if (!members->all)
        return SW_ROSTER_FOREIGN;
    if (sw_roster.comm == MPI_COMM_NULL || !sw_roster.at)
        return SW_ROSTER_UNKNOWN;
    int here = sw_roster.at[sw_roster.place].said.self.virtual_node;
    uint32_t agreed = SW_AGREE_ARENA;
    for (int i = 0; i < members->n; i++) {
        int place = sw_roster_place(members->rank[i]);
        if (place < 0 || sw_roster.at[place].said.self.virtual_node != here)
            return SW_ROSTER_APART;
        agreed &= sw_roster.at[place].reaches_all;
    }
    return agreed ? SW_ROSTER_MET : SW_ROSTER_UNKNOWN;
}

uint32_t sw_roster_introduce(const sw_members_t *members,
                             sw_introduction_t *all, sw_peer_t **peer)
{
    uint32_t agreed = SW_AGREE_NODE | SW_AGREE_ARENA | SW_AGREE_CMA;
    for (int i = 0; i < members->n; i++) {
        const sw_place_t *p = &sw_roster.at[sw_roster_place(members->rank[i])];
        all[i] = p->said.self;
        peer[i] = p->peer;
        agreed &= p->reaches_all;
    }
    return agreed;
}
