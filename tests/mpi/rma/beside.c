/*
 * beside.c - a window, or a persistent send, is made of memory that the program
 * uses at the same time.
 *
 *   beside window|attach|send   another thread counts in all pages of the block
 *                               meanwhile, and loses no count
 *   beside pending              a broadcast into a part of the block is under
 *                               way, and a second thread is idle
 */
#include "mpi/test.h"

#include <pthread.h>
#include <stdatomic.h>

#define PAGE 4096u
#define BLOCK ((size_t)1 << 20)
#define WORDS (BLOCK / PAGE)
#define PART 100000

static char *block;
static _Atomic bool stop;
static _Atomic uint64_t rounds;
static uint64_t counts[WORDS];
static size_t lost;

/* One word in each page. What stands there is what was written last. */
static void *count(void *ignored)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        for (size_t i = 0; i < WORDS; i++) {
            volatile uint64_t *word = (void *)(block + i * PAGE + 64);
            lost += *word != counts[i];
            *word = ++counts[i];
        }
        atomic_fetch_add(&rounds, 1);
    }
    return ignored;
}

static void *sleep_on(void *ignored)
{
    while (!atomic_load(&stop))
        usleep(1000);
    return ignored;
}

static pthread_t start(void *(*run)(void *))
{
    pthread_t thread;
    atomic_store(&stop, false);
    atomic_store(&rounds, 0);
    CHECK(!pthread_create(&thread, NULL, run, NULL), "no thread");
    return thread;
}

static void end(pthread_t thread)
{
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
}

static void make(const char *what)
{
    MPI_Win window;
    MPI_Request request;
    if (!strcmp(what, "window")) {
        MPI_Win_create(block, BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_free(&window);
    } else if (!strcmp(what, "attach")) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
        MPI_Win_attach(window, block, BLOCK);
        MPI_Win_detach(window, block);
        MPI_Win_free(&window);
    } else {
        int to = (world_rank + 1) % world_size;
        MPI_Send_init(block, BLOCK, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    }
}

static void counted(const char *what, int turns)
{
    for (int turn = 0; turn < turns; turn++) {
        block = malloc(BLOCK); /* where no block has been */
        memset(block, 0, BLOCK);
        memset(counts, 0, sizeof counts);
        pthread_t thread = start(count);
        while (!atomic_load(&rounds))
            ;
        make(what);
        end(thread);
        for (size_t i = 0; i < WORDS; i++)
            lost += *(uint64_t *)(void *)(block + i * PAGE + 64) != counts[i];
    }
    CHECK(!lost, "%zu of %zu pages lost a store", lost, WORDS * (size_t)turns);
}

/* The root's part is over before the others make anything of the block. */
static void pending(int turns)
{
    static const char *const makes[] = {"window", "send"};
    pthread_t thread = start(sleep_on);
    char *source = malloc(PART);
    for (int turn = 0; turn < turns; turn++) {
        size_t at = 100 + (size_t)turn * 523 % 5000;
        MPI_Request request;
        block = malloc(BLOCK); /* where no block has been */
        memset(block, 1, BLOCK);
        for (size_t i = 0; i < PART; i++)
            source[i] = (char)mix(i + (size_t)turn);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ibcast(world_rank ? block + at : source, PART, MPI_BYTE, 0,
                   MPI_COMM_WORLD, &request);
        if (world_rank == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        int token = 0;
        MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
        make(makes[turn % 2]);
        if (world_rank)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(!world_rank || !memcmp(block + at, source, PART),
              "turn %d: wrong bytes after the broadcast", turn);
        for (size_t i = 0; i < BLOCK; i++)
            CHECK((world_rank && i >= at && i < at + PART) || block[i] == 1,
                  "turn %d: byte %zu beside it has changed", turn, i);
    }
    free(source);
    end(thread);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    CHECK(argc > 2, "what, and how many turns?");
    if (strcmp(argv[1], "pending"))
        counted(argv[1], atoi(argv[2]));
    else
        pending(atoi(argv[2]));
    MPI_Finalize();
    if (world_rank == 0)
        puts("all is well");
    return 0;
}
