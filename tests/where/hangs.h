/*
 * hangs.h - what the programs that hang share. Each program holds several
 * kinds of hang, and its first argument names one.
 *
 * A comment HERE, with a kind and ranks, says that these ranks hang in the line
 * below it. A test reads it (hangs.py), and so no test names a line's number. A
 * rank with several such lines may hang in any of them. All kinds are compiled
 * with -O1: at a higher level compilers merge calls of different lines.
 *
 * All ranks begin with one MPI_Barrier. So the first collective of a kind on
 * MPI_COMM_WORLD is its second.
 */
#ifndef SW_TESTS_WHERE_HANGS_H
#define SW_TESTS_WHERE_HANGS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE
/* In one line: a rank that has left MPI. */
#define SLEEP_ON \
    for (;;)     \
    usleep(20000)

/* Intel MPI alone keeps a message of this size for its receiver. */
enum { BIG = 4 << 20 };

typedef struct {
    const char *name;
    void (*hang)(void);
    int level;
} kind_t;

#define KIND(name) {#name, name, MPI_THREAD_SINGLE}
#define THREADS(name) {#name, name, MPI_THREAD_MULTIPLE}

static int me, size;
static char big[BIG], other[BIG];

/* Tell the test which process this is. */
static inline void ready(void)
{
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
}

static inline const kind_t *kind_of(const char *name, const kind_t *kinds,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    }
    fprintf(stderr, "no kind is called %s\n", name);
    exit(2);
}

/* Begin MPI, and hang as the kind of this name does. */
static inline void hang_as(const char *name, const kind_t *kinds, size_t count)
{
    const kind_t *kind = kind_of(name, kinds, count);
    int level;
    MPI_Init_thread(NULL, NULL, kind->level, &level);
    if (level < kind->level) {
        fprintf(stderr, "this MPI has no threads\n");
        MPI_Abort(W, 3);
    }
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &size);
    ready();
    MPI_Barrier(W);
    kind->hang();
    fprintf(stderr, "rank %d does not hang\n", me);
    MPI_Abort(W, 4);
}

#define HANG(argc, argv, kinds)                 \
    hang_as((argc) > 1 ? (argv)[1] : "", kinds, \
            sizeof(kinds) / sizeof((kinds)[0]))

#endif
