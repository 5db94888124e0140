/*
 * manifest.c - see manifest.h.
 *
 * A slot begins with the bytes that its member sends in all, then has the sizes
 * by node. A letter begins with a cover, then has the sizes by sender and
 * receiver, then the blocks where the cover says so.
 */
#include "manifest.h"

#include "node/temporary.h"

#include <stdlib.h>

typedef struct {
    uint64_t most;  /* the largest sum of a member */
    uint64_t small; /* the blocks are in here */
} cover_t;

size_t sw_sizes_to(const sw_sizes_t *sizes, const uint64_t *row, int node)
{
    const sw_span_t *s = sizes->s;
    if (!row)
        return (size_t)sw_span_members(s, node) * sizes->bytes;
    size_t all = 0;
    for (int i = s->first[node]; i < s->first[node + 1]; i++)
        all += row[i];
    return all;
}

size_t sw_sizes_away(const sw_sizes_t *sizes, const uint64_t *row)
{
    size_t all = 0;
    for (int k = 0; k < sizes->s->nodes; k++)
        if (k != sizes->s->node)
            all += sw_sizes_to(sizes, row, k);
    return all;
}

void sw_manifest_parts(const sw_sizes_t *sizes, const sw_table_t *table,
                       sw_parts_t *parts)
{
    const sw_span_t *s = sizes->s;
    for (int k = 0; k < s->nodes; k++) {
        parts->bytes[k] = 0;
        for (int i = 0; i < s->here && k != s->node; i++)
            parts->bytes[k] += sw_sizes_to(sizes, sw_table_row(table, i), k);
    }
    sw_parts_lay(parts, s->nodes);
}

static size_t slot_bytes(const sw_span_t *s)
{
    return sw_manifest_head(s) + SW_SLOT_SMALL;
}

char *sw_manifest_slot(const sw_sizes_t *sizes, size_t leaving)
{
    const sw_span_t *s = sizes->s;
    uint64_t *slot = sw_temporary(slot_bytes(s));
    slot[0] = leaving;
    for (int i = 0; i < s->n; i++)
        slot[1 + i] = sizes->out[i];
    return (char *)slot;
}

/* Where the sizes for a node's members begin in its letter, and how long they
 * are. */
static size_t sizes_of(const sw_span_t *s, int node)
{
    return (size_t)s->here * (size_t)sw_span_members(s, node) *
           sizeof(uint64_t);
}

/* The letter to a node. */
static char *write_letter(const sw_manifest_t *m, const sw_sizes_t *sizes,
                          int node, const cover_t *cover, size_t *bytes)
{
    const sw_span_t *s = sizes->s;
    size_t data = 0, count = (size_t)sw_span_members(s, node);
    for (int i = 0; i < s->here && m->small; i++)
        data += sw_sizes_to(sizes, sw_table_row(&m->out, i), node);
    *bytes = sizeof *cover + sizes_of(s, node) + data;
    char *letter = sw_temporary(*bytes), *at = letter + sizeof *cover;
    *(cover_t *)letter = *cover;
    for (int i = 0; i < s->here; i++, at += count * sizeof(uint64_t))
        sw_copy(at, sw_table_row(&m->out, i) + s->first[node],
                count * sizeof(uint64_t));
    for (int i = 0; i < s->here && m->small; i++) {
        const uint64_t *row = sw_table_row(&m->out, i);
        const char *box = (const char *)(row + s->n);
        for (int k = 0; k < node; k++)
            if (k != s->node)
                box += sw_sizes_to(sizes, row, k);
        size_t part = sw_sizes_to(sizes, row, node);
        sw_copy(at, box, part);
        at += part;
    }
    return letter;
}

