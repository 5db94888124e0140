/*
 * Messages that share links: the engine's times against times by hand. All
 * tests have
 *
 *   o = 10, o' = 20, L = 100, g = 5, S = 1000 (ranks.h)
 *
 * A byte takes 1 ps on every link, and a link takes 5 ps. Let a rank send 500
 * bytes at 0 over h links that carry nothing else. The receiver has them at
 *
 *   10 + 100 + 5 h + 500 + 20
 */
#include "ranks.h"

#include "vtime/model/network.h"

static ranks_t *begin(uint32_t n, const char *text)
{
    char whole[200], copy[200], *word[24];
    snprintf(whole, sizeof whole, "%s latency 0.005 G 0.001", text);
    int words = split(whole, copy, sizeof copy, word);
    ranks_t *r = ranks_linked(n);
    r->model.places.per_node = 1;
    r->model.network = sw_network_make(n, words, word, why, sizeof why);
    MUST(r->model.network);
    sw_network_ends(r->model.network, 100);
    return r;
}

/* Each rank sends to the one `by` ahead. */
static void shift(ranks_t *r, uint32_t by, uint64_t bytes)
{
    for (uint32_t i = 0; i < r->n; i++) {
        isend(r, i, (i + by) % r->n, 0, bytes, 1);
        recv(r, i, (int)((i + r->n - by) % r->n), 0);
        wait_for(r, i, 1);
    }
}

static void alone(void)
{
    ranks_t *r = begin(4, "crossbar");
    send(r, 0, 3, 0, 500);
    recv(r, 3, 0, 0);
    ranks_run(r);
    ENDS(r, 3, 640);
    ranks_free(r);
    r = begin(4, "torus size 4");
    send(r, 0, 2, 0, 500); /* two hops: four links */
    recv(r, 2, 0, 0);
    ranks_run(r);
    ENDS(r, 2, 650);
    ranks_free(r);
}

/* The same in a full tree for all ranks at once; tapered, three share a link
 * up, and one after the other comes. */
static void trees(void)
{
    ranks_t *r = begin(8, "fat_tree radix 4 levels 2");
    shift(r, 2, 500);
    ranks_run(r);
    for (uint32_t i = 0; i < 8; i++)
        ENDS(r, i, 650);
    ranks_free(r);
    r = begin(12, "fat_tree radix 4 levels 2 nodes_per_leaf 3");
    shift(r, 3, 500);
    ranks_run(r);
    for (uint32_t i = 0; i < 12; i++)
        ENDS(r, i, 650 + 500 * (i % 3));
    ranks_free(r);
}

/* Neighbours of a torus have links of their own. A message's links are settled
 * when it enters: of two that enter at the same time, the lower sender's go
 * first, though the other's head were at the common cable before. */
static void tori(void)
{
    ranks_t *r = begin(8, "torus size 8");
    shift(r, 1, 500);
    ranks_run(r);
    for (uint32_t i = 0; i < 8; i++)
        ENDS(r, i, 645);
    ranks_free(r);
    r = begin(3, "torus size 16");
    send(r, 0, 2, 0, 500); /* on its second cable from 20 to 520 */
    send(r, 1, 2, 1, 500); /* on the same from 520 on */
    recv(r, 2, 0, 0);      /* 650 */
    recv(r, 2, 1, 1);      /* 520 + 10 + 500 + 100 + 20 */
    ranks_run(r);
    ENDS(r, 2, 1150);
    ranks_free(r);
}

/* A request has the latency of its route; the data wait like others. */
static void rendezvous(void)
{
    ranks_t *r = begin(4, "torus size 4");
    /* request there at 10 + 120, the answer here at 260, gone at 2260 */
    send(r, 0, 2, 0, 2000);
    recv(r, 2, 0, 0); /* 260 + 120 + 2000 + 20 */
    ranks_run(r);
    ENDS(r, 0, 2260);
    ENDS(r, 2, 2400);
    ranks_free(r);
}

/* By way of random groups: the same in whatever order operations come. */
static void random_ways(void)
{
    ranks_t *r = begin(72, "dragonfly groups 9 routers 4 hosts 2 global 2 "
                           "valiant 7");
    for (uint32_t by = 1; by < 72; by += 5)
        shift(r, by, 900);
    ranks_run(r);
    sw_ps_t end = r->result.end;
    for (uint64_t seed = 1; seed < 4; seed++) {
        MUST(ranks_try(r, seed) == SW_ENGINE_DONE);
        MUST(r->result.end == end);
    }
    ranks_free(r);
}

int main(void)
{
    alone();
    trees();
    tori();
    rendezvous();
    random_ways();
    return 0;
}
