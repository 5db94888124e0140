/*
 * Each algorithm of each collective does what the collective must (flow.h),
 * for any number of members and any root; it moves as many messages and bytes
 * as the literature says; its formula is what a simulation of its steps takes,
 * where it says so, and no less elsewhere.
 */
#include "carries.h"
#include "rounds.h"

/* How much there is to send, in all, as polynomials of n and log2 n. */
typedef struct {
    sw_op_collective_t what;
    const char *name;
    shape_t shape;
    bool (*carries)(const flow_t *f, uint32_t from, uint32_t k, uint32_t to,
                    uint32_t unit);
    bool always; /* the formula is exact for any n */
    /* For powers of two: messages, and bytes as a multiple of B. */
    double (*messages)(double n, double log);
    double (*blocks)(double n, double log);
} algorithm_t;

#define LAW(name, expression)                \
    static double name(double n, double log) \
    {                                        \
        return expression;                   \
    }
LAW(nothing, 0)
LAW(others, n - 1)
LAW(twice_others, 2 * (n - 1))
LAW(everybody_log, n *log)
LAW(half_log, n / 2 * log)
LAW(half_n_log, n *n / 2 * log)
LAW(all_pairs, n *(n - 1))
LAW(twice_all_pairs, 2 * n * (n - 1))
LAW(twice_n_log, 2 * n * log)
LAW(halving_and_up, n *log + n - 1)
LAW(halving_and_up_blocks, n - 1 + log / 2)
LAW(scatter_ring, n - 1 + n * (n - 1))
LAW(scatter_ring_blocks, log / 2 + n - 1)
LAW(half_squared, n > 1 ? n * n / 2 : 0)
LAW(four_times_others, 4 * (n - 1))

#define C(NAME) SW_COLLECTIVE_##NAME
static const algorithm_t algorithms[] = {
    {C(BARRIER), "dissemination", ALL, NULL, true, everybody_log, nothing},
    {C(BARRIER), "binomial", ALL, NULL, true, twice_others, nothing},
    {C(BARRIER), "recursive_doubling", ALL, NULL, true, everybody_log, nothing},
    {C(BARRIER), "linear", ALL, NULL, true, twice_others, nothing},
    {C(BCAST), "binomial", ALL, everything, true, others, others},
    {C(BCAST), "linear", ALL, everything, true, others, others},
    {C(BCAST), "chain", ALL, everything, true, others, others},
    {C(BCAST), "pipeline", SEGMENTS, segment_k, true, four_times_others,
     others},
    {C(BCAST), "scatter_allgather", PARTS, van_de_geijn, false, scatter_ring,
     scatter_ring_blocks},
    {C(REDUCE), "binomial", ALL, everything, true, others, others},
    {C(REDUCE), "linear", ALL, everything, true, others, others},
    {C(REDUCE), "chain", ALL, everything, true, others, others},
    {C(REDUCE), "pipeline", SEGMENTS, segment_back, true, four_times_others,
     others},
    {C(REDUCE), "rabenseifner", PARTS, rabenseifner, false, halving_and_up,
     halving_and_up_blocks},
    {C(ALLREDUCE), "recursive_doubling", ALL, everything, true, everybody_log,
     everybody_log},
    {C(ALLREDUCE), "ring", PARTS, ring_both, true, twice_all_pairs,
     twice_others},
    {C(ALLREDUCE), "rabenseifner", PARTS, rabenseifner, false, twice_n_log,
     twice_others},
    {C(ALLREDUCE), "reduce_bcast", ALL, everything, true, twice_others,
     twice_others},
    {C(REDUCE_SCATTER), "recursive_halving", BLOCKS, halving, false,
     everybody_log, all_pairs},
    {C(REDUCE_SCATTER), "pairwise", BLOCKS, of_receiver, true, all_pairs,
     all_pairs},
    {C(REDUCE_SCATTER), "ring", BLOCKS, ring_reduce, true, all_pairs,
     all_pairs},
    {C(ALLGATHER), "recursive_doubling", BLOCKS, lacking, false, everybody_log,
     all_pairs},
    {C(ALLGATHER), "ring", BLOCKS, ring_gather, true, all_pairs, all_pairs},
    {C(ALLGATHER), "bruck", BLOCKS, lacking, true, everybody_log, all_pairs},
    {C(ALLGATHER), "neighbor_exchange", BLOCKS, lacking, true, half_squared,
     all_pairs},
    {C(ALLTOALL), "pairwise", PAIRS, pair, true, all_pairs, all_pairs},
    {C(ALLTOALL), "linear", PAIRS, pair, true, all_pairs, all_pairs},
    {C(ALLTOALL), "bruck", PAIRS, bruck_alltoall, true, everybody_log,
     half_n_log},
    {C(SCAN), "recursive_doubling", TWO, passed_on, false, everybody_log,
     everybody_log},
    {C(SCAN), "linear", TWO, passed_on, true, others, others},
    {C(EXSCAN), "recursive_doubling", TWO, passed_on, false, everybody_log,
     everybody_log},
    {C(EXSCAN), "linear", TWO, passed_on, true, others, others},
    {C(GATHER), "binomial", BLOCKS, from_subtree, false, others, half_log},
    {C(GATHER), "linear", BLOCKS, of_sender, true, others, others},
    {C(SCATTER), "binomial", BLOCKS, to_subtree, false, others, half_log},
    {C(SCATTER), "linear", BLOCKS, of_receiver, true, others, others},
};

