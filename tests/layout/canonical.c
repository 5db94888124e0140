/*
 * One form for what is the same, whatever it was built from; small for what is
 * regular.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/build.h"

static int failures;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        printf("not so: %s\n", what);
        failures++;
    }
}

static sw_layout_t *list_of(int64_t n, int64_t first, int64_t step,
                            uint64_t run, int64_t extent)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t *place = malloc((size_t)n * sizeof *place);
    for (int64_t i = 0; i < n; i++)
        place[i] = sw_place_moved(sw_build_run(b, run), first + i * step);
    sw_layout_place_t p = sw_build_list(b, n, place);
    free(place);
    return sw_build_end(b, p, extent);
}

static const sw_layout_node_t *root(const sw_layout_t *l)
{
    return &l->node[l->root];
}

static void runs_and_steps(void)
{
    sw_layout_t *l = list_of(100, 16, 8, 8, 1000);
    expect(root(l)->kind == SW_NODE_RUN && root(l)->unit == 800 && l->at == 16,
           "runs that touch are one");
    expect(l->nodes == 2, "and nothing remains of the many");
    free(l);
    l = list_of(1000000, 0, 24, 8, 24000000);
    expect(root(l)->kind == SW_NODE_REPEAT && root(l)->count == 1000000 &&
               root(l)->stride == 24 && l->bytes < 500,
           "a million equal steps are one node");
    free(l);
    l = list_of(50, 490, -10, 10, 500);
    expect(root(l)->kind == SW_NODE_REPEAT && root(l)->stride == -10,
           "backwards, runs that touch do not join");
    expect(l->low == 0 && l->high == 500, "and cover what they cover");
    free(l);
    l = list_of(1, 8, 0, 16, 16);
    expect(!sw_layout_dense(l), "moved away is not dense");
    free(l);
    l = list_of(2, 0, 8, 8, 16);
    expect(sw_layout_dense(l), "two halves are dense");
    free(l);
}

/* A plane of a cube, as a list of lists, and as repeats in repeats. */
static void nests(void)
{
    enum { N = 32 };
    sw_build_t *b = sw_build_new();
    sw_layout_place_t row = sw_build_repeat(b, N, 8 * N, sw_build_run(b, 8));
    sw_layout_t *one = sw_build_end(b, sw_build_repeat(b, N, 8 * N * N, row),
                                    8);
    b = sw_build_new();
    sw_layout_place_t line[N], plane[N];
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++)
            line[k] = sw_place_moved(sw_build_run(b, 8), 8 * N * k);
        plane[i] = sw_place_moved(sw_build_list(b, N, line), 8ll * N * N * i);
    }
    sw_layout_t *other = sw_build_end(b, sw_build_list(b, N, plane), 8);
    expect(root(one)->count == N * N && root(one)->kind == SW_NODE_REPEAT,
           "repeats that go on are one");
    expect(root(other)->count == N * N && root(other)->stride == 8 * N,
           "and so are lists of lists");
    free(one);
    free(other);
}

static void shared(void)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t place[300];
    int64_t at = 0;
    for (int i = 0; i < 300; i++) {
        sw_layout_place_t pair[2] = {sw_build_run(b, 3),
                                     sw_place_moved(sw_build_run(b, 5), 7)};
        place[i] = sw_place_moved(sw_build_list(b, 2, pair), at);
        at += 20 + i * i % 7;
    }
    sw_layout_t *l = sw_build_end(b, sw_build_list(b, 300, place), at);
    expect(l->nodes <= 5, "equal subtrees are one node");
    expect(root(l)->kind == SW_NODE_LIST && l->size == 2400, "in a list");
    free(l);
}

static void irregular(void)
{
    sw_build_t *b = sw_build_new();
    enum { N = 2000 };
    sw_layout_place_t place[N];
    for (int64_t i = 0; i < N; i++)
        place[i] = sw_place_moved(sw_build_run(b, 24), i * i * 24 + i * 48);
    sw_layout_t *l = sw_build_end(b, sw_build_list(b, N, place), 8);
    expect(root(l)->kind == SW_NODE_BLOCKS && l->words == N,
           "equal runs at odd places are blocks");
    free(l);
    b = sw_build_new();
    for (int64_t i = 0; i < N; i++)
        place[i] = sw_place_moved(sw_build_run(b, 24), i * 48 + i / 100 * 4096);
    l = sw_build_end(b, sw_build_list(b, N, place), 8);
    expect(root(l)->kind == SW_NODE_REPEAT && root(l)->count == 20 &&
               l->nodes == 4,
           "stretches of a hundred are repeats of repeats");
    free(l);
}

/* Long lists are one node if they are equal, not if they nearly are: here each
 * has one run, another one, in an odd place. */
static void nearly(void)
{
    enum { N = 100, LISTS = N };
    sw_build_t *b = sw_build_new();
    sw_layout_place_t place[N], all[2 * LISTS];
    for (int64_t i = 0; i < 2 * LISTS; i++) {
        for (int64_t k = 0; k < N; k++)
            place[k] = sw_place_moved(
                sw_build_run(b, 8), k * k * 64 + (k == i % LISTS && k ? 8 : 0));
        all[i] = sw_place_moved(sw_build_list(b, N, place), i << 20);
    }
    bool same = true, other = true;
    for (int64_t i = 0; i < LISTS; i++) {
        same = same && all[i].node == all[i + LISTS].node;
        other = other && (!i || all[i].node != all[i - 1].node);
    }
    expect(same, "equal lists are one node");
    expect(other, "and others are not, wherever they differ");
    free(sw_build_end(b, sw_build_list(b, 2 * LISTS, all), 8));
}

/* An empty place between two runs that touch does not part them. */
static void empty_between(void)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t run = sw_build_run(b, 8);
    sw_layout_place_t place[] = {run, sw_build_list(b, 0, NULL),
                                 sw_place_moved(run, 8)};
    sw_layout_t *l = sw_build_end(b, sw_build_list(b, 3, place), 16);
    expect(l && root(l)->kind == SW_NODE_RUN && root(l)->unit == 16,
           "runs that touch are one, with nothing between them");
    free(l);
}

static void refused(void)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t p = sw_build_repeat(b, (int64_t)1 << 40, 1 << 20,
                                          sw_build_run(b, 1 << 10));
    p = sw_build_repeat(b, (int64_t)1 << 40, 1, p);
    expect(!sw_build_end(b, p, 0), "sizes beyond all bounds are refused");
    b = sw_build_new();
    size_t n = SW_LAYOUT_WORDS / SW_ENTRY_WORDS + 10;
    sw_layout_place_t *place = malloc(n * sizeof *place);
    for (size_t i = 0; i < n; i++)
        place[i] = sw_place_moved(sw_build_run(b, 1 + i % 2),
                                  (int64_t)(i * (5 + i % 3)));
    expect(!sw_build_end(b, sw_build_list(b, (int64_t)n, place), 0),
           "and so are more odd places than there is room for");
    free(place);
    b = sw_build_new();
    sw_layout_t *l = sw_build_end(
        b, sw_build_repeat(b, 7, 8, sw_build_list(b, 0, NULL)), 8);
    expect(l && l->size == 0, "nothing is a layout");
    free(l);
}

int main(void)
{
    runs_and_steps();
    nests();
    shared();
    irregular();
    nearly();
    empty_between();
    refused();
    puts(failures ? "FAILED" : "ok");
    return failures != 0;
}
