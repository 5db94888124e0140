/*
 * shape.c - see shape.h.
 */
#include "shape.h"

#include "layout/pieces.h"
#include "layout/share.h"

#include <stdlib.h>

/* A table of so many runs takes up to 80 MiB. */
#define RUNS_MAX ((uint64_t)4 << 20)
/* Levels of REPEATs that are looked at; some of them may be one. */
#define NEST_MAX 32
/* Spare tables up to this size are kept. */
#define SPARE_CLASS 20
#define SMALLEST_CLASS 9

/* Nests ------------------------------------------------------------------- */

/* One level more outside; false: there are too many. */
static bool add(sw_shape_t *s, int64_t count, int64_t stride)
{
    int n = s->levels;
    if (count == 1)
        return true;
    if (n == 0 && stride == (int64_t)s->run) {
        s->run *= (uint64_t)count;
        return true;
    }
    if (n && stride == s->level[n - 1].count * s->level[n - 1].stride) {
        s->level[n - 1].count *= count;
        return true;
    }
    if (n == SW_SHAPE_LEVELS)
        return false;
    s->level[n].count = count;
    s->level[n].stride = stride;
    s->levels = n + 1;
    return true;
}

/* The run that REPEATs alone lead to, and they from the inside out. */
static bool nest(const sw_layout_t *l, sw_shape_t *s)
{
    const sw_layout_node_t *n = &l->node[l->root], *repeat[NEST_MAX];
    int depth = 0;
    for (; n->kind == SW_NODE_REPEAT; n = &l->node[n->child]) {
        if (depth == NEST_MAX)
            return false;
        repeat[depth++] = n;
    }
    if (n->kind != SW_NODE_RUN)
        return false;
    s->run = n->unit;
    while (depth--)
        if (!add(s, repeat[depth]->count, repeat[depth]->stride))
            return false;
    return true;
}

bool sw_shape_nest(const sw_layout_t *l, int64_t count, uint64_t base,
                   sw_shape_t *to)
{
    *to = (sw_shape_t){.kind = SW_SHAPE_NEST, .base = base};
    if (!l) {
        to->run = (uint64_t)count;
        return true;
    }
    to->base += (uint64_t)l->at;
    return nest(l, to) && add(to, count, l->extent);
}

/* Flat lists --------------------------------------------------------------- */

typedef struct {
    int64_t *offset;
    uint64_t *length, n;
    bool equal;
} runs_t;

static int take(void *context, const sw_os_piece_t *piece, int n)
{
    runs_t *r = context;
    for (int i = 0; i < n; i++) {
        r->offset[r->n] = (int64_t)piece[i].at;
        r->length[r->n] = piece[i].bytes;
        r->equal = r->equal && piece[i].bytes == r->length[0];
        r->n++;
    }
    return 0;
}

/* The runs of one element; false: too many, or no memory. */
static bool flatten(const sw_layout_t *l, runs_t *r)
{
    *r = (runs_t){.equal = true};
    if (l->runs > RUNS_MAX)
        return false;
    r->offset = malloc(l->runs * sizeof *r->offset);
    r->length = malloc(l->runs * sizeof *r->length);
    if (!r->offset || !r->length)
        return false;
    sw_layout_pieces(l, 0, 1, l->size, take, r);
    return r->n > 0;
}

/* Tables ------------------------------------------------------------------- */

struct sw_table_kept {
    struct sw_table_kept *next;
    const sw_layout_t *layout; /* NULL: it went, or none has it for long */
    uint64_t serial;
    bool wide;
    int users; /* messages */
    int size;  /* class: 2^size bytes */
    sw_table_t table;
    sw_cuda_at_t block;
};

static sw_table_kept_t **bucket(sw_context_t *c, const sw_layout_t *l)
{
    uint64_t hash = ((uintptr_t)l >> 4) * 0x9e3779b97f4a7c15u;
    return &c->table[(hash >> 32) % SW_TABLE_BUCKETS];
}

static void make_spare(sw_context_t *c, sw_table_kept_t *k)
{
    k->next = c->spare[k->size];
    c->spare[k->size] = k;
    if (k->size > SPARE_CLASS)
        atomic_store(&c->sweep, true);
}

/* A context shows itself: the tables of a layout that goes leave the list. */
static void drop(sw_context_t *c, const void *what)
{
    pthread_mutex_lock(&c->lock);
    for (sw_table_kept_t **at = bucket(c, what), *k; (k = *at);) {
        if (k->layout != what) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        k->layout = NULL;
        if (!k->users)
            make_spare(c, k);
    }
    pthread_mutex_unlock(&c->lock);
}

static void gone(const sw_layout_t *l)
{
    if (sw_cuda_usable())
        sw_contexts_each(drop, l);
}

/* Memory for a table, spare or new. */
static sw_table_kept_t *room_for(sw_context_t *c, uint64_t bytes)
{
    int size = SMALLEST_CLASS;
    while (bytes > (uint64_t)1 << size)
        size++;
    sw_table_kept_t *k = c->spare[size];
    if (k) {
        c->spare[size] = k->next;
        return k;
    }
    k = calloc(1, sizeof *k);
    if (k && !sw_context_ok(
                 c, sw_cuda.cuMemAlloc_v2(&k->block, (size_t)1 << size))) {
        free(k);
        return NULL;
    }
    if (k) {
        k->size = size;
        sw_cuda_count(&sw_cuda_counts.allocations);
    }
    return k;
}

