/*
 * span.c - see span.h.
 */
#include "span.h"

#include "failure.h"
#include "patience.h"
#include "roster.h"
#include "ways_file.h"
#include "node/base/array.h"
#include "node/base/crc.h"
#include "node/base/settings.h"

#include <stdlib.h>
#include <string.h>

const char *const sw_span_full = "a member has no room for one more span";
const char *const sw_span_alone = "one member on each node";

static _Atomic int held, most;

void sw_span_counts(int *now, int *peak)
{
    *now = atomic_load(&held);
    *peak = atomic_load(&most);
}

/* The members on this node: their introductions, and what is agreed on. */
typedef struct {
    int n, me;
    uint32_t agreed;        /* SW_AGREE_* bits */
    int *rank;              /* [n] in the communicator */
    sw_introduction_t *all; /* [n] */
    sw_peer_t **peer;       /* [n]; the team's later */
} near_t;

static void find_near(near_t *near, const sw_members_t *members, int me)
{
    memset(near, 0, sizeof *near);
    for (int i = 0; i < members->n; i++)
        near->n += sw_roster_is_near(members->rank[i]);
    size_t n = (size_t)near->n;
    near->rank = sw_array_zeroed(n, sizeof *near->rank);
    near->all = sw_array_zeroed(n, sizeof *near->all);
    near->peer = sw_array_zeroed(n, sizeof *near->peer);
    sw_members_t *these = sw_array_zeroed(1, sizeof *these +
                                                 n * sizeof *these->rank);
    for (int i = 0; i < members->n; i++) {
        if (!sw_roster_is_near(members->rank[i]))
            continue;
        if (i == me)
            near->me = these->n;
        near->rank[these->n] = i;
        these->rank[these->n++] = members->rank[i];
    }
    near->agreed = sw_roster_introduce(these, near->all, near->peer);
    free(these);
}

static void forget_near(near_t *near)
{
    free(near->rank);
    free(near->all);
    free(near->peer);
}

/* Is there room for one more span? The process takes its place. */
static bool take_place(void)
{
    int now = atomic_fetch_add(&held, 1) + 1;
    if (now > sw_settings.span_max) {
        atomic_fetch_sub(&held, 1);
        return false;
    }
    int peak = atomic_load(&most);
    while (now > peak && !atomic_compare_exchange_weak(&most, &peak, now))
        ;
    return true;
}

/* Numbers the nodes by their leaders' ranks: a table of what the members call
 * their nodes. */
typedef struct {
    int32_t name;
    int number; /* -1: free */
} name_t;

static int number_of(name_t *table, size_t size, int32_t name, int *next)
{
    size_t at = sw_host_handle_mix((uint32_t)name) & (size - 1);
    while (table[at].number >= 0 && table[at].name != name)
        at = (at + 1) & (size - 1);
    if (table[at].number < 0)
        table[at] = (name_t){name, (*next)++};
    return table[at].number;
}

static void number_nodes(sw_span_t *s, const sw_span_answer_t *answers)
{
    size_t size = 2;
    while (size < 2 * (size_t)s->n)
        size *= 2;
    name_t *table = sw_array_zeroed(size, sizeof *table);
    for (size_t i = 0; i < size; i++)
        table[i].number = -1;
    s->first = sw_array_zeroed((size_t)s->n + 1, sizeof *s->first);
    s->rank = sw_array_zeroed((size_t)s->n, sizeof *s->rank);
    s->node_of = sw_array_zeroed((size_t)s->n, sizeof *s->node_of);
    s->number_of = sw_array_zeroed((size_t)s->n, sizeof *s->number_of);
    for (int i = 0; i < s->n; i++) {
        int node = number_of(table, size, answers[i].node, &s->nodes);
        s->node_of[i] = node;
        s->number_of[i] = s->first[node + 1]++;
    }
    free(table);
    for (int k = 0; k < s->nodes; k++)
        s->first[k + 1] += s->first[k];
    s->ordered = true;
    for (int i = 0; i < s->n; i++) {
        int at = s->first[s->node_of[i]] + s->number_of[i];
        s->rank[at] = i;
        s->ordered &= at == i;
    }
    s->node = s->node_of[s->me];
    s->mine = s->number_of[s->me];
    s->here = sw_span_members(s, s->node);
    s->lanes = s->here;
    for (int k = 0; k < s->nodes; k++) {
        s->lanes = sw_min(s->lanes, sw_span_members(s, k));
        s->fullest = sw_max(s->fullest, sw_span_members(s, k));
    }
}

static void answer(sw_span_answer_t *to, const near_t *near)
{
    *to = (sw_span_answer_t){.node = sw_roster.node,
                             .machine = sw_roster_machine(),
                             .ways = sw_ways_over_nodes()->hash};
    sw_roster_measure_crowd();
    to->crowded = sw_wait_crowded();
    to->spins = to->crowded && sw_host_spins();
    bool able = near->n <= SW_MEMBERS_MAX &&
                (near->agreed & (SW_AGREE_ARENA | SW_AGREE_CMA));
    if (able && near->me == 0)
        to->offset = sw_sequence_reserve(near->n);
    able = able && host.Iallreduce && host.Improbe;
    to->ok = able ? SW_SPAN_ABLE : 0;
    if (able && (near->me != 0 || to->offset) && take_place())
        to->ok |= SW_SPAN_ROOM;
}

