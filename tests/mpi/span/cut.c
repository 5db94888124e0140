/*
 * cut.c - a block from another node is larger than the room for it.
 *
 * The rank that has the room gets MPI_ERR_TRUNCATE: the root of a Gatherv, a
 * member in a Scatterv. The other members' blocks are right, nothing behind the
 * room changes, and so is the next call.
 *
 *   cut NODE_SIZE INTS
 */
#include "mpi/test.h"

static int rank, ranks, size, count;
static int *whole, *part, *counts, *places;

static int value(int from, int i)
{
    return from * 1000003 + i;
}

/* The place of a block: blocks lie apart. */
static void fill(int most)
{
    for (int i = 0; i < ranks; i++) {
        counts[i] = most;
        places[i] = i * (count + 16);
    }
    for (int i = 0; i < ranks * (count + 16); i++)
        whole[i] = -1;
    for (int i = 0; i < count + 16; i++)
        part[i] = -1;
}

static void expect(const int *at, int from, int n, int end, const char *what)
{
    for (int i = 0; i < n; i++)
        CHECK(at[i] == value(from, i), "%s: int %d of rank %d is %d", what, i,
              from, at[i]);
    for (int i = n; i < end; i++)
        CHECK(at[i] == -1, "%s: int %d behind the room of rank %d is %d", what,
              i, from, at[i]);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    return class;
}

/* `cut`: the rank whose block has half the room; -1: none. */
static void gather(int root, int cut)
{
    fill(count);
    for (int i = 0; i < count; i++)
        part[i] = value(rank, i);
    if (cut >= 0)
        counts[cut] = count / 2;
    int class = class_of(MPI_Gatherv(part, count, MPI_INT, whole, counts,
                                     places, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(class == (rank == root && cut >= 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
          "Gatherv from %d to %d: class %d", cut, root, class);
    for (int i = 0; i < ranks && rank == root; i++)
        expect(whole + places[i], i, i == cut ? 0 : count,
               i == cut ? 0 : count + 16, "Gatherv");
    for (int i = count / 2; rank == root && cut >= 0 && i < count + 16; i++)
        CHECK(whole[places[cut] + i] == -1, "Gatherv wrote behind the room");
}

static void scatter(int root, int cut)
{
    fill(count);
    for (int i = 0; i < ranks && rank == root; i++)
        for (int j = 0; j < count; j++)
            whole[places[i] + j] = value(i, j);
    int room = rank == cut ? count / 2 : count;
    int class = class_of(MPI_Scatterv(whole, counts, places, MPI_INT, part,
                                      room, MPI_INT, root, MPI_COMM_WORLD));
    CHECK(class == (rank == cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS),
          "Scatterv from %d to %d: class %d", root, cut, class);
    if (rank != cut)
        expect(part, rank, count, count + 16, "Scatterv");
    for (int i = room; i < count + 16; i++)
        CHECK(part[i] == -1, "Scatterv wrote behind the room");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    size = (int)argument(argc, argv, 1, 3);
    count = (int)argument(argc, argv, 2, 50000);
    whole = malloc((size_t)ranks * (size_t)(count + 16) * sizeof *whole);
    part = malloc((size_t)(count + 16) * sizeof *part);
    counts = malloc((size_t)ranks * sizeof *counts);
    places = malloc((size_t)ranks * sizeof *places);
    for (int root = 0; root < ranks; root++)
        for (int cut = 0; cut < ranks; cut++)
            if (cut / size != root / size) {
                gather(root, cut);
                gather(root, -1);
                scatter(root, cut);
                scatter(root, -1);
            }
    MPI_Finalize();
    if (rank == 0)
        puts("all is well");
    return 0;
}
