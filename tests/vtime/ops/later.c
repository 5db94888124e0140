/*
 * Blocking collectives that are completed later: just before a rank's next
 * operation that is no computation, once each, however hesitantly the
 * operations come.
 */
#include "must.h"
#include "vtime/ops/later.h"

#include <string.h>

typedef struct {
    const char *ops; /* one letter each, see kinds */
    uint32_t at;
    uint64_t chance;
} script_t;

static sw_vop_t op_of(char letter)
{
    static const struct {
        char letter;
        sw_vop_t op;
    } kinds[] = {
        {'c', {.kind = SW_OP_COMPUTE, .time = 1}},
        {'s', {.kind = SW_OP_SEND}},
        {'x', {.kind = SW_OP_SECTION}},
        {'t', {.kind = SW_OP_THREAD}},
        {'A', {.kind = SW_OP_COLLECTIVE, .what = SW_COLLECTIVE_ALLREDUCE}},
        {'i',
         {.kind = SW_OP_COLLECTIVE,
          .what = SW_COLLECTIVE_ALLREDUCE,
          .request = 5}},
        {'B', {.kind = SW_OP_COLLECTIVE, .what = SW_COLLECTIVE_BARRIER}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].letter == letter)
            return kinds[i].op;
    MUST(!"a kind");
    return kinds[0].op;
}

static sw_source_state_t next(void *of, uint32_t rank, sw_vop_t *op)
{
    script_t *s = (script_t *)of + rank;
    if (random_from(&s->chance) % 3 == 0)
        return SW_SOURCE_LATER;
    if (!s->ops[s->at])
        return SW_SOURCE_END;
    *op = op_of(s->ops[s->at++]);
    return SW_SOURCE_OP;
}

/* A collective that is started is `a`, its wait `w`. */
static char letter_of(const sw_vop_t *op)
{
    switch (op->kind) {
    case SW_OP_COMPUTE: return 'c';
    case SW_OP_SEND: return 's';
    case SW_OP_SECTION: return 'x';
    case SW_OP_THREAD: return 't';
    case SW_OP_WAIT: return 'w';
    }
    return op->request == 5                    ? 'i'
           : op->what == SW_COLLECTIVE_BARRIER ? op->request ? 'b' : 'B'
           : op->request                       ? 'a'
                                               : 'A';
}

static void becomes(const char *ops, const char *later)
{
    for (uint64_t chance = 1; chance < 20; chance++) {
        script_t scripts[2] = {{.ops = "", .chance = 1},
                               {.ops = ops, .chance = chance}};
        sw_op_source_t from = {.of = scripts, .next = next}, source;
        sw_later_t *l = sw_later_new(&from, 2, 1u << SW_COLLECTIVE_ALLREDUCE);
        MUST(l);
        sw_later_source(l, &source);
        char found[64] = "", *end = found;
        sw_source_state_t state;
        sw_vop_t op;
        while ((state = source.next(source.of, 1, &op)) != SW_SOURCE_END)
            if (state == SW_SOURCE_OP)
                *end++ = letter_of(&op);
        if (strcmp(found, later))
            fprintf(stderr, "%s becomes %s, not %s\n", ops, found, later);
        MUST(!strcmp(found, later));
        MUST(source.next(source.of, 1, &op) == SW_SOURCE_END);
        sw_later_free(l);
    }
}

int main(void)
{
    becomes("cAcs", "cacws");
    becomes("AA", "awaw");
    becomes("cAcxcA", "cacxcwaw");
    becomes("AcBs", "acwBs");
    becomes("Aci", "acwi");
    becomes("iccs", "iccs");
    becomes("A", "aw");
    becomes("tAcs", "tAcs");
    return 0;
}
