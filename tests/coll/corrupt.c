/*
 * corrupt.c - a member shows what it does not have. For any content of the
 * fields that it shows, the others read within its arena and write within their
 * buffers. They report an error where the fields make no sense.
 */
#include "scattered.h"

#define BYTES 8192

/* Changes a field, the first being 1; 0: none. */
static void spoil(random_t *r, sw_shown_t *shown, int field)
{
    uint64_t *word[] = {&shown->at, &shown->span, &shown->layout,
                        &shown->serial, (uint64_t *)&shown->count};
    static const uint64_t ends[] = {
        0, 1, 8, 64, 1u << 20, INT64_MAX, UINT64_MAX, (uint64_t)1 << 62};
    if (field == 0)
        return;
    uint64_t *w = word[field - 1], pick = draw(r);
    uint64_t now = *w;
    if (pick % 3 == 0)
        *w = ends[pick / 3 % (sizeof ends / sizeof *ends)];
    else if (pick % 3 == 1)
        *w += pick / 3 % 65 - 32;
    else
        *w = draw(r);
    if (*w == now)
        *w = now + 1;
}

/* Member 0 takes part by hand. */
static void liar(member_t *m, sw_layout_t *l, const char *memory, int field)
{
    sw_sequence_t *seq = m->seq;
    uint64_t step = ++seq->step;
    sw_data_t data = {(char *)(uintptr_t)memory, l, BYTES / 64};
    sw_entry_t *e = sw_sequence_claim(seq, step, SW_READ_ALL);
    e->what = sw_sequence_what(SW_COLL_ALLGATHER, 0);
    e->form = SW_FORM_SHOWN;
    e->bytes = BYTES;
    if (!sw_data_show(&data, BYTES, &e->shown))
        fail(m, "not in the arena");
    spoil(&m->own, &e->shown, field);
    sw_sequence_post(seq, e, step);
    sw_sequence_done(seq, step);
    sw_sequence_await_done_all(seq, step);
}

static void body(member_t *m)
{
    if (!m->seq->team->arena)
        return;
    sw_build_t *b = sw_build_new();
    sw_layout_t *l = sw_layout_share(sw_build_end(b, sw_build_run(b, 64), 100));
    char *memory = sw_arena_alloc_shared(BYTES / 64 * 100, SW_LINE);
    if (!memory) { /* threads have no blocks */
        sw_layout_drop(l);
        return;
    }
    sw_data_t mine = {memory, l, BYTES / 64};
    int told = 0, count = rounds(150);
    for (int round = 0; round < count; round++) {
        uint64_t key = key_of((uint64_t)round, 0, 0);
        int field = below(&m->common, 6);
        if (m->me == 0) {
            fill_data(&mine, BYTES, key);
            liar(m, l, memory, field);
            continue;
        }
        sw_blocks_t blocks = {.bytes = BYTES};
        char *recv = take_buffer(m, BYTES * (size_t)m->n);
        char *send = take_buffer(m, BYTES);
        int rc = sw_coll_allgather(m->seq, PLAIN(send), BYTES, recv, &blocks);
        if (field == 0 && rc != SW_OK)
            fail(m, "the truth was refused: %d", rc);
        if (field == 0)
            expect_data(m, recv, BYTES, key, "what was shown");
        if (rc != SW_OK && rc != SW_UNREACHABLE)
            fail(m, "told %d", rc);
        told += rc == SW_UNREACHABLE;
        release_buffers(m);
    }
    if (m->me && told < count / 2)
        fail(m, "%d of %d lies were seen", told, count);
    expect_ok(m, sw_coll_barrier(m->seq));
    sw_layout_drop(l);
    sw_arena_free(memory);
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
