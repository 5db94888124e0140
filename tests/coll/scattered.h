/*
 * scattered.h - a member's data, either contiguous or as a layout picks it out
 * of a buffer. The other members do not know which.
 */
#ifndef SW_TEST_COLL_SCATTERED_H
#define SW_TEST_COLL_SCATTERED_H

#include "everywhere.h"
#include "layout/build.h"
#include "layout/share.h"

/* `reps` runs of `run` bytes, and more of that behind: n bytes in all. */
static inline sw_layout_t *draw_layout(member_t *m, size_t n, int64_t *count)
{
    static const size_t runs[] = {1, 4, 8, 24, 64, 100, 256, 1024};
    static const size_t reps[] = {1, 3, 16};
    size_t run = runs[draw(&m->own) % (sizeof runs / sizeof *runs)];
    size_t rep = reps[draw(&m->own) % (sizeof reps / sizeof *reps)];
    if (n % run || (run == 1 && n > 5000))
        run = n;
    if (n % (run * rep))
        rep = 1;
    size_t stride = run + draw(&m->own) % (run + 30);
    size_t extent = rep * stride + draw(&m->own) % 40;
    sw_build_t *b = sw_build_new();
    sw_layout_place_t p = sw_build_repeat(b, (int64_t)rep, (int64_t)stride,
                                          sw_build_run(b, run));
    sw_layout_t *l = sw_build_end(b, p, (int64_t)extent);
    if (!l)
        fail(m, "no layout");
    *count = (int64_t)(n / (run * rep));
    if (below(&m->own, 8))
        return sw_layout_share(l);
    atomic_store(&l->users, 1);
    return l;
}

/* n bytes of data, in a buffer as take_buffer has them. */
static inline sw_data_t take_data(member_t *m, size_t n)
{
    if (n == 0 || below(&m->own, 2))
        return sw_data_plain(take_buffer(m, n));
    int64_t count, low, high;
    sw_layout_t *l = draw_layout(m, n, &count);
    sw_layout_span(l, count, &low, &high);
    sw_data_t data = {take_buffer(m, (size_t)(high - low)) - low, l, count};
    m->buffer[m->held - 1].data = data;
    return data;
}

static inline void fill_data(const sw_data_t *to, size_t n, uint64_t key)
{
    char *bytes = malloc(n + 1);
    sw_data_t from = {.at = bytes};
    fill(bytes, n, key);
    sw_data_copy(&from, to, 0, n);
    free(bytes);
}

static inline void expect_there(member_t *m, const sw_data_t *data, size_t n,
                                uint64_t key, const char *what)
{
    char *bytes = malloc(n + 1);
    sw_data_pack(data, n, bytes);
    expect_data(m, bytes, n, key, what);
    free(bytes);
}

/* Blocks of their own, of the sizes in `list`, into `data`. */
static inline void take_blocks(member_t *m, const sw_extent_t *list,
                               sw_data_t *data, int n)
{
    for (int i = 0; i < n; i++)
        data[i] = take_data(m, list[i].bytes);
}

#endif
