/*
 * smpi_collectives.c - the collectives of a time-independent trace; see
 * smpi_read.c. Where blocks differ, all get their mean.
 */
#include "smpi_read.h"

#include <strings.h>

static bool root_of(const sw_smpi_t *s, size_t i, sw_vop_t *op)
{
    uint64_t root = 0;
    if (i < s->words && !sw_smpi_rank(s, i, &root))
        return false;
    op->peer = (int32_t)root;
    return true;
}

/* `n` counts from the i-th word on: their sum, in elements. */
static bool sum_of(const sw_smpi_t *s, size_t i, uint64_t *sum)
{
    uint64_t one;
    *sum = 0;
    for (uint32_t k = 0; k < s->ranks; k++) {
        if (!sw_smpi_whole(s, i + k, (uint64_t)1 << 43, &one))
            return false;
        *sum += one;
    }
    return true;
}

/* The form of a collective's words. */
typedef enum {
    NONE,
    COUNT_ROOT,
    COUNT_FLOPS_ROOT,
    COUNT_FLOPS,
    BOTH_ROOT,
    BOTH,
    ONE_MANY_ROOT,
    MANY_ONE_ROOT,
    ONE_MANY,
    MANY_FLOPS,
    MANY_MANY
} form_t;

static const struct {
    const char *name;
    uint8_t what, form;
} collectives[] = {
    {"barrier", SW_COLLECTIVE_BARRIER, NONE},
    {"bcast", SW_COLLECTIVE_BCAST, COUNT_ROOT},
    {"reduce", SW_COLLECTIVE_REDUCE, COUNT_FLOPS_ROOT},
    {"allreduce", SW_COLLECTIVE_ALLREDUCE, COUNT_FLOPS},
    {"scan", SW_COLLECTIVE_SCAN, COUNT_FLOPS},
    {"exscan", SW_COLLECTIVE_EXSCAN, COUNT_FLOPS},
    {"gather", SW_COLLECTIVE_GATHER, BOTH_ROOT},
    {"scatter", SW_COLLECTIVE_SCATTER, BOTH_ROOT},
    {"allgather", SW_COLLECTIVE_ALLGATHER, BOTH},
    {"alltoall", SW_COLLECTIVE_ALLTOALL, BOTH},
    {"gatherv", SW_COLLECTIVE_GATHERV, ONE_MANY_ROOT},
    {"scatterv", SW_COLLECTIVE_SCATTERV, MANY_ONE_ROOT},
    {"allgatherv", SW_COLLECTIVE_ALLGATHERV, ONE_MANY},
    {"reducescatter", SW_COLLECTIVE_REDUCE_SCATTER, MANY_FLOPS},
    {"alltoallv", SW_COLLECTIVE_ALLTOALLV, MANY_MANY},
};

static void set_amounts(const sw_smpi_t *s, uint32_t rank, sw_vop_t *op)
{
    uint64_t n = s->ranks, all = op->bytes * n;
    bool root = op->peer == (int32_t)rank;
    switch (op->what) {
    case SW_COLLECTIVE_BCAST:
        *(root ? &op->sent : &op->received) = op->bytes;
        break;
    case SW_COLLECTIVE_REDUCE:
    case SW_COLLECTIVE_GATHER:
    case SW_COLLECTIVE_GATHERV:
        op->sent = op->bytes;
        op->received = !root                              ? 0
                       : op->what == SW_COLLECTIVE_REDUCE ? op->bytes
                                                          : all;
        break;
    case SW_COLLECTIVE_SCATTER:
    case SW_COLLECTIVE_SCATTERV:
        op->sent = root ? all : 0;
        op->received = op->bytes;
        break;
    case SW_COLLECTIVE_ALLTOALL:
    case SW_COLLECTIVE_ALLTOALLV: op->sent = op->received = all; break;
    case SW_COLLECTIVE_ALLGATHER:
    case SW_COLLECTIVE_ALLGATHERV:
        op->sent = op->bytes;
        op->received = all;
        break;
    case SW_COLLECTIVE_REDUCE_SCATTER:
        op->sent = all;
        op->received = op->bytes;
        break;
    default: op->sent = op->received = op->bytes; break;
    }
}

int sw_smpi_collective_named(const char *verb)
{
    for (int i = 0; i < (int)(sizeof collectives / sizeof *collectives); i++)
        if (!strcasecmp(verb, collectives[i].name))
            return i;
    return -1;
}

bool sw_smpi_collective(sw_smpi_t *s, uint32_t rank, unsigned which)
{
    size_t n = s->ranks;
    uint64_t sum;
    double flops = 0;
    bool good = true, mean = false;
    sw_vop_t op = {
        .kind = SW_OP_COLLECTIVE, .what = collectives[which].what, .peer = -1};
    switch (collectives[which].form) {
    case NONE: break;
    case COUNT_ROOT:
        good = sw_smpi_bytes(s, rank, 2, 4, &op.bytes) && root_of(s, 3, &op);
        break;
    case COUNT_FLOPS_ROOT:
        good = sw_smpi_bytes(s, rank, 2, 5, &op.bytes) &&
               sw_smpi_real(s, 3, 1e30, &flops) && root_of(s, 4, &op);
        break;
    case COUNT_FLOPS:
        good = sw_smpi_bytes(s, rank, 2, 4, &op.bytes) &&
               (s->words < 4 || sw_smpi_real(s, 3, 1e30, &flops));
        break;
    case BOTH_ROOT:
        good = sw_smpi_bytes(s, rank, 2, 5, &op.bytes) && root_of(s, 4, &op);
        break;
    case BOTH: good = sw_smpi_bytes(s, rank, 2, 4, &op.bytes); break;
    case ONE_MANY_ROOT:
    case ONE_MANY:
        good = sum_of(s, 3, &sum) && sw_smpi_bytes(s, rank, 2, 0, &op.bytes);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        if (collectives[which].form == ONE_MANY_ROOT)
            good = good && root_of(s, 3 + n, &op);
        break;
    case MANY_ONE_ROOT:
        good = sum_of(s, 2, &sum) && root_of(s, 3 + n, &op);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        break;
    case MANY_FLOPS:
        good = sum_of(s, 2, &sum) && sw_smpi_real(s, 2 + n, 1e30, &flops);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        break;
    case MANY_MANY:
        good = sum_of(s, 3, &sum);
        op.bytes = good ? sum / n * s->unit[rank] : 0;
        mean = true;
        break;
    }
    s->done->means += mean;
    set_amounts(s, rank, &op);
    return good && sw_smpi_put(s, rank, &op) &&
           (!flops || sw_smpi_compute(s, rank, flops / s->flops));
}
