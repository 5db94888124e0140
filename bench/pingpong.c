/*
 * pingpong.c - messages between neighbours, in the manner of NetPIPE.
 *
 * Ranks 0 and 1 are a pair, 2 and 3 the next; all pairs work at once. The
 * patterns, and the time of a cell:
 *
 *   pingpong       there and back by blocking calls; half of a round trip
 *   bidirectional  both send and receive at once (Irecv, Isend, Waitall)
 *   stream         even ranks send without a pause, an empty message comes
 *                  back at the end of the batch; one message's share
 *   window         W Isend against W Irecv, Waitall on both sides, then an
 *                  empty message back; one message's share
 *   ring           all ranks: Sendrecv to the right and from the left
 *   random         Sendrecv with a partner that each call draws anew: the
 *                  ranks fall into random pairs
 *   give           there and back, one block, by straightway_give and
 *                  straightway_take; half of a round trip
 *   read, giveread as pingpong and give, and a rank reads each cache line of
 *                  what has come before it answers
 *   write          as pingpong, and a rank writes to each cache line of what
 *                  has come
 *   rewrite        as pingpong, and a rank writes to each cache line of what it
 *                  is about to send
 *   partitioned    pingpong by the host; by Straightway a partitioned message
 *                  there and one back
 *
 * Of a plan with protocols, the patterns pingpong, read, write and rewrite have
 * a way for each (ladder.h).
 *
 * Messages have places of their own for sending and for receiving. A check of
 * each cell in both modes comes before its timing. The receiver starts with the
 * complement of the right bytes. Every byte must arrive in the right place,
 * once with one content and once with another. sampling.c measures the cells.
 */
#include <straightway_mpi.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "bench.h"
#include "computing.h"
#include "ladder.h"
#include "messages.h"
#include "partitions.h"
#include "sampling.h"

#define CHECKS 2
#define DRAWS 64 /* of pairs, used in turn */

enum { MESSAGE, BACK }; /* tags */

static const sw_bench_plan_t *plan;
static int rank, ranks, partner;
static MPI_Comm comm;
static sw_area_t sent, received;
static int length; /* of this cell's messages */
static MPI_Request *requests;

/* The patterns ----------------------------------------------------------- */

static bool first_of_pair(void)
{
    return rank % 2 == 0;
}

static int send_one(void)
{
    return MPI_Send(sw_area_next(&sent), length, MPI_BYTE, partner, MESSAGE,
                    comm);
}

static int receive_one(void)
{
    return MPI_Recv(sw_area_next(&received), length, MPI_BYTE, partner, MESSAGE,
                    comm, MPI_STATUS_IGNORE);
}

/* The empty message that ends a stream or a window. */
static int come_back(void)
{
    char nothing;
    if (first_of_pair())
        return MPI_Recv(&nothing, 0, MPI_BYTE, partner, BACK, comm,
                        MPI_STATUS_IGNORE);
    return MPI_Send(&nothing, 0, MPI_BYTE, partner, BACK, comm);
}

/* There and back --------------------------------------------------------- */

/* What a rank does with the data of a message, besides. */
typedef enum { UNTOUCHED, READ, WRITE, REWRITE } access_t;

/* One word of each line. */
static void read_lines(const unsigned char *data)
{
    const volatile unsigned char *line = data;
    for (size_t i = 0; i < (size_t)length; i += 64)
        (void)line[i];
}

/* The same content: the check looks at it. */
static void write_lines(unsigned char *data)
{
    volatile unsigned char *line = data;
    for (size_t i = 0; i < (size_t)length; i += 64)
        line[i] = line[i];
}

/* How bytes get to the other rank: their place before, the call that sends
 * them from there, and the call that says where they have come. */
typedef struct {
    unsigned char *(*place)(void);
    int (*send)(bool written);
    int (*receive)(unsigned char **at);
} carrier_t;

static unsigned char *message_place(void)
{
    return sw_area_peek(&sent, 0);
}

static int message_send(bool written)
{
    (void)written;
    return send_one();
}

static int message_receive(unsigned char **at)
{
    *at = sw_area_peek(&received, 0);
    return receive_one();
}

static void *block; /* of the rank that has it */

static unsigned char *block_place(void)
{
    return block;
}

static int block_give(bool written)
{
    (void)written;
    return straightway_give(&block, (size_t)length, partner, MESSAGE, comm);
}

