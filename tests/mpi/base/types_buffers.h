/*
 * types_buffers.h - memory that derived datatypes describe, whose every byte
 * is known before and after a call.
 *
 * A buffer is a list of pieces, each `count` items of a type at an offset from
 * the buffer's address: one piece for a message, one for each rank in a
 * collective, several that together are one datatype of absolute addresses.
 * A piece holds data before the call, or after it, or both. The rest of the
 * memory (gaps within types, room that a message left, margins) is filled
 * from a key and must stay as it is.
 */
#ifndef TYPES_BUFFERS_H
#define TYPES_BUFFERS_H

#include "types_make.h"

#define PIECES_MAX 24

typedef struct {
    made_t *type; /* several pieces may share it */
    int count;
    ptrdiff_t at;         /* from the buffer's address */
    char *before, *after; /* packed, n_before and n_after bytes */
    size_t n_before, n_after;
} piece_t;

typedef struct {
    made_t made[PIECES_MAX];
    int mades;
    piece_t piece[PIECES_MAX];
    int pieces;
    ptrdiff_t lo, hi; /* touched, from the address */
    buffer_t memory;
    char *address;
    /* The argument: either the address, or types of absolute addresses. */
    void *user;
    int count;
    MPI_Datatype type;
    bool absolute;
} typed_t;

/* Packed data that follows from a key; the caller frees it. */
static char *data_of(uint64_t key, size_t n)
{
    static const element_t byte = {.packed = 1};
    char *data = malloc(n + 1);
    memcpy(data, payload(key, &byte, n), n);
    return data;
}

static piece_t *typed_piece(typed_t *t, made_t *type, int count, ptrdiff_t at)
{
    CHECK(t->pieces < PIECES_MAX, "too many pieces");
    piece_t *p = &t->piece[t->pieces++];
    *p = (piece_t){.type = type, .count = count, .at = at};
    return p;
}

static void piece_before(piece_t *p, uint64_t key, size_t n)
{
    p->before = data_of(key, n);
    p->n_before = n;
}

static void piece_after(piece_t *p, uint64_t key, size_t n)
{
    p->after = data_of(key, n);
    p->n_after = n;
}

static void typed_bounds(typed_t *t)
{
    t->lo = PTRDIFF_MAX;
    t->hi = PTRDIFF_MIN;
    for (int i = 0; i < t->pieces; i++) {
        const piece_t *p = &t->piece[i];
        ptrdiff_t lo, hi;
        made_bounds(p->type, p->count, &lo, &hi);
        if (lo == hi)
            continue;
        t->lo = p->at + lo < t->lo ? p->at + lo : t->lo;
        t->hi = p->at + hi > t->hi ? p->at + hi : t->hi;
    }
    if (t->lo > t->hi)
        t->lo = t->hi = 0;
}

/* May it receive all its pieces? */
static bool typed_separate(typed_t *t)
{
    typed_bounds(t);
    bool separate = t->hi - t->lo <= 4 * SPAN_MAX;
    if (!separate)
        return false;
    char *seen = calloc(1, (size_t)(t->hi - t->lo) + 1);
    for (int i = 0; i < t->pieces && separate; i++)
        separate = made_mark(t->piece[i].type, t->piece[i].count,
                             seen - t->lo + t->piece[i].at);
    free(seen);
    return separate;
}

/* What the memory must hold. */
static void typed_image(const typed_t *t, char *to, bool after)
{
    fill(to, t->memory.n, t->memory.key);
    for (int i = 0; i < t->pieces; i++) {
        const piece_t *p = &t->piece[i];
        char *at = to + GUARD - t->lo + p->at;
        if (p->before)
            made_put(p->type, at, p->before, p->n_before);
        if (after && p->after)
            made_put(p->type, at, p->after, p->n_after);
    }
}

static void typed_fill(typed_t *t)
{
    buffer_t *b = &t->memory;
    if (b->kind == READ_ONLY)
        mprotect(b->base, b->mapped, PROT_READ | PROT_WRITE);
    typed_image(t, b->p, false);
    if (b->kind == READ_ONLY)
        mprotect(b->base, b->mapped, PROT_READ);
}

