/*
 * ladder.c - see ladder.h.
 */
#include "ladder.h"

#include <dlfcn.h>
#include <string.h>

#include "node/control.h"
#include "p2p/slot.h"

#define TRIED 16 /* messages in a try, before a cell */
#define TRIES 4

static const sw_sampling_way_t rungs[] = {
    {"host", SW_HOST, 0, 0},
    {"two-copy", SW_OURS, SW_ACCELERATE_TWO_COPY, 0},
    {"cma", SW_OURS, SW_ACCELERATE_CMA, 0},
    {"one-copy", SW_OURS, SW_ACCELERATE_ONE_COPY, 0},
    {"joint", SW_OURS, SW_ACCELERATE_JOINT, 0},
    {"give", SW_OURS, SW_ACCELERATE_ON, 0},
    {"remap", SW_OURS, SW_ACCELERATE_ON, 0},
    {"remap-huge", SW_OURS, SW_ACCELERATE_ON, 0},
};
enum { HOST, TWO_COPY, CMA, ONE_COPY, JOINT, GIVE, REMAP, REMAP_HUGE, RUNGS };

static void (*ask)(sw_slot_stats_t *to);
static sw_slot_stats_t before; /* what was counted last */
/* Messages; those that went the right way; those that came too late for it. */
static long long sent[RUNGS], went[RUNGS], late[RUNGS];
static sw_sampling_way_t chosen[RUNGS]; /* the ways of a cell */
static int rung_of[RUNGS];              /* and their rungs */
static sw_remap_t *remap[RUNGS];        /* of rungs by page tables */

static bool is_open(int rung)
{
    return sw_chosen(sw_run.plan->protocols, rungs[rung].name) &&
           rungs[rung].mode < (ask ? sw_run.modes : 1) &&
           (rung < REMAP || sw_run.nodes.count == 1);
}

bool sw_ladder_start(void)
{
    ask = (void (*)(sw_slot_stats_t *))dlsym(RTLD_DEFAULT, "sw_slot_stats");
    if (ask)
        ask(&before);
    for (int r = 0; r < RUNGS; r++)
        if (is_open(r))
            return true;
    return false;
}

sw_carried_t sw_ladder_carries(int way, const sw_remap_t **pages)
{
    int rung = rung_of[way];
    *pages = remap[rung];
    return *pages ? SW_PAGES : rung == GIVE ? SW_BLOCKS : SW_MESSAGES;
}

/* Of the messages that two sets of counts tell apart, how many went so: each
 * rank counts those that it has sent, or those that it has received. */
static uint64_t gone(int rung, const sw_slot_stats_t *a,
                     const sw_slot_stats_t *b)
{
    uint64_t offered = b->offered - a->offered;
    uint64_t moved = b->moved_aside - a->moved_aside;
    uint64_t gathered = b->gathered - a->gathered;
    uint64_t direct = b->direct - a->direct, joint = b->joint - a->joint;
    uint64_t accepted = b->accepted - a->accepted;
    switch (rung) {
    case TWO_COPY: return gathered;
    case CMA: return direct - moved;
    case ONE_COPY:
        return offered - moved - gathered - direct - joint - accepted;
    case JOINT: return joint;
    default: return accepted;
    }
}

void sw_ladder_count(int way, int messages)
{
    sw_slot_stats_t now = before;
    int rung = rung_of[way];
    if (ask)
        ask(&now);
    sent[rung] += messages;
    went[rung] += rung >= REMAP ? messages
                  : rung == HOST
                      ? messages - (long long)(now.offered - before.offered)
                      : (long long)gone(rung, &before, &now);
    late[rung] += (long long)(now.moved_aside - before.moved_aside);
    before = now;
}

static void add_up(long long *counts)
{
    MPI_Allreduce(MPI_IN_PLACE, counts, RUNGS, MPI_LONG_LONG, MPI_SUM,
                  sw_run.comm);
}

void sw_ladder_settle(void)
{
    add_up(sent);
    add_up(went);
}

/* The rungs by page tables need files. All ranks have them, or none. */
static bool prepare(int rung, size_t bytes)
{
    if (rung < REMAP)
        return true;
    remap[rung] = sw_remap_bind(bytes, rung == REMAP_HUGE, sw_run.rank ^ 1,
                                sw_run.comm);
    return remap[rung];
}

/* Does any message go so? On a busy machine all may come too late. */
static bool works(sw_cell_t *cell, int rung)
{
    rung_of[0] = rung;
    chosen[0] = rungs[rung];
    for (int i = 0; i < TRIES; i++) {
        went[rung] = late[rung] = 0;
        sw_batch(cell, 0, TRIED);
        long long any = went[rung] + late[rung], all;
        MPI_Allreduce(&any, &all, 1, MPI_LONG_LONG, MPI_SUM, sw_run.comm);
        if (all)
            return true;
    }
    return false;
}

void sw_ladder_climb(sw_cell_t *cell)
{
    int open[RUNGS], n = 0;
    cell->ways = chosen;
    for (int r = 0; r < RUNGS; r++)
        if (is_open(r) && prepare(r, cell->size) && works(cell, r))
            open[n++] = r;
    for (int w = 0; w < n; w++) {
        rung_of[w] = open[w];
        chosen[w] = rungs[open[w]];
    }
    cell->way_count = n;
    memset(sent, 0, sizeof sent);
    memset(went, 0, sizeof went);
    memset(late, 0, sizeof late);
}

void sw_ladder_leave(void)
{
    for (int r = 0; r < RUNGS; r++) {
        sw_remap_free(remap[r]);
        remap[r] = NULL;
    }
}

void sw_ladder_put(FILE *file)
{
    const char *comma = "";
    fputs(", \"went\": {", file);
    for (int r = 0; r < RUNGS; r++)
        if (sent[r]) {
            fprintf(file, "%s\"%s\": %.4f", comma, rungs[r].name,
                    (double)went[r] / (double)sent[r]);
            comma = ", ";
        }
    fputc('}', file);
}