/* The block goes by a copy from memory that is free again once the stream has
 * been waited for. */
static bool upload(sw_context_t *c, sw_stage_t *stage, const runs_t *r,
                   sw_table_kept_t *k)
{
    void *block = calloc(1, k->table.bytes);
    if (!block)
        return false;
    sw_table_write(&k->table, r->offset, r->equal ? NULL : r->length, block);
    bool sent = sw_context_ok(c, sw_cuda.cuMemcpyHtoDAsync_v2(k->block, block,
                                                              k->table.bytes,
                                                              stage->stream));
    if (sent && !sw_stage_wait(c, stage))
        return false; /* the driver may still read the block */
    free(block);
    return sent;
}

static sw_table_kept_t *make(sw_context_t *c, sw_stage_t *stage,
                             const sw_layout_t *l, bool wide)
{
    runs_t r;
    sw_table_kept_t *k = NULL;
    sw_table_t table;
    if (flatten(l, &r)) {
        sw_table_describe(r.offset, r.equal ? NULL : r.length, r.length[0], r.n,
                          wide, &table);
        k = room_for(c, table.bytes);
    }
    if (k) {
        k->layout = NULL;
        k->users = 0;
        k->wide = wide;
        k->table = table;
        if (!upload(c, stage, &r, k)) {
            /* What the device may still write is used no more. */
            if (atomic_load(&c->stale))
                free(k);
            else
                make_spare(c, k);
            k = NULL;
        }
    }
    free(r.offset);
    free(r.length);
    return k;
}

/* The table, with one user more. */
static sw_table_kept_t *hold(sw_context_t *c, sw_stage_t *stage,
                             const sw_layout_t *l, bool wide)
{
    pthread_mutex_lock(&c->lock);
    sw_table_kept_t **to = bucket(c, l), *k = *to;
    while (k && (k->layout != l || k->serial != l->serial || k->wide != wide))
        k = k->next;
    if (!k && (k = make(c, stage, l, wide)) && sw_layout_held(l)) {
        atomic_store(&sw_layout_gone, gone);
        sw_layout_keep(l);
        k->layout = l;
        k->serial = l->serial;
        k->next = *to;
        *to = k;
    }
    if (k)
        k->users++;
    pthread_mutex_unlock(&c->lock);
    return k;
}

void sw_shape_end(sw_context_t *c, sw_shaped_t *s, bool done)
{
    sw_table_kept_t *k = s->table;
    if (!k)
        return;
    pthread_mutex_lock(&c->lock);
    /* If the device may still use the table, a user remains for ever. */
    if (done && --k->users == 0 && !k->layout)
        make_spare(c, k);
    pthread_mutex_unlock(&c->lock);
    s->table = NULL;
}

bool sw_shape(sw_context_t *c, sw_stage_t *stage, const sw_layout_t *layout,
              int64_t count, sw_cuda_at_t base, bool wide, sw_shaped_t *to)
{
    to->table = NULL;
    if (sw_shape_nest(layout, count, base, &to->shape))
        return true;
    to->table = hold(c, stage, layout, wide);
    if (!to->table)
        return false;
    /* The runs count from the element's own address. */
    to->shape = (sw_shape_t){.kind = to->table->table.run ? SW_SHAPE_LIST
                                                          : SW_SHAPE_RUNS,
                             .base = base,
                             .levels = count > 1,
                             .level = {{count, layout->extent}},
                             .table = to->table->table,
                             .block = to->table->block};
    return true;
}

void sw_tables_sweep(sw_context_t *c)
{
    if (sw_likely(!atomic_load(&c->sweep)))
        return;
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->sweep, false);
    for (int size = SPARE_CLASS + 1; size < SW_TABLE_CLASSES; size++)
        for (sw_table_kept_t *k; (k = c->spare[size]);) {
            c->spare[size] = k->next;
            sw_cuda.cuMemFree_v2(k->block);
            free(k);
        }
    pthread_mutex_unlock(&c->lock);
}

static void free_all(sw_table_kept_t **list)
{
    for (sw_table_kept_t *k; (k = *list);) {
        *list = k->next;
        free(k);
    }
}

void sw_tables_forget(sw_context_t *c)
{
    for (int i = 0; i < SW_TABLE_BUCKETS; i++)
        free_all(&c->table[i]);
    for (int i = 0; i < SW_TABLE_CLASSES; i++)
        free_all(&c->spare[i]);
}

typedef struct {
    size_t *used, *spare;
} count_t;

static void count(sw_context_t *c, const void *what)
{
    const count_t *to = what;
    pthread_mutex_lock(&c->lock);
    for (int i = 0; i < SW_TABLE_BUCKETS; i++)
        for (const sw_table_kept_t *k = c->table[i]; k; k = k->next)
            ++*to->used;
    for (int i = 0; i < SW_TABLE_CLASSES; i++)
        for (const sw_table_kept_t *k = c->spare[i]; k; k = k->next)
            ++*to->spare;
    pthread_mutex_unlock(&c->lock);
}

void sw_tables_count(size_t *used, size_t *spare)
{
    count_t to = {used, spare};
    *used = *spare = 0;
    sw_contexts_each(count, &to);
}