/* Why all members leave the communicator to the host; NULL: they do not. */
static const char *objection(const sw_span_t *s,
                             const sw_span_answer_t *answers, bool *tuned)
{
    static _Atomic bool said;
    uint32_t ok = SW_SPAN_ABLE | SW_SPAN_ROOM;
    bool alike = true;
    for (int i = 0; i < s->n; i++) {
        ok &= answers[i].ok;
        alike &= answers[i].ways == answers[0].ways;
    }
    *tuned = alike && answers[0].ways;
    if (!alike && s->me == 0)
        sw_say_once(&said, "the nodes have different files of ways: give all "
                           "the same one with --ways FILE (the built-in table "
                           "serves)");
    return !(ok & SW_SPAN_ABLE)   ? "a member cannot share memory on its node"
           : s->nodes == s->n     ? sw_span_alone
           : !(ok & SW_SPAN_ROOM) ? sw_span_full
                                  : NULL;
}

/* How many of the communicator's ranks and nodes are on this machine, which may
 * hold several of MPI's nodes (containers). */
static void measure_machine(sw_span_t *s, const sw_span_answer_t *answers)
{
    int ranks = 0, nodes = 0;
    for (int i = 0; i < s->n; i++) {
        bool same = answers[i].machine == answers[s->me].machine;
        ranks += same;
        nodes += same && s->number_of[i] == 0;
    }
    s->cramped = sw_roster_crowd_machine(ranks, nodes);
}

static bool make_lanes(sw_span_t *s, MPI_Comm comm)
{
    MPI_Errhandler handler;
    int color = s->mine < s->lanes ? s->mine : MPI_UNDEFINED;
    s->lane = MPI_COMM_NULL;
    host.Comm_get_errhandler(comm, &handler);
    host.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int code = host.Comm_split(comm, color, s->node, &s->lane);
    host.Comm_set_errhandler(comm, handler);
    host.Errhandler_free(&handler);
    if (code != MPI_SUCCESS)
        return false;
    if (s->lane != MPI_COMM_NULL)
        host.Comm_set_errhandler(s->lane, MPI_ERRORS_RETURN);
    return true;
}

/* The team of this node, with the sequence that its leader has reserved. */
static sw_sequence_t *open_sequence(const sw_span_t *s, near_t *near,
                                    const sw_span_answer_t *answers)
{
    const sw_span_answer_t *leader = &answers[s->rank[s->first[s->node]]];
    sw_team_t *team = sw_team_make(
        near->all, near->n, near->me, near->peer, near->agreed & SW_AGREE_ARENA,
        near->agreed & SW_AGREE_CMA, leader->crowded);
    sw_sequence_t *seq = sw_sequence_open(team, leader->offset);
    near->peer = NULL; /* the team's */
    sw_team_drop(team);
    return seq;
}

static void discard(sw_span_t *s)
{
    free(s->first);
    free(s->rank);
    free(s->node_of);
    free(s->number_of);
    free(s);
}

sw_span_t *sw_span_adopt(MPI_Comm comm, int me, const sw_members_t *members,
                         const char **why)
{
    near_t near;
    bool tuned = false;
    sw_span_t *s = sw_array_zeroed(1, sizeof *s);
    s->n = members->n;
    s->me = me;
    find_near(&near, members, me);
    sw_span_answer_t mine;
    sw_span_answer_t *answers = sw_array_zeroed((size_t)s->n, sizeof *answers);
    answer(&mine, &near);
    int bytes = (int)sizeof mine;
    sw_failure_look();
    *why = "the host's MPI_Allgather failed";
    if (host.Allgather(&mine, bytes, MPI_BYTE, answers, bytes, MPI_BYTE,
                       comm) == MPI_SUCCESS) {
        number_nodes(s, answers);
        *why = objection(s, answers, &tuned);
    }
    if (!*why && !make_lanes(s, comm))
        *why = "the host made no communicators for it";
    if (!*why) {
        measure_machine(s, answers);
        s->sequence = open_sequence(s, &near, answers);
        sw_span_shape_t shape = {.nodes = s->nodes,
                                 .ranks = s->fullest,
                                 .lanes = s->lanes,
                                 .tuned = tuned};
        for (int i = 0; i < s->n; i++) {
            shape.crowded |= answers[i].crowded != 0;
            shape.spins |= answers[i].spins != 0;
        }
        sw_span_ways_fill(&s->ways, s->any, &shape);
    } else {
        if (mine.offset)
            sw_sequence_unreserve(near.peer[0], mine.offset);
        if (mine.ok & SW_SPAN_ROOM)
            atomic_fetch_sub(&held, 1);
        discard(s);
        s = NULL;
    }
    free(answers);
    forget_near(&near);
    return s;
}

void sw_span_free(sw_span_t *s)
{
    sw_sequence_close(s->sequence);
    /* Not where MPI ends: the host frees what is left. */
    if (s->lane != MPI_COMM_NULL && sw_roster_has_world())
        host.Comm_free(&s->lane);
    atomic_fetch_sub(&held, 1);
    discard(s);
}
