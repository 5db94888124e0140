/*
 * Programs at random: the same operations give exactly the same times,
 * answers and counts, however hesitantly they come; nothing is complete before
 * it was said that it might be; no event before its cause (options.check);
 * what is sent is received. All kinds of machines.
 */
#include "ranks.h"

#include "vtime/model/model_file.h"

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
    char path[] = "/tmp/straightway-test-XXXXXX", why[200] = "";
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
    fclose(to);
    sw_model_free(&r->model);
    bool good = sw_model_read(&r->model, path, why, sizeof why);
    unlink(path);
    if (!good)
        fprintf(stderr, "%s\n", why);
    MUST(good);
}

/* A round of messages: everybody posts receives, sends, and waits, in orders
 * at random; tags of the round, so that receives from anybody are safe. */
static void messages(ranks_t *r, int tag, uint64_t *s)
{
    enum { MOST = 20 };
    uint32_t n = r->n, next[64] = {0}, count = random_from(s) % MOST + 1;
    bool anybody = random_from(s) % 3 == 0 && !r->asks;
    struct { uint32_t from, to; } m[MOST];
    for (uint32_t i = 0; i < count; i++) {
        m[i].from = random_from(s) % n;
        m[i].to = random_from(s) % n;
        irecv(r, m[i].to, anybody ? SW_OP_ANY : (int)m[i].from,
              random_from(s) % 2 && !anybody ? SW_OP_ANY : tag,
              ++next[m[i].to]);
        if (random_from(s) % 3 == 0)
            compute(r, m[i].to, random_from(s) % 3000);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool blocking = random_from(s) % 2;
        put(r, m[i].from, (sw_vop_t){
            .kind = SW_OP_SEND, .peer = (int32_t)m[i].to, .tag = tag,
            .bytes = random_from(s) % 4 ? random_from(s) % 900
                                        : random_from(s) % 9000,
            .flags = random_from(s) % 8 == 0 ? SW_SEND_BUFFERED
                   : random_from(s) % 8 == 0 ? SW_SEND_SYNCHRONOUS : 0,
            .request = blocking ? 0 : ++next[m[i].from]});
        if (random_from(s) % 3 == 0)
            compute(r, m[i].from, random_from(s) % 3000);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool asked = false;
        if (r->asks && next[i] && next[i] < 8 && random_from(s) % 2 &&
            r->rank[i].asked + 2 < RANKS_ANSWERS) {
            for (uint32_t k = 1; k <= next[i]; k++)
                list(r, i, k);
            choose(r, i, random_from(s) % 5);
            r->rank[i].asked += 2;
            asked = true;
        }
        for (uint32_t k = next[i]; k > 0; k--)
            wait_for(r, i, k);
        if (asked)
            put(r, i, (sw_vop_t){.kind = SW_OP_CLOCK});
    }
}

static void program(ranks_t *r, uint64_t *s)
{
    static const unsigned what[] = {
        SW_COLLECTIVE_BARRIER, SW_COLLECTIVE_BCAST, SW_COLLECTIVE_REDUCE,
        SW_COLLECTIVE_ALLREDUCE, SW_COLLECTIVE_SCAN, SW_COLLECTIVE_GATHERV,
        SW_COLLECTIVE_ALLTOALLV,
    };
    for (int round = 0; round < 12; round++) {
        unsigned kind = what[random_from(s) % 7];
        int root = random_from(s) % r->n;
        uint64_t bytes = random_from(s) % 3000;
        bool apart = random_from(s) % 2;
        bool none = random_from(s) % 3 == 0;
        for (uint32_t i = 0; i < r->n && !none; i++) {
            compute(r, i, random_from(s) % 200000);
            collective(r, i, kind, root,
                       kind == SW_COLLECTIVE_ALLTOALLV ? bytes + 100 * i
                                                       : bytes,
                       apart ? 99 : 0);
        }
        messages(r, round, s);
        for (uint32_t i = 0; i < r->n; i++)
            wait_for(r, i, 99);
    }
}

int main(void)
{
    for (unsigned kind = 0; kind < 240; kind++) {
        uint64_t s = 0x9e3779b97f4a7c15u * (kind + 1);
        ranks_t *r = ranks_new(2 + kind % 7);
        machine(r, kind);
        r->asks = kind / 7 % 2;
        program(r, &s);
        ranks_run(r);
        uint64_t bytes = 0, messages = 0;
        for (uint32_t i = 0; i < r->n; i++)
            for (uint32_t k = 0; k < r->rank[i].count; k++)
                if (r->rank[i].ops[k].kind == SW_OP_SEND) {
                    bytes += r->rank[i].ops[k].bytes;
                    messages++;
                }
        if (kind % 4 != 1)
            MUST(bytes == r->result.bytes && messages == r->result.messages);
        ranks_free(r);
    }
    return 0;
}