static int block_take(unsigned char **at)
{
    size_t bytes = 0;
    int error = straightway_take(&block, &bytes, partner, MESSAGE, comm,
                                 MPI_STATUS_IGNORE);
    *at = block;
    return error || bytes == (size_t)length ? error : MPI_ERR_OTHER;
}

static const sw_remap_t *remap; /* of this batch */

static unsigned char *pages_place(void)
{
    return sw_remap_view(remap);
}

static int pages_send(bool written)
{
    return sw_remap_send(remap, written);
}

static int pages_receive(unsigned char **at)
{
    *at = sw_remap_arrived(remap);
    return sw_remap_receive(remap);
}

static int parts_send(bool written)
{
    (void)written;
    return sw_partitions_send();
}

static int parts_receive(unsigned char **at)
{
    *at = sw_area_peek(&received, 0);
    return sw_partitions_receive();
}

static const carrier_t messages = {message_place, message_send,
                                   message_receive},
                       blocks = {block_place, block_give, block_take},
                       pages = {pages_place, pages_send, pages_receive},
                       parts = {message_place, parts_send, parts_receive};

static bool checking; /* all bytes go through the areas then */

static int carry(const carrier_t *by, access_t access)
{
    unsigned char *from = by->place();
    if (checking && from != message_place())
        memcpy(from, sw_area_next(&sent), (size_t)length);
    if (access == REWRITE)
        write_lines(from);
    return by->send(access == REWRITE || checking);
}

static int fetch(const carrier_t *by, access_t access)
{
    unsigned char *at, *place = sw_area_peek(&received, 0);
    int error = by->receive(&at);
    if (error)
        return error;
    if (access == READ)
        read_lines(at);
    if (access == WRITE)
        write_lines(at);
    if (checking && at != place)
        memcpy(sw_area_next(&received), at, (size_t)length);
    return error;
}

static int there_and_back(const carrier_t *by, access_t access, int calls)
{
    int error = 0;
    for (int i = 0; i < calls; i++) {
        error |= first_of_pair() ? carry(by, access) : fetch(by, access);
        error |= first_of_pair() ? fetch(by, access) : carry(by, access);
    }
    return error;
}

/* One way, and all ranks ------------------------------------------------- */

