/*
 * bcast.c - Bcast over several nodes.
 *
 * The gates broadcast along their lane, each from or into its own buffer, and
 * each team broadcasts what its gate has. A large message goes in chunks: while
 * the gates send one, the teams copy the one before.
 */
#include "gate.h"
#include "lanes.h"

#include "node/temporary.h"

#define CHUNK ((size_t)256 << 10)

typedef struct {
    sw_span_t *s;
    sw_gate_t gate;
    char *at; /* the bytes, side by side */
    size_t bytes, started;
    MPI_Request request[2]; /* of the chunks under way */
    int code[2];
    int rc;
} stream_t;

/* The gates send or receive the chunk that begins at `begin`, unless they have
 * begun. */
static void start(stream_t *t, size_t begin)
{
    if (begin < t->started || begin >= t->bytes)
        return;
    size_t which = begin / CHUNK % 2;
    t->started = sw_min(begin + CHUNK, t->bytes);
    t->code[which] = host.Ibcast(t->at + begin, (int)(t->started - begin),
                                 MPI_BYTE, t->gate.home, t->s->lane,
                                 &t->request[which]);
}

static void finish(stream_t *t, size_t begin)
{
    size_t which = begin / CHUNK % 2;
    t->rc = sw_await_first_bad(
        t->rc, sw_span_await(t->s, &t->request[which], t->code[which], CHUNK));
}

/* A chunk within the node. `data`: of this member. */
static void share(stream_t *t, const sw_data_t *data, size_t bytes)
{
    int from = t->gate.is_home ? t->gate.root : t->gate.gate;
    t->rc = sw_await_first_bad(
        t->rc, sw_coll_bcast(t->s->sequence, from, data, bytes));
}

static void chunk(stream_t *t, const sw_data_t *data, size_t begin)
{
    const sw_gate_t *g = &t->gate;
    size_t bytes = sw_min(CHUNK, t->bytes - begin);
    if (g->is_gate && !g->is_home) {
        start(t, begin);
        start(t, begin + CHUNK);
        finish(t, begin);
    }
    if (g->is_root && g->is_gate)
        start(t, begin);
    share(t, data, bytes);
    if (g->is_gate && g->is_home) {
        start(t, begin);
        if (begin)
            finish(t, begin - CHUNK);
        if (begin + bytes == t->bytes)
            finish(t, begin);
    }
}

int sw_span_bcast(sw_span_t *s, int root, const sw_data_t *buffer, size_t bytes)
{
    stream_t t = {
        .s = s, .gate = sw_gate(s, root), .at = buffer->at, .bytes = bytes};
    bool lanes = sw_span_way(s, SW_COLL_BCAST, bytes) == SW_WAY_LANES;
    /* What the host takes, and what is cut into chunks, lies side by side. */
    bool packs = buffer->layout && (t.gate.is_gate || lanes || bytes > CHUNK);
    sw_data_t plain = *buffer;
    if (packs) {
        t.at = sw_temporary(bytes);
        plain = sw_data_plain(t.at);
        if (t.gate.is_root)
            sw_data_pack(buffer, bytes, t.at);
    }
    if (lanes)
        t.rc = sw_lanes_bcast(s, root, t.at, bytes);
    for (size_t begin = 0; begin < bytes && !lanes; begin += CHUNK) {
        sw_data_t data = plain.layout ? plain : sw_data_plain(t.at + begin);
        chunk(&t, &data, begin);
    }
    if (packs) {
        if (!t.gate.is_root)
            sw_data_copy(&plain, buffer, 0, bytes);
        sw_temporary_free(t.at);
    }
    return t.rc;
}