static void run(const algorithm_t *a, uint32_t n, uint32_t root, uint64_t bytes)
{
    static const uint32_t unused = 1;
    flow_t f = {.call = {.what = a->what, .n = n, .root = root, .bytes = bytes},
                .units = unused,
                .carries = a->carries ? a->carries : everything,
                .size = nearly_equal,
                .alpha = 1000,
                .beta = 3,
                .gamma = 2};
    uint32_t p = 1u << floor_log2(n);
    bool power = n == p;
    if (a->what == C(BARRIER)) {
        bytes = f.call.bytes = 0;
        f.take = hear;
    }
    f.algorithm = sw_algorithm_named(a->what, a->name);
    MUST(f.algorithm && !strcmp(f.algorithm->name, a->name));
    switch (a->shape) {
    case ALL: break;
    case PARTS: f.units = strcmp(a->name, "rabenseifner") ? n : p; break;
    case BLOCKS:
        f.units = n;
        f.size = whole_block;
        break;
    case PAIRS:
        f.units = n * n;
        f.size = whole_block;
        f.moves = !strcmp(a->name, "bruck");
        break;
    case SEGMENTS:
        f.units = (uint32_t)((bytes + 65535) / 65536);
        f.size = segment;
        break;
    case TWO:
        f.units = 2;
        f.size = only_first;
        f.take = scan_take;
        break;
    }
    f.has = calloc((size_t)n * f.units, sizeof *f.has);
    MUST(f.has);
    for (uint32_t me = 0; me < n; me++)
        for (uint32_t u = 0; u < f.units; u++)
            f.has[me * f.units + u] = at_first(&f, me, u);
    flow_run(&f);
    for (uint32_t me = 0; me < n; me++)
        for (uint32_t u = 0; u < f.units; u++)
            MUST(at_last(&f, me, u, f.has[me * f.units + u]));
    free(f.has);

    double formula = sw_algorithm_takes(f.algorithm, &f.call, f.alpha, f.beta,
                                        f.gamma);
    bool even = a->shape == SEGMENTS
                    ? bytes % 65536 == 0
                    : a->shape != PARTS || bytes % f.units == 0;
    if ((a->always || power) && even)
        MUST(f.time > formula - 1e-6 * formula - 1e-9 &&
             f.time < formula + 1e-6 * formula + 1e-9);
    MUST(f.time <= formula * (1 + 1e-9));
    MUST(f.time >= formula * 0.5);
    if (power) {
        double log = floor_log2(n), law = a->messages(n, log);
        if (a->shape != SEGMENTS || bytes == 4 * 65536)
            MUST((double)f.messages == law);
        law = a->blocks(n, log) * (double)bytes;
        if (even)
            MUST((double)f.bytes > law - 0.5 && (double)f.bytes < law + 0.5);
    }
    if (!strcmp(a->name, "dissemination") || !strcmp(a->name, "bruck"))
        MUST(f.messages == n * ceil_log2(n));
    /* What each must get that it has not, nothing twice. */
    if (a->what == C(ALLGATHER))
        MUST(f.bytes == (uint64_t)n * (n - 1) * bytes);
}

static void every_root(const algorithm_t *a, uint32_t n)
{
    bool rooted = a->what == C(BCAST) || a->what == C(REDUCE) ||
                  a->what == C(GATHER) || a->what == C(SCATTER);
    for (uint32_t root = 0; root < (rooted ? n : 1); root++) {
        if (n > 17 && root > 2 && root != n / 2 && root != n - 1)
            continue;
        if (a->shape == SEGMENTS) {
            run(a, n, root, 4 * 65536);
            run(a, n, root, 3 * 65536 + 17);
            run(a, n, root, 100);
        } else {
            run(a, n, root, 1009);
            run(a, n, root, 64ull * n);
        }
    }
}

/* Every name there is has been looked at, and none else. */
static void names(void)
{
    size_t looked_at = 0;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        const char *const *name = sw_algorithm_names(algorithms[i].what);
        while (*name && strcmp(*name, algorithms[i].name))
            name++;
        MUST(*name);
        looked_at++;
    }
    for (int what = 0; what < SW_COLLECTIVE_COUNT; what++) {
        const char *const *name = sw_algorithm_names((sw_op_collective_t)what);
        MUST(*name);
        bool variant = what == C(REDUCE_SCATTER_BLOCK) || what == C(GATHERV) ||
                       what == C(SCATTERV) || what == C(ALLGATHERV) ||
                       what == C(ALLTOALLV) || what == C(ALLTOALLW) ||
                       sw_op_bare((unsigned)what);
        for (; *name; name++) {
            MUST(sw_algorithm_named((sw_op_collective_t)what, *name));
            looked_at -= !variant;
        }
        MUST(!sw_algorithm_named((sw_op_collective_t)what, "magic"));
    }
    MUST(looked_at == 0);
}

/* Steps and formulas of a hundred thousand members are found at once. */
static void many(void)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        const sw_algorithm_t *a = sw_algorithm_named(algorithms[i].what,
                                                     algorithms[i].name);
        sw_call_t call = {.what = algorithms[i].what, .n = 100000, .bytes = 8};
        MUST(sw_algorithm_takes(a, &call, 1000, 1, 1) > 0);
        sw_step_t step;
        for (uint32_t me = 0; me < call.n; me += 7)
            MUST(sw_algorithm_step(a, &call, me, 0, &step));
    }
}

int main(void)
{
    static const uint32_t larger[] = {64, 100};
    names();
    many();
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        for (uint32_t n = 1; n <= 33; n++)
            every_root(&algorithms[i], n);
        for (size_t k = 0; k < (is_halved() ? 1 : 2); k++)
            every_root(&algorithms[i], larger[k]);
    }
    return 0;
}
