/*
 * rooted.c - see rooted.h.
 */
#include "rooted.h"

#include "node/temporary.h"

static _Atomic int64_t all_moved, all_copied;

void sw_rooted_counts(int64_t *moved, int64_t *copied)
{
    *moved = atomic_load(&all_moved);
    *copied = atomic_load(&all_copied);
}

/* A node's blocks, as they are sent or have been announced. */
typedef struct {
    int count;
    size_t all;
    bool apart; /* each block has a message of its own */
    bool fit;   /* none is larger than its place */
    bool run;   /* the places lie side by side, and are full */
} shape_t;

static shape_t shape_of(const sw_rooted_t *r, int node, const sw_spot_t *place)
{
    shape_t shape = {
        .count = sw_rooted_blocks(r, node), .fit = true, .run = true};
    for (int i = 0; i < shape.count; i++) {
        const sw_spot_t *p = &place[i];
        shape.fit &= p->came <= p->bytes;
        shape.run &= p->came == p->bytes && p->at == place[0].at + shape.all;
        shape.all += p->came;
    }
    shape.run &= shape.all && place[0].at;
    shape.apart = sw_rooted_apart(shape.all, shape.count);
    return shape;
}

/* Counts them; `direct`: there is no box. */
static void count(const shape_t *shape, const sw_spot_t *place, bool direct)
{
    size_t copied = direct ? 0 : shape->all;
    for (int i = 0; i < shape->count && direct; i++)
        copied += place[i].copy ? place[i].came : 0;
    atomic_fetch_add(&all_moved, (int64_t)shape->all);
    atomic_fetch_add(&all_copied, (int64_t)copied);
}

char *sw_rooted_send(sw_rooted_t *r, int node, const sw_spot_t *place)
{
    size_t head = sw_rooted_head(r, node);
    shape_t shape = shape_of(r, node, place);
    bool direct = shape.apart || (r->equal && shape.run);
    bool small = !direct && shape.all <= SW_BUNDLE_SMALL;
    char *box = NULL;
    if (head || !direct)
        box = sw_temporary(head + (direct ? 0 : shape.all));
    char *at = box + head;
    for (int i = 0; i < shape.count; i++) {
        if (head)
            ((uint64_t *)box)[i] = place[i].came;
        if (!direct)
            sw_copy(at, place[i].at, place[i].came);
        at += place[i].came;
    }
    if (head)
        sw_mail_send_letter(&r->mail, node, box,
                            head + (small ? shape.all : 0));
    for (int i = 0; i < shape.count && shape.apart; i++)
        sw_mail_send(&r->mail, node, place[i].at, place[i].came);
    if (!shape.apart && !(head && small))
        sw_mail_send(&r->mail, node, direct ? place[0].at : box + head,
                     shape.all);
    count(&shape, place, direct);
    return box;
}

char *sw_rooted_open(sw_rooted_t *r, int node, sw_spot_t *place)
{
    size_t head = sw_rooted_head(r, node), bytes = 0;
    char *letter = head ? sw_mail_open(&r->mail, node, &bytes) : NULL;
    bool told = letter && bytes >= head;
    if (head && !told)
        sw_rooted_note(r, SW_MISMATCH);
    for (int i = 0; i < sw_rooted_blocks(r, node); i++)
        place[i].came = !head  ? r->bytes
                        : told ? ((const uint64_t *)letter)[i]
                               : 0;
    return letter;
}

char *sw_rooted_receive(sw_rooted_t *r, int node, const sw_spot_t *place,
                        char *letter)
{
    size_t head = sw_rooted_head(r, node);
    shape_t shape = shape_of(r, node, place);
    bool direct = shape.apart ? shape.fit : shape.run && r->equal;
    count(&shape, place, direct);
    if (head && !shape.apart && shape.all <= SW_BUNDLE_SMALL)
        return letter;
    sw_temporary_free(letter);
    char *box = direct ? NULL : sw_temporary(head + shape.all);
    char *at = box + head;
    for (int i = 0; i < shape.count && shape.apart; i++) {
        sw_mail_receive(&r->mail, node, direct ? place[i].at : at,
                        place[i].came);
        at += place[i].came;
    }
    if (!shape.apart)
        sw_mail_receive(&r->mail, node, direct ? place[0].at : at, shape.all);
    return box;
}

void sw_rooted_unpack(const sw_rooted_t *r, int node, const sw_spot_t *place,
                      char *box)
{
    const char *at = box + sw_rooted_head(r, node);
    for (int i = 0; i < sw_rooted_blocks(r, node) && box; i++) {
        sw_copy(place[i].at, at, sw_min(place[i].came, place[i].bytes));
        at += place[i].came;
    }
    sw_temporary_free(box);
}

/* The root's list ------------------------------------------------------- */

/* The bytes of a node's blocks. */
static size_t all_of(const sw_span_t *s, const sw_blocks_t *blocks, int node)
{
    size_t all = 0;
    for (int i = s->first[node]; i < s->first[node + 1]; i++)
        all += sw_block(blocks, s->rank[i]).bytes;
    return all;
}

char *sw_rooted_list(const sw_rooted_t *r, const void *buffer,
                     const sw_blocks_t *blocks, sw_spot_t *place, bool filled)
{
    const sw_span_t *s = r->s;
    size_t room = 0;
    for (int k = 0; k < s->nodes; k++) {
        bool small = r->gate.gate != r->gate.root &&
                     !sw_rooted_apart(all_of(s, blocks, k),
                                      sw_span_members(s, k));
        for (int i = s->first[k]; i < s->first[k + 1] && k != s->node; i++) {
            sw_data_t data = sw_block_data(blocks, buffer, s->rank[i]);
            size_t bytes = sw_block(blocks, s->rank[i]).bytes;
            bool boxed = data.layout || small;
            *place++ = (sw_spot_t){
                .at = boxed ? NULL : data.at, .bytes = bytes, .came = bytes};
            room += boxed ? bytes : 0;
        }
    }
    char *box = room ? sw_temporary(room) : NULL, *at = box;
    place -= sw_rooted_far(r);
    for (int i = 0; i < sw_rooted_far(r); i++, place++) {
        if (place->at || !place->bytes)
            continue;
        place->at = at;
        at += place->bytes;
        sw_data_t data = sw_block_data(blocks, buffer, sw_rooted_rank(r, i));
        if (filled)
            sw_data_pack(&data, place->bytes, place->at);
    }
    return box;
}