static int bidirectional(int calls)
{
    int error = 0;
    for (int i = 0; i < calls; i++) {
        MPI_Request both[2];
        error |= MPI_Irecv(sw_area_next(&received), length, MPI_BYTE, partner,
                           MESSAGE, comm, &both[0]);
        error |= MPI_Isend(sw_area_next(&sent), length, MPI_BYTE, partner,
                           MESSAGE, comm, &both[1]);
        error |= MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    return error;
}

static int stream(int calls)
{
    int error = 0;
    for (int i = 0; i < calls; i++)
        error |= first_of_pair() ? send_one() : receive_one();
    return error | come_back();
}

static int window(int calls)
{
    int error = 0;
    for (int i = 0; i < calls; i++) {
        for (int w = 0; w < plan->window; w++)
            error |= first_of_pair()
                         ? MPI_Isend(sw_area_next(&sent), length, MPI_BYTE,
                                     partner, MESSAGE, comm, &requests[w])
                         : MPI_Irecv(sw_area_next(&received), length, MPI_BYTE,
                                     partner, MESSAGE, comm, &requests[w]);
        error |= MPI_Waitall(plan->window, requests, MPI_STATUSES_IGNORE);
        error |= come_back();
    }
    return error;
}

static int exchange(int to, int from)
{
    return MPI_Sendrecv(sw_area_next(&sent), length, MPI_BYTE, to, MESSAGE,
                        sw_area_next(&received), length, MPI_BYTE, from,
                        MESSAGE, comm, MPI_STATUS_IGNORE);
}

static int ring(int calls)
{
    int error = 0;
    for (int i = 0; i < calls; i++)
        error |= exchange((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    return error;
}

static int drawn[DRAWS]; /* this rank's partners */

/* All ranks draw the same pairs. */
static bool draw_partners(void)
{
    unsigned long long state = plan->seed;
    int *order = malloc((size_t)ranks * sizeof *order);
    if (!order)
        return false;
    for (int i = 0; i < ranks; i++)
        order[i] = i;
    for (int d = 0; d < DRAWS; d++) {
        for (int i = ranks - 1; i > 0; i--) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            int j = (int)((state >> 33) % (unsigned)(i + 1)), was = order[i];
            order[i] = order[j];
            order[j] = was;
        }
        for (int i = 0; i < ranks; i++)
            if (order[i] == rank)
                drawn[d] = order[i ^ 1];
    }
    free(order);
    return true;
}

static int shuffled(int calls)
{
    int error = 0;
    for (int i = 0; i < calls; i++)
        error |= exchange(drawn[i % DRAWS], drawn[i % DRAWS]);
    return error;
}

typedef struct {
    const char *name;
    int (*repeat)(int calls); /* or else there and back: */
    const carrier_t *by;
    access_t access;
    bool one_way;  /* only the second of a pair receives */
    bool windowed; /* plan->window messages in a call */
    double share;  /* of a call's time */
} pattern_t;

static const pattern_t patterns[] = {
    {.name = "pingpong", .by = &messages, .share = 0.5},
    {.name = "bidirectional", .repeat = bidirectional, .share = 1},
    {.name = "stream", .repeat = stream, .one_way = true, .share = 1},
    {.name = "window",
     .repeat = window,
     .one_way = true,
     .windowed = true,
     .share = 1},
    {.name = "ring", .repeat = ring, .share = 1},
    {.name = "random", .repeat = shuffled, .share = 1},
    {.name = "give", .by = &blocks, .share = 0.5},
    {.name = "read", .by = &messages, .access = READ, .share = 0.5},
    {.name = "giveread", .by = &blocks, .access = READ, .share = 0.5},
    {.name = "write", .by = &messages, .access = WRITE, .share = 0.5},
    {.name = "rewrite", .by = &messages, .access = REWRITE, .share = 0.5},
    {.name = "partitioned", .by = &parts, .share = 0.5},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static size_t under_way(const pattern_t *pattern)
{
    return pattern->windowed ? (size_t)plan->window : 1;
}

/* One message at a time, there and back: of those that begin at the same
 * moment, the receiver's time is the message's. */
static int after_computing(int calls, double *seconds)
{
    int error = 0;
    *seconds = 0;
    for (int i = 0; i < 2 * calls; i++) {
        double begin = sw_computing(sw_area_peek(&sent, 0), (size_t)length,
                                    sw_area_peek(&received, 0), (size_t)length);
        error |= first_of_pair() == (i % 2 == 0) ? send_one() : receive_one();
        *seconds += sw_now() - begin;
    }
    return error;
}

static int repeat(const void *what, int way, int calls, double *seconds)
{
    const pattern_t *pattern = what;
    if (plan->computing)
        return after_computing(calls, seconds);
    if (pattern->repeat)
        return pattern->repeat(calls);
    /* The host sends the same bytes as one message. */
    return there_and_back(way == SW_HOST && pattern->by == &parts ? &messages
                                                                  : pattern->by,
                          pattern->access, calls);
}

/* The library is asked for its counts after the batch. */
static int climb(const void *what, int way, int calls, double *seconds)
{
    double begin = sw_now();
    sw_carried_t as = sw_ladder_carries(way, &remap);
    int error = there_and_back(as == SW_BLOCKS  ? &blocks
                               : as == SW_PAGES ? &pages
                                                : &messages,
                               ((const pattern_t *)what)->access, calls);
    *seconds = sw_now() - begin;
    sw_ladder_count(way, calls);
    return error;
}

/* The check -------------------------------------------------------------- */

/* Rank 0's report of one rank's messages, and of the worst. */
enum { WRONG, WHOSE, WHICH, AT, GOT, WANT, WORDS };
static long long report[SW_MOST_WAYS][WORDS];

static unsigned seed_of(int sender, size_t message, int mode, int time)
{
    return (unsigned)message + 101u * (unsigned)sender + 57u * (unsigned)mode +
           31u * (unsigned)time + 0x100u * (unsigned)(sender + time);
}

static int sender_to_me(const pattern_t *pattern)
{
    return pattern->repeat == ring       ? (rank + ranks - 1) % ranks
           : pattern->repeat == shuffled ? drawn[0]
                                         : partner;
}

static bool receives(const pattern_t *pattern)
{
    return !pattern->one_way || !first_of_pair();
}

/* Check the messages in the places from `from` on. */
static void look(const pattern_t *pattern, const sw_area_t *from, int mode,
                 int time, long long *words)
{
    for (size_t i = 0; i < under_way(pattern) && !words[WRONG]; i++) {
        sw_wrong_t wrong = sw_message_check(
            sw_area_peek(from, i), (size_t)length,
            seed_of(sender_to_me(pattern), i, mode, time));
        if (!wrong.found)
            continue;
        words[WRONG] = 1;
        words[WHICH] = (long long)i;
        words[AT] = wrong.at;
        words[GOT] = wrong.got;
        words[WANT] = wrong.want;
    }
}

static void exchange_once(const sw_cell_t *cell, int mode, int time,
                          long long *words)
{
    const pattern_t *pattern = cell->what;
    const sw_area_t before = received;
    for (size_t i = 0; i < under_way(pattern); i++) {
        sw_message_fill(sw_area_peek(&sent, i), (size_t)length,
                        seed_of(rank, i, mode, time));
        sw_message_spoil(sw_area_peek(&received, i), (size_t)length,
                         seed_of(sender_to_me(pattern), i, mode, time));
    }
    checking = true;
    sw_batch(cell, mode, 1);
    checking = false;
    if (!receives(pattern))
        return;
    if (plan->corrupt)
        sw_area_peek(&before, 0)[length / 2] ^= 0xff;
    look(pattern, &before, mode, time, words);
}

static bool check(const sw_cell_t *cell, int mode)
{
    long long mine[WORDS] = {0};
    mine[WHOSE] = rank;
    for (int time = 0; time < CHECKS; time++)
        exchange_once(cell, mode, time, mine);
    int right = !mine[WRONG], all;
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, comm);

    memset(report[mode], 0, sizeof report[mode]);
    if (!all) {
        long long *found = malloc((size_t)ranks * sizeof mine);
        if (!found)
            MPI_Abort(comm, 1);
        MPI_Gather(mine, WORDS, MPI_LONG_LONG, found, WORDS, MPI_LONG_LONG, 0,
                   comm);
        for (int r = 0; rank == 0 && r < ranks; r++)
            if (found[r * WORDS + WRONG] && !report[mode][WRONG])
                memcpy(report[mode], found + r * WORDS, sizeof mine);
        free(found);
    }
    return all;
}

/* The floor -------------------------------------------------------------- */

static double copy_us; /* a memcpy of a message, on rank 0 */

/* Over the places that messages use. */
static double copies(int calls)
{
    double start = sw_now();
    for (int i = 0; i < calls; i++) {
        unsigned char *to = sw_area_next(&received);
        memcpy(to, sw_area_next(&sent), (size_t)length);
        __asm__ volatile("" ::"r"(to) : "memory");
    }
    return sw_now() - start;
}

/* Cells ------------------------------------------------------------------ */

static const sw_cell_t *measured; /* the cell under way */

static void put_more(FILE *file)
{
    fprintf(file, ", \"memcpy\": %.5g", copy_us);
    if (plan->protocols)
        sw_ladder_put(file);
    for (int m = 0; m < measured->way_count; m++)
        if (report[m][WRONG])
            fprintf(file,
                    ", \"%s_wrong\": {\"rank\": %lld, \"message\": %lld,"
                    " \"byte\": %lld, \"got\": %lld, \"want\": %lld}",
                    measured->ways[m].name, report[m][WHOSE], report[m][WHICH],
                    report[m][AT], report[m][GOT], report[m][WANT]);
}

static bool measure(const pattern_t *pattern, size_t size)
{
    size_t cold = plan->cold;
    length = (int)size;
    sw_area_lay(&sent, size, under_way(pattern), cold, plan->offset[0]);
    sw_area_lay(&received, size, under_way(pattern), cold, plan->offset[1]);
    copy_us = sw_least_copy(copies);
    static const sw_sampling_way_t sides[] = {{"host", SW_HOST, 0, 0},
                                              {"ours", SW_OURS, 0, 0}};
    bool in_parts = pattern->by == &parts;
    sw_cell_t cell = {.name = pattern->name,
                      .size = size,
                      .what = pattern,
                      .ways = sides,
                      .way_count = sw_run.modes,
                      .repeat = repeat,
                      .check = check,
                      .more = put_more,
                      .calls = plan->computing ? SW_CALLS_ALONE : 0,
                      .share = pattern->share / (double)under_way(pattern)};
    measured = &cell;
    if ((first_of_pair() && straightway_alloc(size, &block)) ||
        (in_parts &&
         sw_partitions_bind(sw_area_peek(&sent, 0), sw_area_peek(&received, 0),
                            length, partner, comm)))
        MPI_Abort(comm, 1);
    if (plan->protocols) {
        cell.repeat = climb;
        cell.settle = sw_ladder_settle;
        sw_ladder_climb(&cell);
    }
    bool right = sw_measure(&cell);
    free(block);
    block = NULL;
    if (in_parts)
        sw_partitions_free();
    sw_ladder_leave();
    return right;
}

/* Is the pattern to be measured? Of one that the host lacks, a line says so. */
static bool is_wanted(const pattern_t *pattern)
{
    if (!sw_chosen(plan->patterns, pattern->name))
        return false;
    if (pattern->by != &parts || sw_partitions_known())
        return true;
    if (sw_output())
        fprintf(sw_output(), "{\"missing\": \"%s\"}\n", pattern->name);
    return false;
}

/* Memory ----------------------------------------------------------------- */

static size_t need(void)
{
    size_t most = 0;
    for (int p = 0; p < PATTERNS; p++)
        for (int s = 0; s < plan->size_count; s++) {
            size_t bytes = sw_area_bytes(plan->size[s], under_way(&patterns[p]),
                                         plan->cold);
            if (sw_chosen(plan->patterns, patterns[p].name) && bytes > most)
                most = bytes;
        }
    return most;
}

static bool agree(bool good, size_t bytes)
{
    int mine = good, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, comm);
    if (!all && rank == 0)
        fprintf(stderr,
                "straightway-bench: no memory for two areas of %zu "
                "bytes per rank%s\n",
                bytes,
                plan->memory == SW_BENCH_STACK ? " on the stack (ulimit -s)"
                                               : "");
    return all;
}

static bool run(void *first, void *second, size_t bytes, bool (*start)(void))
{
    requests = malloc((size_t)plan->window * sizeof *requests);
    bool paired = ranks % 2 || draw_partners();
    if (!agree(first && second && requests && paired, bytes) ||
        !agree(!plan->computing || sw_computing_prepare(plan->swept),
               plan->swept) ||
        !start())
        return false;
    sent.memory = first;
    received.memory = second;
    memset(first, 1, bytes);
    memset(second, 1, bytes);
    bool right = true;
    for (int p = 0; p < PATTERNS; p++)
        if (is_wanted(&patterns[p]))
            for (int s = 0; s < plan->size_count; s++)
                right &= measure(&patterns[p], plan->size[s]);
    free(requests);
    return right;
}

/* The main thread's stack grows up to the limit of the moment, so raising it
 * helps even now. */
static bool stack_has(size_t bytes)
{
    struct rlimit limit;
    size_t wanted = bytes + ((size_t)4 << 20);
    if (getrlimit(RLIMIT_STACK, &limit))
        return false;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted)
        return true;
    limit.rlim_cur = wanted;
    return !setrlimit(RLIMIT_STACK, &limit);
}

