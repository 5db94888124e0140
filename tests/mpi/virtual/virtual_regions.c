/*
 * virtual_regions.c - regions, with times that are known: what a rank computes
 * it sleeps, and all else is so quick that it does not count.
 *
 *     virtual_regions         two ranks: a late sender three times, a message
 *                             in a region of a region, a late collective
 *     virtual_regions ring    any number, all alike but for a region
 *     virtual_regions joins   a thread that calls MPI is waited for
 *     virtual_regions helper  one that does not begins a region
 */
#include "mpi/test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <straightway.h>

static straightway_region_func_t named_begin, named_end;

static void ms(int n)
{
    struct timespec time = {0, n * 1000000L};
    nanosleep(&time, NULL);
}

static void two(int me)
{
    char data[8] = {0};
    for (int i = 0; i < 3; i++) {
        MPI_Pcontrol(2);
        if (me == 0) {
            ms(10);
            MPI_Send(data, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        }
        MPI_Pcontrol(-2);
    }
    named_begin("solve");
    ms(5);
    named_begin("halo");
    char in[100];
    MPI_Sendrecv(data, 8, MPI_CHAR, !me, 1, in, 100, MPI_CHAR, !me, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    named_end(NULL);
    named_end("halo"); /* ignored */
    named_end("solve");
    MPI_Pcontrol(0); /* of a profile alone */
    ms(2);
    MPI_Pcontrol(1);
    MPI_Pcontrol(3);
    ms(me ? 4 : 0);
    double one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 2, "a sum");
    MPI_Pcontrol(-3);
}

static void ring(int me, int n)
{
    double one = 1, all = 0;
    for (int i = 0; i < 2; i++) {
        named_begin("step");
        ms(1);
        MPI_Sendrecv(&one, 1, MPI_DOUBLE, (me + 1) % n, 1, &all, 1, MPI_DOUBLE,
                     (me + n - 1) % n, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 0) {
            named_begin("log");
            ms(3);
            named_end("log");
        }
        named_end("step");
        MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void *sends(void *unused)
{
    double out[1] = {1}, in[1];
    ms(10);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, 0, 1, in, 1, MPI_DOUBLE, 0, 1,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return unused;
}

static void *begins(void *unused)
{
    named_begin("elsewhere");
    return unused;
}

static void with(void *(*run)(void *))
{
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run, NULL), "a thread");
    pthread_join(thread, NULL);
}

static void joins(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    named_begin("join");
    with(sends);
    named_end("join");
    ms(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The engine learns only at the next call where the region begins. */
static void helper(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    with(begins);
    ms(3);
    MPI_Barrier(MPI_COMM_WORLD);
    ms(2);
    named_end("elsewhere");
    ms(1);
}

int main(int argc, char **argv)
{
    int me, n;
    named_begin = (straightway_region_func_t)(uintptr_t)dlsym(
        RTLD_DEFAULT, STRAIGHTWAY_REGION_BEGIN_SYMBOL);
    named_end = (straightway_region_func_t)(uintptr_t)dlsym(
        RTLD_DEFAULT, STRAIGHTWAY_REGION_END_SYMBOL);
    CHECK(named_begin && named_end, "the two calls");
    named_begin("too early");
    int level = MPI_THREAD_SINGLE, has;
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "joins"))
        level = MPI_THREAD_MULTIPLE;
    else if (argc > 2)
        level = atoi(argv[2]) ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED;
    MPI_Init_thread(&argc, &argv, level, &has);
    if (has < level)
        printf("no MPI_THREAD that high\n");
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (!strcmp(what, "joins") && has == level)
        joins();
    else if (!strcmp(what, "helper"))
        helper();
    else if (!strcmp(what, "ring"))
        ring(me, n);
    else if (!*what)
        two(me);
    MPI_Finalize();
    named_end("too late");
    if (me == 0)
        printf("all is well\n");
    return 0;
}
