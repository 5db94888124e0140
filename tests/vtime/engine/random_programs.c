/*
 * Programs at random: the same operations give exactly the same times,
 * answers and counts, however hesitantly they come; nothing is complete before
 * it was said that it might be; no event before its cause (options.check);
 * what is sent is received. All kinds of machines.
 */
#include "vtime/program.h"
#include "ranks.h"
#include "rounds.h"

#include <unistd.h>

static void machine(ranks_t *r, unsigned kind)
{
    static const char *const lines[] = {
        "link %s o_send 0.01 o_recv 0.02 L 0.1 g 0.005 G 0.001 S 1000\n",
        "link %s L 0.1\n",
        "\n",
        ("link %s o_send 0.01 L 0.3 g 0.05 S 100\n"
         "point %s 0 0.02 0.1 0.01 0.03\npoint %s 4000 0.1 2 1.5 0.4\n"),
    };
    static const char *const classes[] = {"self", "domain", "node", "network"};
    char path[] = "/tmp/straightway-test-XXXXXX";
    int fd = mkstemp(path);
    FILE *to = fdopen(fd, "w");
    MUST(to);
    fprintf(to, "ranks %u\nplace %u %u\n", r->n, kind % 3 + 1, kind % 3 + 1);
    for (int i = 0; i < 4; i++)
        fprintf(to, lines[kind / 3 % 4], classes[i], classes[i], classes[i]);
    if (kind % 5 == 1)
        fprintf(to, "network crossbar latency 0.05 G 0.002\n");
    if (kind % 2)
        fprintf(to, "noise 1000 300 %u\n", kind);
    fprintf(to, "reduce 0.001\ntest 0.003\n");
    if (kind % 4 == 1)
        fprintf(to, "messages allreduce recursive_doubling\n"
                    "messages bcast binomial\nmessages alltoallv pairwise\n");
    if (kind % 4 == 2)
        fprintf(to, "free all\n");
    if (kind % 4 == 3 || kind % 8 == 0)
        fprintf(to, "started all 0 0.1 0.6 0.3 0.2 0\n"
                    "started all 2000 0.1 0.2 0.7 0 1\n");
    if (kind % 7 < 3)
        fprintf(to, "access created put 8 0.05 0.01\n"
                    "access created put 900 0.5 0.001\n"
                    "access created fetch 8 0.07 0\n");
    if (kind % 7 == 2)
        fprintf(to, "access created get 0 0 0.2\nlocks created 0.1 0.03\n");
    fclose(to);
    sw_model_free(&r->model);
    bool good = sw_model_read(&r->model, path, why, sizeof why);
    unlink(path);
    if (!good)
        fprintf(stderr, "%s\n", why);
    MUST(good);
}

static void to_script(void *of, uint32_t rank, sw_vop_t op)
{
    put(of, rank, op);
}

int main(void)
{
    static const uint32_t backwards[] = {7, 6, 5, 4, 3, 2, 1, 0};
    /* To be mended: of kind 2250 a wait for some requests finds one or two that
     * complete at the same time, as hesitantly as the operations come. */
    for (unsigned kind = 0; kind < (is_halved() ? 240u : 480u); kind++) {
        ranks_t *r = ranks_new(2 + kind % 7);
        program_t p = {.n = r->n,
                       .rounds = 12,
                       .put = to_script,
                       .of = r,
                       .chance = 0x9e3779b97f4a7c15u * (kind + 1),
                       .asks = kind / 7 % 2,
                       .window = kind / 14 % 2};
        machine(r, kind);
        r->asks = p.asks;
        if (p.window)
            context(r, p.window, r->n, backwards + 8 - r->n);
        program_make(&p);
        ranks_run(r);
        uint64_t bytes = 0, messages = 0;
        for (uint32_t i = 0; i < r->n; i++)
            for (uint32_t k = 0; k < r->rank[i].count; k++)
                if (r->rank[i].ops[k].kind == SW_OP_SEND) {
                    bytes += r->rank[i].ops[k].bytes;
                    messages++;
                }
        if (kind % 4 != 1 && !p.window)
            MUST(bytes == r->result.bytes && messages == r->result.messages);
        ranks_free(r);
    }
    return 0;
}
