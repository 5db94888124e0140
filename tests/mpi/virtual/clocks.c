/*
 * clocks.c - a program that times itself by the system's clocks.
 *
 * clocks times LOOPS       each clock's time of as many Alltoalls, ns
 * clocks wait MS           ... of sleeps and waits of so long
 * clocks borders           from before MPI_Init until after MPI_Finalize no
 *                          clock goes back, nor leaps
 * clocks asleep MS         a rank sleeps so long and sends; the other looks for
 *                          that before, and gets it, ns
 * clocks joined MS         a thread sleeps so long, and is waited for, ns
 * clocks handled           what a call takes, by MPI_Wtime and by a clock, ns,
 *                          where a handler reads the clock meanwhile
 * clocks threads           nor in threads, in handlers, in a child of fork, in
 *                          the program's reduction; and none stands still
 */
#include "clocks.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static const clock_row_t rows[] = {
    {"realtime", real},         {"monotonic", monotonic}, {"raw", raw},
    {"coarse", coarse},         {"boottime", boottime},   {"gettimeofday", day},
    {"timespec_get", calendar},
};
#define ROWS ((int)(sizeof rows / sizeof *rows))

static void times(int loops)
{
    for (int i = 0; i < ROWS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t begin = rows[i].now();
        exchange(loops);
        int64_t took = rows[i].now() - begin;
        if (me == 0)
            printf("%s %lld.0\n", rows[i].name, (long long)took);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    exchange(loops);
    double took = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    time_t second = time(NULL);
    if (me == 0)
        printf("wtime %.1f\ntime %.1f\n", took * 1e9,
               (double)(second - real() / 1000000000));
}

/* Waits -------------------------------------------------------------------- */

static struct timespec in(int64_t ns, clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    ns += t.tv_nsec;
    t.tv_sec += ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

static void by_nanosleep(int ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000L}, NULL);
}

static void by_clock_nanosleep(int ms)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, ms * 1000000L},
                    NULL);
}

static void by_moment(int ms)
{
    struct timespec at = in(ms * 1000000L, CLOCK_MONOTONIC);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void by_usleep(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static void by_sleep(int ms)
{
    if (ms >= 1000)
        sleep((unsigned)ms / 1000);
    else
        by_usleep(ms);
}

static void by_select(int ms)
{
    struct timeval t = {0, ms * 1000};
    select(0, NULL, NULL, NULL, &t);
}

static void by_poll(int ms)
{
    poll(NULL, 0, ms);
}

static void by_condition(int ms)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    struct timespec at = in(ms * 1000000L, CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    if (pthread_cond_timedwait(&condition, &mutex, &at) != ETIMEDOUT)
        printf("wrong: the condition came\n");
    pthread_mutex_unlock(&mutex);
}

static void by_monotonic_condition(int ms)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition;
    pthread_condattr_t attributes;
    struct timespec at = in(ms * 1000000L, CLOCK_MONOTONIC);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attributes);
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&condition, &mutex, &at) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&mutex);
}

static void by_semaphore(int ms)
{
    sem_t semaphore;
    struct timespec at = in(ms * 1000000L, CLOCK_REALTIME);
    sem_init(&semaphore, 0, 0);
    if (!sem_timedwait(&semaphore, &at) || errno != ETIMEDOUT)
        printf("wrong: the semaphore came\n");
}

/* A loop that looks at the clock. */
static void by_looking(int ms)
{
    int64_t end = monotonic() + ms * (int64_t)1000000;
    while (monotonic() < end)
        ;
}

static void waits(int ms)
{
    static const struct {
        const char *name;
        void (*wait)(int);
    } way[] = {
        {"nanosleep", by_nanosleep},
        {"clock_nanosleep", by_clock_nanosleep},
        {"moment", by_moment},
        {"usleep", by_usleep},
        {"sleep", by_sleep},
        {"select", by_select},
        {"poll", by_poll},
        {"condition", by_condition},
        {"monotonic_condition", by_monotonic_condition},
        {"semaphore", by_semaphore},
        {"looking", by_looking},
    };
    /* Virtual time is far from the real one. */
    exchange(1000);
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        double begin = MPI_Wtime();
        int64_t clock = monotonic();
        way[i].wait(ms);
        clock = monotonic() - clock;
        double took = MPI_Wtime() - begin;
        if (me == 0)
            printf("%s %.1f\n%s_clock %lld.0\n", way[i].name, took * 1e9,
                   way[i].name, (long long)clock);
    }
    if (me == 0) { /* one that is late for another */
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000 * (useconds_t)ms);
        MPI_Send(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        double begin = (MPI_Barrier(MPI_COMM_WORLD), MPI_Wtime());
        if (me == 1) {
            MPI_Recv(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            printf("late %.1f\n", (MPI_Wtime() - begin) * 1e9);
            MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    }
}

/* Borders, threads --------------------------------------------------------- */

static __thread int64_t before[ROWS], before_really;

/* No clock goes back, and none leaps ahead of what has really passed. */
static void go(const char *where)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    int64_t really = t.tv_sec * 1000000000LL + t.tv_nsec;
    int64_t most = 5000000000 + really - before_really;
    before_really = really;
    for (int i = 0; i < ROWS; i++) {
        int64_t now = rows[i].now();
        if (now < before[i])
            printf("wrong: %s goes back by %lld ns %s\n", rows[i].name,
                   (long long)(before[i] - now), where);
        if (before[i] && now > before[i] + most)
            printf("wrong: %s leaps by %lld ns %s\n", rows[i].name,
                   (long long)(now - before[i]), where);
        before[i] = now;
    }
}