static bool run_on_stack(size_t bytes, bool (*start)(void))
{
    if (!agree(stack_has(2 * bytes), bytes))
        return false;
    void *first = __builtin_alloca(bytes), *second = __builtin_alloca(bytes);
    return run(first, second, bytes, start);
}

static void *mapped(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Memory that all protocols reach: shared from its birth. */
static void *lent(size_t bytes)
{
    void *at = NULL;
    int before = plan->accelerate ? plan->accelerate(1) : 0;
    MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &at);
    if (plan->accelerate)
        plan->accelerate(before);
    return at;
}

bool sw_pingpong(bool (*start)(void))
{
    plan = sw_run.plan;
    comm = sw_run.comm;
    rank = sw_run.rank;
    ranks = sw_run.ranks;
    partner = rank ^ 1;
    if (ranks % 2 && strcmp(plan->patterns, "ring")) {
        if (rank == 0)
            fputs("straightway-bench: messages go between pairs: start an even "
                  "number of ranks\n",
                  stderr);
        return false;
    }
    size_t bytes = need();
    if (plan->protocols && !sw_ladder_start()) {
        if (rank == 0)
            fputs("straightway-bench: none of these protocols can be measured: "
                  "Straightway does not serve here\n",
                  stderr);
        return false;
    }
    if (plan->protocols)
        return run(lent(bytes), lent(bytes), bytes, start);
    if (plan->memory == SW_BENCH_STACK)
        return run_on_stack(bytes, start);
    bool heap = plan->memory == SW_BENCH_HEAP;
    return run(heap ? malloc(bytes) : mapped(bytes),
               heap ? malloc(bytes) : mapped(bytes), bytes, start);
}
