/*
 * halo.c - a solver of two dimensions: halo exchange, and an allreduce of what
 * has changed, over several nodes.
 *
 *   halo REPORT [STEPS [SIDE]]
 *
 * The grid holds integers, so the sums' order does not matter: every rank
 * writes a digest of its part, and all sums, to REPORT.RANK. A run on the host
 * alone must write the same. Besides, the ranks gather doubles and add them up
 * in rank order, and scan them with an operation that does not commute: both
 * have one right result, bit by bit.
 *
 * The halo has as many bytes as messages between the ranks of a node need to be
 * ours.
 */
#include "mpi/test.h"

static int me, n, side;
static int64_t *now, *next;
static FILE *report;
static MPI_Comm line;
static MPI_Datatype pair;
static MPI_Op then;

static int64_t *row(int64_t *grid, int i)
{
    return grid + (size_t)i * (size_t)side;
}

static void exchange(void)
{
    int up, down;
    MPI_Request request[4];
    MPI_Cart_shift(line, 0, 1, &up, &down);
    MPI_Irecv(row(now, 0), side, MPI_INT64_T, up, 1, line, &request[0]);
    MPI_Irecv(row(now, side + 1), side, MPI_INT64_T, down, 2, line,
              &request[1]);
    MPI_Isend(row(now, side), side, MPI_INT64_T, down, 1, line, &request[2]);
    MPI_Isend(row(now, 1), side, MPI_INT64_T, up, 2, line, &request[3]);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static int64_t relax(void)
{
    int64_t changed = 0;
    for (int i = 1; i <= side; i++)
        for (int j = 0; j < side; j++) {
            int64_t *at = row(now, i) + j, west = j ? at[-1] : 7;
            int64_t east = j < side - 1 ? at[1] : 11;
            int64_t value = (at[-side] + at[side] + west + east + *at) / 5 +
                            (*at & 3);
            changed += value - *at;
            row(next, i)[j] = value;
        }
    int64_t *old = now;
    now = next;
    next = old;
    return changed;
}

/* x -> a x + b: (a, b) after (c, d) is (a c, b c + d). */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    double *first = in, *second = inout;
    for (int i = 0; i < *count; i++, first += 2, second += 2) {
        double a = first[0] * second[0];
        double b = first[1] * second[0] + second[1];
        second[0] = a;
        second[1] = b;
    }
}

/* Small whole numbers: each result is exact, whatever the brackets. */
static void in_rank_order(int step)
{
    double mine[2] = {1 + (me + step) % 2, me - step % 5}, all[2], upto[2];
    double want[2] = {1, 0}, share = 0.1 * (me + 1) + step, sum = 0, again = 0;
    double *shares = calloc((size_t)n, sizeof *shares);
    MPI_Allgather(&share, 1, MPI_DOUBLE, shares, 1, MPI_DOUBLE, line);
    for (int i = 0; i < n; i++) {
        sum += shares[i];
        again += 0.1 * (i + 1) + step;
    }
    CHECK(!memcmp(&sum, &again, sizeof sum),
          "the sum in rank order is %a, "
          "not %a",
          sum, again);
    MPI_Allreduce(mine, all, 1, pair, then, line);
    MPI_Scan(mine, upto, 1, pair, then, line);
    for (int i = 0; i < n; i++) {
        double one[2] = {1 + (i + step) % 2, i - step % 5};
        want[1] = want[1] * one[0] + one[1];
        want[0] *= one[0];
        CHECK(i != me || !memcmp(upto, want, sizeof want),
              "step %d: the prefix is %g %g, not %g %g", step, upto[0], upto[1],
              want[0], want[1]);
    }
    CHECK(!memcmp(all, want, sizeof want), "step %d: %g %g, not %g %g", step,
          all[0], all[1], want[0], want[1]);
    fprintf(report, "%a %a %a %a %a\n", sum, all[0], all[1], upto[0], upto[1]);
    free(shares);
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    char path[4096];
    int periodic = 1, steps = (int)argument(argc, argv, 2, 40);
    side = (int)argument(argc, argv, 3, 2048);
    snprintf(path, sizeof path, "%s.%d", argv[1], world_rank);
    report = fopen(path, "w");
    CHECK(report, "cannot write %s", path);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &periodic, 0, &line);
    MPI_Comm_rank(line, &me);
    MPI_Comm_size(line, &n);
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &then);
    size_t cells = (size_t)(side + 2) * (size_t)side;
    now = calloc(cells, sizeof *now);
    next = calloc(cells, sizeof *next);
    for (size_t i = 0; i < cells; i++)
        now[i] = (int64_t)(mix(i + (size_t)me * cells) % 100000);
    for (int step = 0; step < steps; step++) {
        int64_t sums[2] = {0, me}, most = 0;
        exchange();
        sums[0] = relax();
        MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT64_T, MPI_SUM, line);
        CHECK(sums[1] == n * (n - 1) / 2, "step %d: the ranks sum to %lld",
              step, (long long)sums[1]);
        MPI_Reduce(row(now, 1), &most, 1, MPI_INT64_T, MPI_MAX, step % n, line);
        MPI_Bcast(&most, 1, MPI_INT64_T, step % n, line);
        fprintf(report, "%lld %lld\n", (long long)sums[0], (long long)most);
        if (step % 8 == 0)
            in_rank_order(step);
    }
    uint64_t digest = 1;
    for (int i = 1; i <= side; i++)
        for (int j = 0; j < side; j++)
            digest = mix(digest ^ (uint64_t)row(now, i)[j]);
    fprintf(report, "%016llx\n", (unsigned long long)digest);
    fclose(report);
    MPI_Op_free(&then);
    MPI_Type_free(&pair);
    MPI_Comm_free(&line);
    test_end();
}
