/*
 * Operations at random that make no sense together: most such programs stop in
 * a deadlock. They do the engine no harm, and it keeps everything in order as
 * far as it gets (options.check). It gets equally far whatever order it reads
 * the operations in.
 */
#include "ranks.h"

static sw_vop_t operation(uint64_t *s, uint32_t n, bool asks, unsigned nth)
{
    static const uint8_t kinds[] = {
        SW_OP_COMPUTE, SW_OP_SEND,       SW_OP_SEND,   SW_OP_SEND,
        SW_OP_RECV,    SW_OP_RECV,       SW_OP_RECV,   SW_OP_RECV,
        SW_OP_WAIT,    SW_OP_WAIT,       SW_OP_DROP,   SW_OP_SECTION,
        SW_OP_CLOCK,   SW_OP_LIST,       SW_OP_LIST,   SW_OP_SELECT,
        SW_OP_PROBE,   SW_OP_IPROBE,     SW_OP_CHOOSE, SW_OP_MATCHED,
        SW_OP_MATCHED, SW_OP_COLLECTIVE, SW_OP_WINDOW, SW_OP_WINDOW};
    static const uint8_t collectives[] = {
        SW_COLLECTIVE_ALLREDUCE, SW_COLLECTIVE_ALLTOALLV, SW_COLLECTIVE_BCAST,
        SW_COLLECTIVE_SCAN};
    sw_vop_t op = {.kind = kinds[random_from(s) % sizeof kinds]};
    /* What was told, or cancelled, is the order in which a host did things. */
    if (!asks && (op.kind == SW_OP_MATCHED || op.kind == SW_OP_DROP))
        op.kind = SW_OP_COMPUTE;
    op.peer = (int32_t)(random_from(s) % (n + 1)) - 1;
    if (op.peer < 0 && (op.kind == SW_OP_SEND || op.kind == SW_OP_MATCHED))
        op.peer = 0;
    op.tag = (int32_t)(random_from(s) % 3) - (op.kind == SW_OP_RECV);
    if (op.kind == SW_OP_COLLECTIVE)
        op.peer = op.tag = 0;
    op.request = random_from(s) % 4;
    op.bytes = random_from(s) % 4 ? 8 : 2000;
    op.time = (sw_ps_t)(random_from(s) % 500);
    op.flags = random_from(s) % 3;
    if (op.kind == SW_OP_COLLECTIVE) {
        op.what = collectives[nth % sizeof collectives];
        op.tag = nth % 8 == 4; /* rank 0 and the others */
    }
    if (op.kind == SW_OP_WINDOW) {
        op.what = SW_WINDOW_PUT + random_from(s) % 7;
        op.peer = (int32_t)(random_from(s) % n);
        op.flags = random_from(s) % 2;
        op.context = 1;
    }
    if (op.kind == SW_OP_SELECT)
        op.what = random_from(s) % 5;
    return op;
}

int main(void)
{
    unsigned done = 0;
    for (unsigned k = 1; k <= 4000; k++) {
        uint64_t s = k * 0x9e3779b97f4a7c15u;
        ranks_t *r = ranks_linked(2 + k % 3);
        for (int i = 0; i < SW_CLASS_COUNT && k % 3 == 0; i++)
            r->model.links[i].g = 0, r->model.links[i].G = 0;
        if (k % 5 == 0)
            r->model.places.per_node = r->model.places.per_domain = 1;
        if (k % 2) {
            say(&r->model, "messages allreduce recursive_doubling");
            say(&r->model, "messages alltoallv pairwise");
        }
        r->asks = k % 4 < 2;
        context(r, 1, r->n, MEMBERS(0, 1, 2, 3));
        for (uint32_t i = 0; i < r->n; i++)
            put(r, i,
                (sw_vop_t){.kind = SW_OP_WINDOW,
                           .what = SW_WINDOW_MAKE,
                           .context = 1});
        for (uint32_t i = 0; i < r->n; i++) {
            unsigned collectives = 0;
            for (unsigned j = 0; j < 4 + k % 20; j++) {
                sw_vop_t op = operation(&s, r->n, r->asks, collectives);
                collectives += op.kind == SW_OP_COLLECTIVE;
                put(r, i, op);
            }
        }
        sw_engine_state_t first = ranks_try(r, 0);
        MUST(first == SW_ENGINE_DONE || first == SW_ENGINE_DEADLOCK);
        done += first == SW_ENGINE_DONE;
        memcpy(r->times, r->result.ranks, r->n * sizeof *r->times);
        sw_engine_state_t second = ranks_try(r, s);
        if (!r->asks) {
            MUST(first == second);
            MUST(!memcmp(r->times, r->result.ranks, r->n * sizeof *r->times));
        }
        ranks_free(r);
    }
    MUST(done > 10);
    return 0;
}