/* Memory for the pieces; `written`: MPI will write there. */
static void typed_place(rng_t *r, typed_t *t, bool written)
{
    buffer_t *b = &t->memory;
    room_t none[2] = {{NULL, 0}, {NULL, 0}};
    typed_bounds(t);
    *b = (buffer_t){.key = rng_next(r)};
    b->n = (size_t)(t->hi - t->lo) + 2 * GUARD;
    b->kind = (int)rng_below(r, written ? READ_ONLY : KINDS);
    if (!has("memory"))
        b->kind = HEAP;
    size_t shift = rng_one_in(r, 2) ? rng_below(r, 64) : 0;
    b->base = memory(r, b, none, b->n + shift + 64);
    CHECK(b->base, "no memory for %zu bytes", b->n);
    b->p = (char *)(((uintptr_t)b->base + 63) & ~(uintptr_t)63) + shift;
    t->address = b->p + GUARD - t->lo;
    t->user = t->address;
    typed_fill(t);
}

/* All pieces as one item of one datatype, from MPI_BOTTOM on. */
static void typed_absolute(rng_t *r, typed_t *t)
{
    MPI_Count count[PIECES_MAX], at[PIECES_MAX];
    MPI_Datatype type[PIECES_MAX];
    for (int i = 0; i < t->pieces; i++) {
        MPI_Aint address;
        MPI_Get_address(t->address + t->piece[i].at, &address);
        count[i] = t->piece[i].count;
        at[i] = address;
        type[i] = t->piece[i].type->type;
    }
    bool large = HAVE_LARGE_COUNT && has("large") && rng_one_in(r, 3);
    t->type = t->pieces == 1 && rng_one_in(r, 2)
                  ? make_hindexed(large, 1, count, at, type[0])
                  : make_struct(large, t->pieces, count, at, type);
    MPI_Type_commit(&t->type);
    t->user = MPI_BOTTOM;
    t->count = 1;
    t->absolute = true;
}

/* The first byte that is not as it should be, from the buffer's address, or
 * NOTHING. */
static ptrdiff_t typed_wrong(typed_t *t, bool after, uint64_t *digest)
{
    char *want = scratch(WANTED, t->memory.n), *is = t->memory.p;
    typed_image(t, want, after);
    for (int i = 0; i < t->pieces && after; i++) {
        const piece_t *p = &t->piece[i];
        if (!p->after)
            continue;
        made_forget(p->type, want + GUARD - t->lo + p->at, p->count, false);
        made_forget(p->type, is + GUARD - t->lo + p->at, p->count, false);
    }
    uint64_t h = 1, word = 0;
    for (size_t i = 0; i < t->memory.n && digest; i += 8) {
        if (t->memory.n - i >= 8)
            memcpy(&word, is + i, 8);
        else
            memcpy(&word, is + i, t->memory.n - i);
        h = mix(h ^ word);
    }
    if (digest)
        *digest = h;
    if (!memcmp(is, want, t->memory.n))
        return NOTHING;
    for (size_t i = 0;; i++)
        if (is[i] != want[i])
            return (ptrdiff_t)i - GUARD + t->lo;
}

/* The same, where the pieces themselves may hold anything. */
static ptrdiff_t typed_wrong_outside(typed_t *t)
{
    char *want = scratch(WANTED, t->memory.n), *is = t->memory.p;
    typed_image(t, want, false);
    for (int i = 0; i < t->pieces; i++) {
        const piece_t *p = &t->piece[i];
        size_t n = (size_t)p->count * (size_t)p->type->size;
        char *zeros = calloc(1, n + 1);
        made_put(p->type, want + GUARD - t->lo + p->at, zeros, n);
        made_put(p->type, is + GUARD - t->lo + p->at, zeros, n);
        free(zeros);
    }
    if (!memcmp(is, want, t->memory.n))
        return NOTHING;
    for (size_t i = 0;; i++)
        if (is[i] != want[i])
            return (ptrdiff_t)i - GUARD + t->lo;
}

static void typed_drop(typed_t *t)
{
    if (t->absolute && t->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&t->type);
    for (int i = 0; i < t->pieces; i++) {
        free(t->piece[i].before);
        free(t->piece[i].after);
    }
    for (int i = 0; i < t->mades; i++)
        made_drop(&t->made[i]);
    if (t->memory.p)
        buffer_drop(&t->memory);
}

static const char *typed_says(const typed_t *t)
{
    static _Thread_local char text[400];
    snprintf(text, sizeof text,
             "%d piece%s of %d and more %s at %p%s, "
             "extent %td, %d bytes",
             t->pieces, t->pieces == 1 ? "" : "s",
             t->pieces ? t->piece[0].count : 0,
             t->mades ? t->made[0].made_by : "nothing", (void *)t->address,
             t->absolute ? " by absolute addresses" : "",
             t->mades ? t->made[0].extent : 0, t->mades ? t->made[0].size : 0);
    return text;
}

#endif
