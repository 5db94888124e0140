/*
 * virtual_times.c - programs whose virtual time is known by hand; rank 0 prints
 * "name nanoseconds".
 *
 * The model has o 1000, o' 2000, L 5000 ns and G 0.5 ns a byte. Messages are
 * eager up to 64 KiB, and computing takes no time.
 */
#include "stopwatch.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int me, n;
static char buffer[1 << 20];

static void send(int bytes, int to, int tag)
{
    MPI_Send(buffer, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
}

static void receive(int bytes, int from, int tag)
{
    MPI_Recv(buffer, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void ping_pong(int bytes, const char *name)
{
    begin();
    if (me == 0) {
        send(bytes, 1, 0);
        receive(bytes, 1, 0);
    } else if (me == 1) {
        receive(bytes, 0, 0);
        send(bytes, 0, 0);
    }
    end(name);
}

static void ring(void)
{
    begin();
    if (me == 0)
        send(100, 1 % n, 1);
    receive(100, (me + n - 1) % n, 1);
    if (me != 0)
        send(100, (me + 1) % n, 1);
    end("ring");
}

/* The receiver of a large message comes 80 us late. */
static void late_receiver(void)
{
    begin();
    if (me == 0) {
        send(100000, 1, 2);
    } else if (me == 1) {
        for (int i = 0; i < 10; i++)
            MPI_Sendrecv(buffer, 0, MPI_CHAR, 1, 3, buffer + 4, 0, MPI_CHAR, 1,
                         3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive(100000, 0, 2);
    }
    end("late_receiver");
}

static void nonblocking(void)
{
    MPI_Request r[2];
    begin();
    if (me < 2) {
        MPI_Irecv(buffer, 1000, MPI_CHAR, 1 - me, 4, MPI_COMM_WORLD, &r[0]);
        MPI_Isend(buffer + 2000, 1000, MPI_CHAR, 1 - me, 4, MPI_COMM_WORLD,
                  &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    }
    end("nonblocking");
}

/* The first sender in virtual time is first, whatever the host thinks. */
static void wildcards(void)
{
    MPI_Status status;
    begin();
    if (me == 0) {
        for (int i = 1; i < n; i++) {
            MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD,
                     &status);
            if (status.MPI_SOURCE != n - i)
                printf("wrong order: %d is number %d\n", status.MPI_SOURCE, i);
        }
    } else {
        /* The last rank sends first in virtual time. It is late in real time
         * alone, by a sleep that the engine does not see. */
        if (me == n - 1)
            syscall(SYS_nanosleep, &(struct timespec){0, 50000000}, NULL);
        for (int i = me; i < n - 1; i++)
            MPI_Sendrecv(buffer, 8, MPI_CHAR, me, 6, buffer + 8, 8, MPI_CHAR,
                         me, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        send(8, 0, 5);
    }
    end("wildcards");
}

static void waitany(void)
{
    MPI_Request r[2];
    int index;
    begin();
    if (me == 0) {
        MPI_Irecv(buffer, 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(buffer + 8, 8, MPI_CHAR, 1, 8, MPI_COMM_WORLD, &r[1]);
        MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
        if (index != 1)
            printf("wrong: request %d is first\n", index);
        MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
    } else if (me == 1) {
        send(8, 0, 8);
        send(8, 0, 7);
    }
    end("waitany");
}

/* Polling ends, and at the right time but for its own steps. */
static void polling(void)
{
    MPI_Request r;
    int flag = 0;
    begin();
    if (me == 0) {
        MPI_Irecv(buffer, 100000, MPI_CHAR, 1, 9, MPI_COMM_WORLD, &r);
        while (!flag)
            MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;)
            MPI_Iprobe(1, 10, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        receive(8, 1, 10);
    } else if (me == 1) {
        send(60000, 0, 9);
        send(8, 0, 10);
    }
    end("polling");
}

/* Compute loops take what they take, where the processor is as it is. */
static void late_sender(double ms)
{
    begin();
    if (me == 1) {
        volatile double x = 0;
        struct timespec a, b;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        do {
            for (int i = 0; i < 1000; i++)
                x += i;
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        } while ((double)(b.tv_sec - a.tv_sec) * 1e3 +
                     (double)(b.tv_nsec - a.tv_nsec) * 1e-6 <
                 ms);
        send(8, 0, 11);
    } else if (me == 0) {
        receive(8, 1, 11);
    }
    end("late_sender");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (argc > 1) {
        late_sender(atof(argv[1]));
    } else {
        ping_pong(1000, "ping_pong");
        ping_pong(100000, "rendezvous");
        ring();
        late_receiver();
        nonblocking();
        wildcards();
        waitany();
        polling();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        printf("all is well\n");
    MPI_Finalize();
    return 0;
}
