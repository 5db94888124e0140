/*
 * The hosts' own switch points (straightway/whatif/models/hosts.toml). Every
 * line is a rule. Every collective of a host has an algorithm for any size and
 * number of ranks. The test compares some of them with those that the hosts'
 * sources name.
 */
#include "ruled.h"

/* A host's table of the file, into a model; how many rules. */
static int host(sw_model_t *model, const char *name)
{
    char path[4096], text[512], head[64];
    const char *end = strstr(__FILE__, "tests/vtime/model/hosts.c");
    MUST(end);
    snprintf(path, sizeof path, "%.*sstraightway/whatif/models/hosts.toml",
             (int)(end - __FILE__), __FILE__);
    snprintf(head, sizeof head, "[%s]\n", name);
    FILE *file = fopen(path, "r");
    MUST(file);
    bool here = false;
    int rules = 0;
    while (fgets(text, sizeof text, file)) {
        if (*text == '[')
            here = !strcmp(text, head);
        char *close = strstr(text, "\",\n");
        if (!here || strncmp(text, "    \"", 5) || !close)
            continue;
        *close = 0;
        say(model, text + 5);
        rules++;
    }
    fclose(file);
    return rules;
}

static bool uses(const sw_model_t *m, sw_op_collective_t what, uint64_t bytes,
                 uint32_t n, const char *name)
{
    sw_plan_t made = plan(m, what, bytes, n);
    bool so = made.algorithm && !strcmp(made.algorithm->name, name);
    if (!so)
        fprintf(stderr, "%s of %lu bytes, %u ranks: %s\n",
                sw_collective_names[what], (unsigned long)bytes, n,
                made.algorithm ? made.algorithm->name : "none");
    return so;
}

static void complete(const sw_model_t *m)
{
    static const uint32_t ranks[] = {2,  3,   4,    7,    8,      9,
                                     64, 100, 1000, 4096, 100000, 1 << 24};
    for (int what = 0; what < SW_COLLECTIVE_COUNT; what++)
        for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
            for (uint64_t bytes = 0; bytes < (uint64_t)1 << 40;
                 bytes = 3 * bytes + 1)
                MUST(plan(m, (sw_op_collective_t)what, bytes, ranks[i])
                         .algorithm);
}

int main(void)
{
    sw_model_t m;
    sw_model_init(&m, 1 << 24);
    MUST(host(&m, "openmpi") > 100);
    complete(&m);
    MUST(uses(&m, C(BARRIER), 0, 3, "recursive_doubling"));
    MUST(uses(&m, C(BARRIER), 0, 4, "linear"));
    MUST(uses(&m, C(BARRIER), 0, 64, "dissemination"));
    MUST(uses(&m, C(ALLREDUCE), 4095, 2, "recursive_doubling"));
    MUST(uses(&m, C(ALLREDUCE), 4096, 2, "ring"));
    MUST(uses(&m, C(ALLREDUCE), 262144, 2, "rabenseifner"));
    MUST(uses(&m, C(ALLREDUCE), 8191, 8, "recursive_doubling"));
    MUST(uses(&m, C(ALLREDUCE), 8192, 8, "rabenseifner"));
    MUST(uses(&m, C(BCAST), 32767, 8, "binomial"));
    MUST(uses(&m, C(BCAST), 32768, 8, "linear"));
    MUST(uses(&m, C(ALLTOALLV), 8, 100, "pairwise"));
    MUST(uses(&m, C(SCAN), 8, 100, "linear"));
    sw_model_free(&m);

    sw_model_init(&m, 1 << 24);
    MUST(host(&m, "mpich") > 50);
    complete(&m);
    MUST(uses(&m, C(BCAST), 12288, 8, "binomial"));
    MUST(uses(&m, C(BCAST), 12289, 8, "scatter_allgather"));
    MUST(uses(&m, C(BCAST), 12289, 7, "binomial"));
    MUST(uses(&m, C(ALLREDUCE), 8, 2, "recursive_doubling"));
    MUST(uses(&m, C(ALLREDUCE), 16, 3, "rabenseifner"));
    MUST(uses(&m, C(ALLREDUCE), 511, 127, "recursive_doubling"));
    MUST(uses(&m, C(ALLREDUCE), 512, 127, "rabenseifner"));
    MUST(uses(&m, C(REDUCE), 2048, 8, "binomial"));
    MUST(uses(&m, C(REDUCE), 2049, 8, "rabenseifner"));
    MUST(uses(&m, C(ALLGATHER), 65535, 8, "recursive_doubling"));
    MUST(uses(&m, C(ALLGATHER), 65536, 8, "ring"));
    MUST(uses(&m, C(ALLGATHERV), 13653, 6, "bruck"));
    MUST(uses(&m, C(ALLGATHERV), 13654, 6, "ring"));
    MUST(uses(&m, C(ALLTOALL), 256, 8, "bruck"));
    MUST(uses(&m, C(ALLTOALL), 256, 7, "linear"));
    MUST(uses(&m, C(ALLTOALL), 32769, 8, "pairwise"));
    MUST(uses(&m, C(REDUCE_SCATTER), 65535, 8, "recursive_halving"));
    MUST(uses(&m, C(REDUCE_SCATTER_BLOCK), 65536, 8, "pairwise"));
    sw_model_free(&m);
    return 0;
}
