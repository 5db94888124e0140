/*
 * profile_known.c - calls whose number and bytes are known by construction.
 *
 * Each is made through a macro that notes what a profile must say of it; at
 * the end every rank writes its notes to FOLDER/known.RANK:
 *
 *     PROCEDURE CALLS SENT RECEIVED
 *     to PEER MESSAGES BYTES          from PEER MESSAGES BYTES
 *
 * Usage: profile_known FOLDER. Any number of ranks.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 256
#define RANKS 64

static struct {
    const char *name;
    long calls, sent, received;
} notes[MOST];
static struct {
    long messages, bytes;
} to[RANKS], from[RANKS];
static int me, n;

static void note(const char *name, long sent, long received)
{
    int i = 0;
    while (notes[i].name && strcmp(notes[i].name, name))
        i++;
    notes[i].name = name;
    notes[i].calls++;
    notes[i].sent += sent;
    notes[i].received += received;
}

static void sent_to(int peer, long bytes)
{
    to[peer].messages++;
    to[peer].bytes += bytes;
}

static void come_from(int peer, long bytes)
{
    from[peer].messages++;
    from[peer].bytes += bytes;
}

#define CALL(NAME, SENT, RECEIVED, ...) \
    (note("MPI_" #NAME, SENT, RECEIVED), MPI_##NAME(__VA_ARGS__))

static double in[4096], out[4096];
static int next, last;

/* Each round with other sizes. */
static void blocking(int k)
{
    int count = 1 + 7 * k, bytes = 8 * count;
    MPI_Request r;
    MPI_Status status;
    if (n > 1) {
        if (me % 2 == 0) {
            CALL(Send, bytes, 0, out, count, MPI_DOUBLE, next, k,
                 MPI_COMM_WORLD);
            CALL(Ssend, bytes, 0, out, count, MPI_DOUBLE, next, k,
                 MPI_COMM_WORLD);
        }
        if (me % 2 == 1 || (n % 2 && me == 0)) {
            /* Room for more than comes: what has come counts. */
            CALL(Recv, 0, bytes, in, 4096, MPI_DOUBLE, last, k, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
            CALL(Recv, 0, bytes, in, 4096, MPI_DOUBLE, MPI_ANY_SOURCE,
                 MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        }
        if (me % 2 == 0) {
            sent_to(next, bytes);
            sent_to(next, bytes);
        }
        if (me % 2 == 1 || (n % 2 && me == 0)) {
            come_from(last, bytes);
            come_from(last, bytes);
        }
    }
    CALL(Sendrecv, bytes, bytes, out, count, MPI_DOUBLE, next, 1, in, 4096,
         MPI_DOUBLE, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CALL(Sendrecv_replace, bytes, bytes, in, count, MPI_DOUBLE, next, 2, last,
         2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent_to(next, bytes);
    sent_to(next, bytes);
    come_from(last, bytes);
    come_from(last, bytes);
    /* To no rank: nothing. */
    CALL(Send, 0, 0, out, count, MPI_DOUBLE, MPI_PROC_NULL, k, MPI_COMM_WORLD);
    CALL(Recv, 0, 0, in, count, MPI_DOUBLE, MPI_PROC_NULL, k, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    CALL(Irecv, 0, 0, in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
}

static void nonblocking(int k)
{
    int count = 3 + 11 * k, bytes = 4 * count, flag = 0, index, some, which[4];
    MPI_Request r[4];
    MPI_Status status, statuses[4];
    int *a = (int *)in, *b = (int *)out;
    CALL(Irecv, 0, 0, a, 1000, MPI_INT, last, 3, MPI_COMM_WORLD, &r[0]);
    CALL(Irecv, 0, 0, a + 1000, 1000, MPI_INT, MPI_ANY_SOURCE, 4,
         MPI_COMM_WORLD, &r[1]);
    CALL(Isend, bytes, 0, b, count, MPI_INT, next, 3, MPI_COMM_WORLD, &r[2]);
    CALL(Issend, bytes, 0, b, count, MPI_INT, next, 4, MPI_COMM_WORLD, &r[3]);
    for (int i = 0; i < 2; i++) {
        sent_to(next, bytes);
        come_from(last, bytes);
    }
    switch (k % 5) {
    case 0: CALL(Waitall, 0, 2 * bytes, 4, r, MPI_STATUSES_IGNORE); break;
    case 1: CALL(Waitall, 0, 2 * bytes, 4, r, statuses); break;
    case 2:
        for (int i = 0; i < 4; i++) {
            MPI_Waitany(4, r, &index, i % 2 ? &status : MPI_STATUS_IGNORE);
            note("MPI_Waitany", 0, index < 2 ? bytes : 0);
        }
        break;
    case 3:
        for (int left = 4; left; left -= some) {
            MPI_Waitsome(4, r, &some, which, MPI_STATUSES_IGNORE);
            int receives = 0;
            for (int i = 0; i < some; i++)
                receives += which[i] < 2;
            note("MPI_Waitsome", 0, receives * bytes);
        }
        break;
    default:
        for (int i = 0; i < 4; i++)
            for (flag = 0; !flag;)
                CALL(Test, 0, 0, &r[i], &flag, MPI_STATUS_IGNORE);
        note("MPI_Test", 0, 2 * bytes);
        for (int i = 0; i < MOST; i++) /* that was no call */
            if (notes[i].name && !strcmp(notes[i].name, "MPI_Test"))
                notes[i].calls--;
    }
}

static void persistent(int k)
{
    int count = 5 + k, bytes = 8 * count;
    MPI_Request r[2];
    CALL(Recv_init, 0, 0, in, 100, MPI_DOUBLE, last, 5, MPI_COMM_WORLD, &r[0]);
    CALL(Send_init, 0, 0, out, count, MPI_DOUBLE, next, 5, MPI_COMM_WORLD,
         &r[1]);
    for (int i = 0; i < 3; i++) {
        if (i % 2) {
            CALL(Start, 0, 0, &r[0]);
            CALL(Start, bytes, 0, &r[1]);
        } else {
            CALL(Startall, bytes, 0, 2, r);
        }
        CALL(Waitall, 0, bytes, 2, r, MPI_STATUSES_IGNORE);
        sent_to(next, bytes);
        come_from(last, bytes);
    }
    CALL(Request_free, 0, 0, &r[0]);
    CALL(Request_free, 0, 0, &r[1]);
}

static void probed(int k)
{
    int bytes = 8 * (k + 1), count;
    MPI_Status status;
    MPI_Message message;
    MPI_Request r[2];
    CALL(Isend, bytes, 0, out, k + 1, MPI_DOUBLE, next, 6, MPI_COMM_WORLD,
         &r[0]);
    CALL(Isend, bytes, 0, out, k + 1, MPI_DOUBLE, next, 7, MPI_COMM_WORLD,
         &r[1]);
    CALL(Probe, 0, 0, last, 6, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    note("MPI_Get_count", 0, 0);
    CALL(Recv, 0, bytes, in, count, MPI_DOUBLE, last, 6, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE);
    CALL(Mprobe, 0, 0, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message,
         MPI_STATUS_IGNORE);
    CALL(Mrecv, 0, bytes, in, 100, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    CALL(Waitall, 0, 0, 2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        sent_to(next, bytes);
        come_from(last, bytes);
    }
}

static void typed(void)
{
    MPI_Datatype column;
    CALL(Type_vector, 0, 0, 10, 2, 5, MPI_DOUBLE, &column);
    CALL(Type_commit, 0, 0, &column);
    CALL(Sendrecv, 3 * 160, 3 * 160, out, 3, column, next, 8, in, 60,
         MPI_DOUBLE, last, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent_to(next, 480);
    come_from(last, 480);
    CALL(Type_free, 0, 0, &column);
}

static void collectives(int k)
{
    int c = 2 + k, b = 8 * c, root = k % n, is = me == root;
    MPI_Request r;
    CALL(Barrier, 0, 0, MPI_COMM_WORLD);
    CALL(Bcast, is ? b : 0, is ? 0 : b, in, c, MPI_DOUBLE, root,
         MPI_COMM_WORLD);
    CALL(Reduce, b, is ? b : 0, is ? MPI_IN_PLACE : (void *)out, in, c,
         MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    CALL(Allreduce, b, b, MPI_IN_PLACE, in, c, MPI_DOUBLE, MPI_MAX,
         MPI_COMM_WORLD);
    CALL(Allreduce, b, b, out, in, c, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CALL(Scan, b, b, out, in, c, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CALL(Exscan, b, me ? b : 0, out, in, c, MPI_DOUBLE, MPI_SUM,
         MPI_COMM_WORLD);
    CALL(Gather, b, is ? n * b : 0, out, c, MPI_DOUBLE, in, c, MPI_DOUBLE, root,
         MPI_COMM_WORLD);
    CALL(Scatter, is ? n * b : 0, b, out, c, MPI_DOUBLE,
         is ? MPI_IN_PLACE : (void *)in, c, MPI_DOUBLE, root, MPI_COMM_WORLD);
    CALL(Allgather, b, n * b, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, c,
         MPI_DOUBLE, MPI_COMM_WORLD);
    CALL(Alltoall, n * b, n * b, out, c, MPI_DOUBLE, in, c, MPI_DOUBLE,
         MPI_COMM_WORLD);
    CALL(Reduce_scatter_block, n * b, b, out, in, c, MPI_DOUBLE, MPI_SUM,
         MPI_COMM_WORLD);
    CALL(Iallreduce, b, b, out, in, c, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
    CALL(Ibarrier, 0, 0, MPI_COMM_WORLD, &r);
    CALL(Wait, 0, 0, &r, MPI_STATUS_IGNORE);
}

/* Rank i gives i + j + 1 doubles to rank j. */
static void uneven(void)
{
    int sc[RANKS], sd[RANKS], rc[RANKS], rd[RANKS], at = 0, total = 0;
    for (int i = 0; i < n; i++) {
        sc[i] = rc[i] = me + i + 1;
        sd[i] = rd[i] = at;
        at += sc[i];
    }
    CALL(Alltoallv, 8 * at, 8 * at, out, sc, sd, MPI_DOUBLE, in, rc, rd,
         MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        rc[i] = i + 1;
        rd[i] = total;
        total += i + 1;
    }
    CALL(Allgatherv, 8 * (me + 1), 8 * total, out, me + 1, MPI_DOUBLE, in, rc,
         rd, MPI_DOUBLE, MPI_COMM_WORLD);
    CALL(Gatherv, 8 * (me + 1), me ? 0 : 8 * total, out, me + 1, MPI_DOUBLE, in,
         rc, rd, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CALL(Scatterv, me ? 0 : 8 * total, 8 * (me + 1), out, rc, rd, MPI_DOUBLE,
         in, me + 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CALL(Reduce_scatter, 8 * total, 8 * (me + 1), out, in, rc, MPI_DOUBLE,
         MPI_SUM, MPI_COMM_WORLD);
}

static void communicators(void)
{
    MPI_Comm twin, half, ring;
    int dims = n, period = 1, size;
    CALL(Comm_dup, 0, 0, MPI_COMM_WORLD, &twin);
    CALL(Comm_set_name, 0, 0, twin, "twin");
    CALL(Allreduce, 8, 8, out, in, 1, MPI_DOUBLE, MPI_SUM, twin);
    CALL(Comm_split, 0, 0, MPI_COMM_WORLD, me % 2, -me, &half);
    MPI_Comm_size(half, &size);
    note("MPI_Comm_size", 0, 0);
    CALL(Alltoall, 8 * size, 8 * size, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE,
         half);
    CALL(Cart_create, 0, 0, MPI_COMM_WORLD, 1, &dims, &period, 0, &ring);
    CALL(Neighbor_alltoall, 16, 16, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE,
         ring);
    CALL(Neighbor_allgather, 8, 16, out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE,
         ring);
    CALL(Comm_free, 0, 0, &ring);
    CALL(Comm_free, 0, 0, &half);
    CALL(Comm_free, 0, 0, &twin);
}

static void one_sided(void)
{
    MPI_Win window;
    static double shown[100];
    CALL(Win_create, 0, 0, shown, sizeof shown, 8, MPI_INFO_NULL,
         MPI_COMM_WORLD, &window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Put, 40, 0, out, 5, MPI_DOUBLE, next, 0, 5, MPI_DOUBLE, window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Get, 0, 24, in, 3, MPI_DOUBLE, last, 0, 3, MPI_DOUBLE, window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Accumulate, 16, 0, out, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, MPI_SUM,
         window);
    CALL(Win_fence, 0, 0, 0, window);
    CALL(Win_free, 0, 0, &window);
}

static void files(const char *folder)
{
    char path[512];
    MPI_File file;
    snprintf(path, sizeof path, "%s/data", folder);
    CALL(File_open, 0, 0, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR,
         MPI_INFO_NULL, &file);
    CALL(File_write_at_all, 80, 0, file, 80 * me, out, 10, MPI_DOUBLE,
         MPI_STATUS_IGNORE);
    CALL(File_sync, 0, 0, file);
    CALL(Barrier, 0, 0, MPI_COMM_WORLD);
    /* The file ends before this does. */
    CALL(File_read_at, 0, 80 * (n - me), file, 80 * me, in, 10 * n, MPI_DOUBLE,
         MPI_STATUS_IGNORE);
    CALL(File_close, 0, 0, &file);
}

/* What happens meanwhile is not noted, nor counted. */
static void paused(void)
{
    MPI_Request r;
    MPI_Pcontrol(0);
    MPI_Allreduce(out, in, 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(out, 5, MPI_DOUBLE, next, 9, in, 5, MPI_DOUBLE, last, 9,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 5, MPI_DOUBLE, last, 9, MPI_COMM_WORLD, &r);
    MPI_Send(out, 2, MPI_DOUBLE, next, 9, MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    /* Begun while paused, ended while not. */
    CALL(Wait, 0, 16, &r, MPI_STATUS_IGNORE);
    come_from(last, 16);
}

static void write_notes(const char *folder)
{
    char path[512];
    snprintf(path, sizeof path, "%s/known.%d", folder, me);
    FILE *file = fopen(path, "w");
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; notes[i].name; i++)
        fprintf(file, "%s %ld %ld %ld\n", notes[i].name, notes[i].calls,
                notes[i].sent, notes[i].received);
    for (int i = 0; i < n; i++) {
        if (to[i].messages)
            fprintf(file, "to %d %ld %ld\n", i, to[i].messages, to[i].bytes);
        if (from[i].messages)
            fprintf(file, "from %d %ld %ld\n", i, from[i].messages,
                    from[i].bytes);
    }
    fclose(file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    note("MPI_Comm_rank", 0, 0);
    note("MPI_Comm_size", 0, 0);
    next = (me + 1) % n;
    last = (me + n - 1) % n;
    for (int k = 0; k < 10; k++) {
        blocking(k);
        nonblocking(k);
        persistent(k);
        probed(k);
        collectives(k);
    }
    typed();
    uneven();
    communicators();
    if (n > 1) /* Open MPI 4.1 makes no window for one rank */
        one_sided();
    files(argv[1]);
    paused();
    write_notes(argv[1]);
    MPI_Finalize();
    if (me == 0)
        puts("all is well");
    return 0;
}
