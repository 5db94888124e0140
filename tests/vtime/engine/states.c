/*
 * Times of messages and collectives by what the rank has computed, as they are
 * by hand: state 1 is reached after 100, state 2 after 1600 (model.h). A
 * message is sent in 10, 20, 52, and received in 20, 40, 72; the way takes 100.
 */
#include "ranks.h"
#include "vtime/model/ruled.h"

#include <stdlib.h>

static ranks_t *begin(void)
{
    static const sw_link_point_t points[] = {
        {0, 10, 100, 5, 20},
        {0, 20, 100, 5, 40},
        {0, 52, 100, 5, 72},
    };
    ranks_t *r = ranks_new(2);
    r->model.state_count = 3;
    r->model.states[1] = (sw_state_t){.after = 100};
    r->model.states[2] = (sw_state_t){.after = 1600};
    for (int k = 0; k < 3; k++) {
        sw_model_link_t *link = &r->model.links[SW_CLASS_DOMAIN];
        link->points[k] = malloc(sizeof *points);
        MUST(link->points[k]);
        *link->points[k] = points[k];
        link->point_count[k] = 1;
    }
    return r;
}

/* When rank 0 has sent `bytes` after computing. */
static void sends(sw_ps_t computed, uint64_t bytes, sw_ps_t end)
{
    ranks_t *r = begin();
    compute(r, 0, computed);
    send(r, 0, 1, 0, bytes);
    recv(r, 1, 0, 0);
    ranks_run(r);
    ENDS(r, 0, end);
    ranks_free(r);
}

static void messages(void)
{
    sends(0, 8, 10);
    sends(99, 8, 109);
    sends(100, 8, 120);
    sends(400, 8, 436); /* half of the way from 100 to 1600 */
    sends(1600, 8, 1652);
    sends(5000, 8, 5052);
}

/* A program cannot have written so many bytes in so little time. */
static void bytes_count(void)
{
    ranks_t *r = begin();
    r->model.states[1].after_byte = 10;
    MUST(sw_model_state(&r->model, 1099, 100) == 0);
    MUST(sw_model_state(&r->model, 1100, 100) == SW_STATE_PARTS);
    MUST(sw_model_state(&r->model, 1600, 100) == 2 * SW_STATE_PARTS);
    MUST(sw_model_state(&r->model, INT64_MAX, 0) == 2 * SW_STATE_PARTS);
    MUST(sw_model_between(SW_STATE_PARTS + 4, 1600, 3200) == 2000);
    MUST(sw_model_between(SW_STATE_PARTS, 1600, 3200) == 1600);
    ranks_free(r);
}

/* What a message leaves in the caches is itself. */
static void moved(uint64_t first, uint64_t then, sw_ps_t end)
{
    ranks_t *r = begin();
    send(r, 1, 0, 0, first);
    recv(r, 1, 0, 0);
    compute(r, 0, 5000);
    recv(r, 0, 1, 0); /* 5020 */
    send(r, 0, 1, 0, then);
    ranks_run(r);
    ENDS(r, 0, end);
    ranks_free(r);
}

static void all(ranks_t *r, uint32_t rank)
{
    collective(r, rank, SW_COLLECTIVE_ALLREDUCE, -1, 8, 0);
}

static void collectives(void)
{
    ranks_t *r = begin();
    say(&r->model, "table allreduce 2 8 1 1");
    say(&r->model, "table allreduce 2 8 2 2 1");
    say(&r->model, "table allreduce 2 8 4 4 2");
    say(&r->model, "measured allreduce");
    for (uint32_t i = 0; i < 2; i++) {
        all(r, i);                  /* 1000 */
        all(r, i);                  /* 2000 */
        compute(r, i, i ? 0 : 100); /* 2100: one has computed */
        all(r, i);                  /* 4100 */
        compute(r, i, 400);         /* 4500 */
        all(r, i);                  /* 7500: half of the way */
        all(r, i);                  /* 8500: nothing since */
        compute(r, i, 1600);
        all(r, i); /* 14100 */
    }
    ranks_run(r);
    ENDS(r, 0, 14100);
    ENDS(r, 1, 14100);
    ranks_free(r);
}

int main(void)
{
    messages();
    bytes_count();
    moved(8, 8, 5030);
    moved(8, 4000, 5072);
    moved(4000, 8, 5030);
    collectives();
    return 0;
}
