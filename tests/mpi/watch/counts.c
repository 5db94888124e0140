/*
 * counts.c - messages of every kind between all ranks, at random; each rank
 * prints what it has sent and received, and waits until its input ends.
 *
 * Usage: counts SEED ROUNDS
 *
 * In each round every rank sends one message to every rank, and receives one
 * from each: by procedures that it draws. Lines: "sent RANK COMM TO TAG COUNT",
 * "got RANK COMM FROM TAG COUNT".
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 8, COMMS = 2, TAGS = 3, FEW = 64 };

static MPI_Comm comms[COMMS];
static int me, n, sent[COMMS][RANKS][TAGS], got[COMMS][RANKS][TAGS];
static unsigned long long state;

static int draw(int below)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((state >> 33) % (unsigned)below);
}

static void begin_send(int c, int to, int tag, MPI_Request *r)
{
    static int value[RANKS];
    value[to] = me;
    sent[c][to][tag]++;
    *r = MPI_REQUEST_NULL;
    switch (draw(6)) {
    case 0: MPI_Isend(&value[to], 1, MPI_INT, to, tag, comms[c], r); break;
    case 1: MPI_Issend(&value[to], 1, MPI_INT, to, tag, comms[c], r); break;
    case 2: MPI_Ibsend(&value[to], 1, MPI_INT, to, tag, comms[c], r); break;
    case 3: MPI_Bsend(&value[to], 1, MPI_INT, to, tag, comms[c]); break;
    case 4:
        MPI_Send_init(&value[to], 1, MPI_INT, to, tag, comms[c], r);
        MPI_Start(r);
        break;
    default:
        MPI_Ssend_init(&value[to], 1, MPI_INT, to, tag, comms[c], r);
        MPI_Startall(1, r);
        break;
    }
}

/* A request is left in *r, or the message has come. */
static void begin_receive(int c, int tag, MPI_Request *r)
{
    static int value;
    MPI_Status status;
    MPI_Message message;
    int any = draw(2) ? MPI_ANY_TAG : tag;
    *r = MPI_REQUEST_NULL;
    switch (draw(6)) {
    case 0:
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, any, comms[c], &status);
        break;
    case 1:
        MPI_Mprobe(MPI_ANY_SOURCE, any, comms[c], &message, &status);
        MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Probe(MPI_ANY_SOURCE, any, comms[c], &status);
        MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG,
                 comms[c], MPI_STATUS_IGNORE);
        break;
    case 3:
        MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, any, comms[c], r);
        MPI_Start(r);
        return;
    default:
        MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, any, comms[c], r);
        return;
    }
    got[c][status.MPI_SOURCE][status.MPI_TAG]++;
}

static void note(int c, const MPI_Status *s)
{
    got[c][s->MPI_SOURCE][s->MPI_TAG]++;
}

/* All requests of receives, by one of the completing procedures. */
static void finish(int c, int count, MPI_Request *r)
{
    MPI_Status s[FEW];
    int at[FEW], done = 0, some, flag, left = 0;
    for (int i = 0; i < count; i++)
        if (r[i] != MPI_REQUEST_NULL)
            r[left++] = r[i];
    switch (draw(6)) {
    case 0:
        MPI_Waitall(left, r, s);
        for (; done < left; done++)
            note(c, &s[done]);
        break;
    case 1:
        for (; done < left; done++) {
            MPI_Waitany(left, r, &some, s);
            note(c, s);
        }
        break;
    case 2:
        while (done < left) {
            MPI_Waitsome(left, r, &some, at, s);
            for (int i = 0; i < some; i++, done++)
                note(c, &s[i]);
        }
        break;
    case 3:
        for (int i = 0; i < left; i++) {
            do
                MPI_Test(&r[i], &flag, s);
            while (!flag);
            note(c, s);
        }
        break;
    case 4:
        while (done < left) {
            MPI_Testsome(left, r, &some, at, s);
            for (int i = 0; some != MPI_UNDEFINED && i < some; i++, done++)
                note(c, &s[i]);
        }
        break;
    default:
        for (int i = 0; i < left; i++) {
            MPI_Wait(&r[i], s);
            note(c, s);
        }
        break;
    }
    for (int i = 0; i < left; i++)
        if (r[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&r[i]);
}

/* A receive that is cancelled takes nothing. */
static void cancel(int c)
{
    static int value;
    MPI_Request r;
    MPI_Irecv(&value, 1, MPI_INT, me, 9, comms[c], &r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void round_of(int c, int tag)
{
    MPI_Request sends[RANKS], receives[RANKS];
    int value = me, from;
    MPI_Status status;
    for (int i = 0; i < n; i++)
        begin_send(c, i, tag, &sends[i]);
    for (int i = 0; i < n; i++)
        begin_receive(c, tag, &receives[i]);
    finish(c, n, receives);
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        if (sends[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&sends[i]);
    MPI_Barrier(comms[c]);
    sent[c][(me + 1) % n][tag]++;
    MPI_Sendrecv(&value, 1, MPI_INT, (me + 1) % n, tag, &from, 1, MPI_INT,
                 (me + n - 1) % n, MPI_ANY_TAG, comms[c], &status);
    note(c, &status);
    cancel(c);
}

int main(int argc, char **argv)
{
    static char room[1 << 16];
    int c = 0, shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_set_name(comms[1], "second");
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < atoi(argv[2]); i++) {
        state = (unsigned long long)(atoi(argv[1]) * 1000 + i);
        shared = draw(TAGS);
        c = draw(COMMS);
        state += (unsigned long long)(me + 1) << 20;
        round_of(c, shared);
    }
    for (c = 0; c < COMMS; c++)
        for (int i = 0; i < n; i++)
            for (int t = 0; t < TAGS; t++) {
                if (sent[c][i][t])
                    printf("sent %d %d %d %d %d\n", me, c, i, t, sent[c][i][t]);
                if (got[c][i][t])
                    printf("got %d %d %d %d %d\n", me, c, i, t, got[c][i][t]);
            }
    printf("ready %d\n", me);
    fflush(stdout);
    for (int waited = 0; waited < 600 && getppid() != 1; waited++)
        usleep(100000);
    MPI_Finalize();
    return 0;
}