/* A node's letter: its sizes go into the rows of its receivers. */
static int read_letter(sw_manifest_t *m, const sw_span_t *s, int node,
                       size_t bytes, cover_t *all)
{
    char *letter = m->letter[node];
    const cover_t *cover = (const cover_t *)letter;
    const uint64_t *at = (const uint64_t *)(cover + 1);
    if (!letter || bytes < sizeof *cover + sizes_of(s, node))
        return SW_MISMATCH;
    for (int sender = s->first[node]; sender < s->first[node + 1]; sender++)
        for (int i = 0; i < s->here; i++)
            ((uint64_t *)(m->coming +
                          (size_t)i * m->in.stride))[sender] = *at++;
    all->most = cover->most > all->most ? cover->most : all->most;
    m->blocks[node] = cover->small ? (char *)(uintptr_t)at : NULL;
    return SW_OK;
}

/* The leaders exchange letters. */
static int exchange(sw_manifest_t *m, const sw_sizes_t *sizes, cover_t *cover)
{
    sw_span_t *s = sizes->s;
    sw_mail_t mail = {.s = s};
    SW_ARRAY(char *, sent, s->nodes);
    int rc = SW_OK;
    m->letter = sw_array_zeroed((size_t)s->nodes, sizeof *m->letter);
    m->blocks = sw_array_zeroed((size_t)s->nodes, sizeof *m->blocks);
    m->in.stride = (size_t)s->n * sizeof(uint64_t);
    m->in.base = m->coming = sw_temporary((size_t)s->here * m->in.stride);
    for (int k = 0; k < s->nodes; k++) {
        size_t bytes;
        sent[k] = NULL;
        if (k == s->node)
            continue;
        sent[k] = write_letter(m, sizes, k, cover, &bytes);
        sw_mail_send_letter(&mail, k, sent[k], bytes);
    }
    for (int k = 0; k < s->nodes; k++) {
        size_t bytes;
        if (k == s->node)
            continue;
        m->letter[k] = sw_mail_open(&mail, k, &bytes);
        rc = sw_await_first_bad(rc, read_letter(m, s, k, bytes, cover));
    }
    int sending = sw_mail_finish(&mail);
    for (int k = 0; k < s->nodes; k++)
        sw_temporary_free(sent[k]);
    return sw_await_first_bad(sending, rc);
}

/* What the leader tells its team. */
typedef struct {
    uint32_t way, small;
} verdict_t;

int sw_manifest_agree(sw_manifest_t *m, const sw_sizes_t *sizes,
                      sw_collective_t id, const char *slot)
{
    sw_span_t *s = sizes->s;
    size_t bytes = slot_bytes(s);
    sw_data_t mine = sw_data_plain(slot);
    verdict_t verdict = {SW_WAY_LEADERS, false};
    m->slots = s->mine == 0 ? sw_temporary((size_t)s->here * bytes) : NULL;
    int rc = sw_coll_gather(s->sequence, 0, &mine, bytes, m->slots,
                            &(sw_blocks_t){.bytes = bytes});
    if (s->mine == 0) {
        cover_t cover = {.small = true};
        m->out = (sw_table_t){m->slots + sizeof(uint64_t), bytes};
        for (int i = 0; i < s->here; i++) {
            uint64_t leaving = *(const uint64_t *)(m->slots +
                                                   (size_t)i * bytes);
            cover.small &= leaving <= SW_SLOT_SMALL;
            cover.most = leaving > cover.most ? leaving : cover.most;
        }
        verdict.small = (uint32_t)cover.small;
        m->small = verdict.small;
        rc = sw_await_first_bad(rc, exchange(m, sizes, &cover));
        verdict.way = sw_span_way(s, id, cover.most / (uint64_t)s->n);
    }
    sw_data_t told = {.at = (char *)&verdict};
    rc = sw_await_first_bad(
        rc, sw_coll_bcast(s->sequence, 0, &told, sizeof verdict));
    m->way = (sw_way_t)verdict.way;
    m->small = verdict.small;
    return rc;
}

void sw_manifest_end(sw_manifest_t *m, const sw_span_t *s)
{
    for (int k = 0; k < s->nodes && m->letter; k++)
        sw_temporary_free(m->letter[k]);
    sw_temporary_free(m->slots);
    sw_temporary_free(m->coming);
    free(m->letter);
    free(m->blocks);
}
