/*
 * How fast the engine is, and what a rank costs: printed, not judged. Ranks in
 * a ring of neighbours exchange messages and meet in an allreduce now and then.
 * With STRAIGHTWAY_DEEP=1 there are 100,000 of them, in a second or so.
 */
#include "vtime/say.h"
#include "vtime/engine/engine.h"

#include <sys/resource.h>
#include <time.h>

/* The k-th operation of each rank follows from k alone. */
typedef struct {
    uint32_t n, rounds;
    uint64_t *at;
} loop_t;

enum { OPS = 16 };

static sw_source_state_t next(void *of, uint32_t rank, sw_vop_t *op)
{
    loop_t *l = of;
    uint64_t k = l->at[rank]++;
    if (k / OPS == l->rounds)
        return SW_SOURCE_END;
    uint32_t left = (rank + l->n - 1) % l->n, right = (rank + 1) % l->n;
    *op = (sw_vop_t){0};
    switch (k % OPS) {
    case 0:
    case 6:
    case 12:
        op->kind = SW_OP_COMPUTE;
        op->time = 1000000 + (rank * 2654435761u + k * 40503) % 100000;
        break;
    case 1:
    case 7:
        op->kind = SW_OP_RECV;
        op->peer = (int32_t)left;
        op->request = 1;
        break;
    case 2:
    case 8:
        op->kind = SW_OP_RECV;
        op->peer = (int32_t)right;
        op->request = 2;
        op->tag = 1;
        break;
    case 3:
    case 9:
        op->kind = SW_OP_SEND;
        op->peer = (int32_t)right;
        op->bytes = 1000;
        break;
    case 4:
    case 10:
        op->kind = SW_OP_SEND;
        op->peer = (int32_t)left;
        op->tag = 1;
        op->bytes = 1000;
        break;
    case 5:
    case 11:
    case 13:
    case 14:
        op->kind = SW_OP_WAIT;
        op->request = k % 2 ? 1 : 2;
        break;
    case 15:
        op->kind = SW_OP_COLLECTIVE;
        op->what = SW_COLLECTIVE_ALLREDUCE;
        op->peer = -1;
        op->bytes = 8;
        break;
    }
    return SW_SOURCE_OP;
}

static void time_it(uint32_t n, uint64_t operations, bool ports,
                    const char *messages)
{
    sw_model_t model;
    sw_model_init(&model, n);
    model.places.per_node = model.places.per_domain = n < 64 ? n : 64;
    for (int class = 0; class < SW_CLASS_COUNT; class++)
        model.links[class] = (sw_model_link_t){.o_send = 300000,
                                               .o_recv = 300000,
                                               .L = 1000000,
                                               .S = 65536,
                                               .g = ports ? 100000 : 0,
                                               .G = ports ? 80 : 0};
    char text[64] = "messages allreduce ";
    if (messages)
        say(&model, strcat(text, messages));
    loop_t loop = {.n = n,
                   .rounds = (uint32_t)(operations / OPS / n),
                   .at = calloc(n, sizeof *loop.at)};
    MUST(loop.at);
    loop.rounds += !loop.rounds;
    sw_op_source_t source = {.of = &loop, .next = next};
    struct timespec a, b;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    sw_engine_t *engine = sw_engine_new(&model, &source, NULL);
    MUST(engine && sw_engine_run(engine) == SW_ENGINE_DONE);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    sw_engine_result_t result;
    sw_engine_result(engine, &result);
    MUST(result.operations == (uint64_t)OPS * n * loop.rounds);
    double s = (double)(b.tv_sec - a.tv_sec) +
               (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%7u ranks %s %-18s %5.2f million operations a second, %ld MiB\n", n,
           ports ? "ports" : "alpha", messages ? messages : "by cost",
           (double)result.operations / s * 1e-6, usage.ru_maxrss >> 10);
    sw_engine_free(engine);
    sw_model_free(&model);
    free(loop.at);
}

int main(void)
{
    uint32_t part = getenv("STRAIGHTWAY_DEEP") ? 1 : 20;
    uint32_t many = 100000 / part, operations = 2000000 / part;
    for (int ports = 0; ports < 2; ports++) {
        time_it(2, operations, ports, NULL);
        time_it(32, operations, ports, NULL);
        time_it(1024, operations, ports, NULL);
    }
    time_it(1024, operations / 2, true, "recursive_doubling");
    time_it(many, 32 * many, true, NULL);
    time_it(many, 16 * many, true, "recursive_doubling");
    return 0;
}
