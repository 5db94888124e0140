/*
 * ladder.c - see ladder.h.
 */
#include "ladder.h"

#include <dlfcn.h>
#include <string.h>

#include "node/control.h"
#include "p2p/slot.h"

#define TRIED 16                /* messages of a cell, before it is measured */

static const sw_sampling_way_t rungs[] = {
    {"host", SW_HOST, 0, 0},
    {"two-copy", SW_OURS, SW_ACCELERATE_TWO_COPY, 0},
    {"cma", SW_OURS, SW_ACCELERATE_CMA, 0},
    {"one-copy", SW_OURS, SW_ACCELERATE_ONE_COPY, 0},
    {"joint", SW_OURS, SW_ACCELERATE_JOINT, 0},
    {"give", SW_OURS, SW_ACCELERATE_ON, 0},
};
enum { HOST, TWO_COPY, CMA, ONE_COPY, JOINT, GIVE, RUNGS };

static void (*ask)(sw_slot_stats_t *to);
static sw_slot_stats_t before;          /* what was counted last            */
static long long sent[RUNGS], went[RUNGS];      /* messages; the right way  */
static sw_sampling_way_t chosen[RUNGS];         /* the ways of a cell       */
static int rung_of[RUNGS], ways;                /* and their rungs          */

bool sw_ladder_start(void)
{
    ask = (void (*)(sw_slot_stats_t *))dlsym(RTLD_DEFAULT, "sw_slot_stats");
    if (ask)
        ask(&before);
    for (int r = 0; r < RUNGS; r++)
        if (sw_chosen(sw_run.plan->protocols, rungs[r].name) &&
            rungs[r].mode < (ask ? sw_run.modes : 1))
            return true;
    return false;
}

bool sw_ladder_gives(int way)
{
    return rung_of[way] == GIVE;
}

/* Of the messages that two sets of counts tell apart, how many went so: each
 * rank counts those that it has sent, or those that it has received. */
static uint64_t gone(int rung, const sw_slot_stats_t *a,
                     const sw_slot_stats_t *b)
{
    uint64_t offered = b->offered - a->offered;
    uint64_t late = b->moved_aside - a->moved_aside;
    uint64_t gathered = b->gathered - a->gathered;
    uint64_t direct = b->direct - a->direct, joint = b->joint - a->joint;
    uint64_t accepted = b->accepted - a->accepted;
    switch (rung) {
    case TWO_COPY:
        return gathered;
    case CMA:
        return direct - late;
    case ONE_COPY:
        return offered - late - gathered - direct - joint - accepted;
    case JOINT:
        return joint;
    default:
        return accepted;
    }
}

void sw_ladder_count(int way, int messages)
{
    sw_slot_stats_t now = before;
    int rung = rung_of[way];
    if (ask)
        ask(&now);
    sent[rung] += messages;
    went[rung] += rung == HOST ? messages - (long long)(now.offered -
                                                        before.offered)
                               : (long long)gone(rung, &before, &now);
    before = now;
}

void sw_ladder_settle(void)
{
    MPI_Allreduce(MPI_IN_PLACE, sent, RUNGS, MPI_LONG_LONG, MPI_SUM,
                  sw_run.comm);
    MPI_Allreduce(MPI_IN_PLACE, went, RUNGS, MPI_LONG_LONG, MPI_SUM,
                  sw_run.comm);
}

void sw_ladder_climb(sw_cell_t *cell)
{
    bool works[RUNGS];
    memset(sent, 0, sizeof sent);
    memset(went, 0, sizeof went);
    cell->ways = chosen;
    for (int r = 0; r < RUNGS; r++) {
        rung_of[0] = r;
        chosen[0] = rungs[r];
        if (sw_chosen(sw_run.plan->protocols, rungs[r].name) &&
            rungs[r].mode < (ask ? sw_run.modes : 1))
            sw_batch(cell, 0, TRIED);
    }
    sw_ladder_settle();
    ways = 0;
    for (int r = 0; r < RUNGS; r++)
        works[r] = went[r] > 0;
    for (int r = 0; r < RUNGS; r++)
        if (works[r]) {
            rung_of[ways] = r;
            chosen[ways++] = rungs[r];
            sent[r] = went[r] = 0;
        }
    cell->way_count = ways;
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