/* Rank 1 probes for a message of rank 0, which sleeps first. The probe waits
 * for rank 0, and finds nothing before the sleep is over. */
static void asleep(int ms)
{
    double begin = MPI_Wtime();
    int flag = 0;
    if (me == 0) {
        usleep((useconds_t)ms * 1000);
        MPI_Send(&me, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (me == 1) {
        MPI_Iprobe(0, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (flag)
            printf("wrong: found too early\n");
        MPI_Recv(&flag, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("found %.1f\n", (MPI_Wtime() - begin) * 1e9);
    }
}

/* Before its first call of MPI. */
static void *sleeper(void *ms)
{
    usleep((useconds_t) * (int *)ms * 1000);
    MPI_Wtime();
    return NULL;
}

static void joined(int ms)
{
    pthread_t thread;
    int64_t begin = monotonic();
    pthread_create(&thread, NULL, sleeper, &ms);
    pthread_join(thread, NULL);
    int64_t took = monotonic() - begin;
    if (me == 0)
        printf("joined %lld.0\n", (long long)took);
}

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    static __thread int64_t last;
    int64_t now = monotonic();
    if (now < last)
        signals = -1000000;
    last = now;
    signals++;
}

/* A signal every so many us of real time; 0: no more. */
static void tick(int us)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, us}, {0, us}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

static volatile int over;

static void *other_thread(void *none)
{
    while (!over)
        go("in a thread");
    /* It gets there by itself. */
    int64_t end = monotonic() + 1000000;
    while (monotonic() < end)
        ;
    usleep(1000);
    if (monotonic() < end + 1000000)
        printf("wrong: a thread's sleep is no time\n");
    return NULL;
}

static void reduce(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int64_t end = monotonic() + 100000;
    go("in a reduction");
    while (monotonic() < end)
        ;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

/* What takes a while, and is no time of the program's. */
static void toil(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (volatile int i = 0; me == 0 && i < 300000000; i++)
        ;
}

/* While rank 0 toils, rank 1 waits in the MPI library. Its signal handler reads
 * a clock meanwhile. */
static void handled(void)
{
    MPI_Op op;
    int one = 1, sum;
    MPI_Op_create(toil, 1, &op);
    tick(1000);
    int64_t begin = monotonic();
    double at = MPI_Wtime();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    at = MPI_Wtime() - at;
    int64_t took = monotonic() - begin;
    tick(0);
    MPI_Op_free(&op);
    if (signals <= 0)
        printf("wrong: %d signals\n", (int)signals);
    if (me == 1)
        printf("wtime %.1f\nclock %lld.0\n", at * 1e9, (long long)took);
}

static void threads(void)
{
    pthread_t thread;
    MPI_Op op;
    int mine = 1, sum = 0;
    tick(2000);
    pthread_create(&thread, NULL, other_thread, NULL);
    MPI_Op_create(reduce, 1, &op);
    for (int i = 0; i < 60; i++) {
        go("between calls");
        exchange(5);
        if (i % 20 == 0) {
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
            if (sum != n)
                printf("wrong sum %d\n", sum);
        }
    }
    tick(0);
    over = 1;
    pthread_join(thread, NULL);
    MPI_Op_free(&op);
    if (signals <= 0)
        printf("wrong: %d signals\n", (int)signals);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        go("in a child");
        int64_t begin = monotonic();
        usleep(20000);
        go("in a child");
        _exit(monotonic() - begin < 20000000 ||
              monotonic() - begin > 2000000000);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status)
        printf("wrong: the child's clock\n");
    go("after a child");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int provided, level = MPI_THREAD_FUNNELED;
    int number = argc > 2 ? atoi(argv[2]) : 0;
    if (argc > 3)
        level = !strcmp(argv[3], "serialized") ? MPI_THREAD_SERIALIZED
                                               : MPI_THREAD_MULTIPLE;
    go("at the start");
    MPI_Init_thread(&argc, &argv, level, &provided);
    go("at MPI_Init");
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (!strcmp(what, "times"))
        times(number);
    else if (!strcmp(what, "wait"))
        waits(number);
    else if (!strcmp(what, "asleep"))
        asleep(number);
    else if (!strcmp(what, "joined"))
        joined(number);
    else if (!strcmp(what, "handled"))
        handled();
    else if (!strcmp(what, "threads"))
        threads();
    else
        exchange(10);
    go("before MPI_Finalize");
    MPI_Finalize();
    go("at MPI_Finalize");
    /* It stands until real time is where it is. */
    int64_t begin = monotonic();
    while (monotonic() == begin)
        ;
    begin = monotonic();
    usleep(10000);
    go("after MPI_Finalize");
    if (monotonic() - begin < 10000000)
        printf("wrong: no time after MPI_Finalize\n");
    if (me == 0)
        printf("all is well\n");
    return 0;
}
