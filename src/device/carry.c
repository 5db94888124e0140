/*
 * carry.c - see carry.h.
 */
#include "carry.h"

#include "kernels.h"
#include "node/arena/arena.h"
#include "node/base/copy.h"
#include "settle.h"
#include "shape.h"

/* A side, and where it lies. */
typedef struct {
    const sw_carry_side_t *side;
    int64_t low;           /* of its bytes, from side->at */
    uint64_t span;         /* bytes from the lowest to the highest */
    bool device;           /* a device's memory, all of it */
    bool reach;            /* the device of the visit gets at it, */
    sw_cuda_at_t base;     /* ... where side->at is this address */
    sw_cuda_place_t place; /* of its lowest byte */
} end_t;

/* Where it lies ----------------------------------------------------------- */

static bool look(const sw_carry_side_t *side, end_t *e)
{
    const char *high, *first = sw_carry_lowest(side, &high);
    *e = (end_t){.side = side,
                 .low = (intptr_t)first - (intptr_t)side->at,
                 .span = (uint64_t)((intptr_t)high - (intptr_t)first)};
    if (sw_arena_offset(first, 1) != UINT64_MAX)
        return true;
    if (!sw_cuda_place(first, &e->place))
        return false;
    e->device = e->place.type == SW_CUDA_MEMORY_DEVICE && !e->place.managed;
    /* Bytes beyond the allocation may be anything, also no memory at all. */
    return !e->device || sw_cuda_holds(&e->place, e->place.at, e->span);
}

/* May the processor touch a side that is not the device's? Elements at
 * absolute addresses may lie partly in a device's memory. */
static bool is_processors(const end_t *e)
{
    return !e->device && (e->side->at || !e->side->layout);
}

/* `unknown`: what holds where the driver does not tell. */
static bool accessible(const end_t *e, unsigned how, bool unknown)
{
    unsigned access = 0;
    int code = sw_cuda.cuPointerGetAttribute(&access, SW_CUDA_ACCESS,
                                             e->place.at);
    return code ? unknown : (access & how) == how;
}

/* Memory of no context (of a pool, virtual memory) may be closed to this
 * device; so may pinned memory to its kernels' stores. */
static bool reaches(const sw_context_t *c, const end_t *e, bool target)
{
    unsigned how = target ? SW_CUDA_WRITES : SW_CUDA_READS;
    if (e->device)
        return e->place.context == c->handle ||
               (!e->place.context && accessible(e, how, true));
    return e->place.type == SW_CUDA_MEMORY_HOST && !e->place.managed &&
           e->place.context == c->handle &&
           sw_cuda_holds(&e->place, e->place.at, e->span) &&
           (!target || accessible(e, how, false));
}

static void find_reach(end_t *e, const sw_context_t *c, bool target)
{
    e->reach = reaches(c, e, target);
    e->base = e->place.at - (sw_cuda_at_t)e->low;
}

/* On the device ------------------------------------------------------------ */

/* One side, for the device: `skip` bytes of its data come before. */
typedef struct {
    const sw_layout_t *layout;
    int64_t count;
    sw_cuda_at_t base;
    uint64_t skip;
    char *host; /* of the processor's memory: the same place as base */
    bool edge;  /* the words of its first or last bytes leave the allocation */
} part_t;

static bool at_edge(const end_t *e)
{
    const sw_cuda_at_t word = 4, low = e->place.start,
                       high = low + e->place.bytes;
    return e->place.at < (low + word - 1) / word * word ||
           e->place.at + e->span > high / word * word;
}

static part_t part_of(const end_t *e)
{
    return (part_t){e->side->layout,
                    e->side->count,
                    e->base,
                    e->side->skip,
                    e->device ? NULL : (char *)(uintptr_t)e->side->at,
                    at_edge(e)};
}

static part_t staged(const sw_stage_t *s)
{
    return (part_t){.base = s->at, .count = SW_STAGE, .host = s->host};
}

static bool is_plain(const sw_layout_t *l)
{
    return !l || sw_layout_dense(l);
}

/* The shapes of both sides, for all pieces of a message. */
typedef struct {
    sw_shaped_t source, target;
    bool plain; /* no side has gaps */
} shapes_t;

static void end_shapes(sw_context_t *c, shapes_t *x, bool done)
{
    sw_shape_end(c, &x->source, done);
    sw_shape_end(c, &x->target, done);
}

/* A loose kernel loads whole words. Where these leave the source's allocation a
 * kernel that moves bytes takes its place. */
static bool plan(const shapes_t *x, const part_t *from, const part_t *to,
                 uint64_t bytes, sw_plan_t *p)
{
    const sw_shape_t *s = &x->source.shape, *t = &x->target.shape;
    return sw_plan(s, from->skip, t, to->skip, bytes, 0, SW_KERNELS_UNROLL,
                   p) &&
           (p->unit != SW_LOOSE || !from->edge ||
            sw_plan(s, from->skip, t, to->skip, bytes, 1, SW_KERNELS_UNROLL,
                    p));
}

/* A message beyond what 31 bits count needs wide tables. The plan of all its
 * bytes tells that, as those of its pieces may not. */
static bool make_shapes(sw_context_t *c, sw_stage_t *s, const part_t *from,
                        const part_t *to, uint64_t bytes, shapes_t *x)
{
    sw_plan_t p;
    *x = (shapes_t){.plain = is_plain(from->layout) && is_plain(to->layout)};
    if (x->plain)
        return true;
    for (int wide = 0; wide < 2; wide++) {
        if (!sw_shape(c, s, from->layout, from->count, from->base, wide,
                      &x->source))
            return false;
        if (sw_shape(c, s, to->layout, to->count, to->base, wide, &x->target) &&
            plan(x, from, to, bytes, &p))
            return true;
        end_shapes(c, x, true);
    }
    return false;
}

static bool copy(sw_context_t *c, sw_stage_t *s, const part_t *from,
                 const part_t *to, uint64_t bytes)
{
    sw_cuda_at_t source = from->base + from->skip, target = to->base + to->skip;
    int code = from->host
                   ? sw_cuda.cuMemcpyHtoDAsync_v2(
                         target, from->host + from->skip, bytes, s->stream)
               : to->host ? sw_cuda.cuMemcpyDtoHAsync_v2(
                                to->host + to->skip, source, bytes, s->stream)
                          : sw_cuda.cuMemcpyDtoDAsync_v2(target, source, bytes,
                                                         s->stream);
    return sw_context_ok(c, code);
}

/* Put `bytes` bytes of the message on the stage's stream. */
static bool put(sw_context_t *c, sw_stage_t *s, shapes_t *x, const part_t *from,
                const part_t *to, uint64_t bytes)
{
    sw_plan_t p;
    if (x->plain)
        return copy(c, s, from, to, bytes);
    /* The two stages differ in where they lie. */
    if (!from->layout)
        x->source.shape.base = from->base;
    if (!to->layout)
        x->target.shape.base = to->base;
    if (!plan(x, from, to, bytes, &p))
        return false;
    sw_cuda_handle_t kernel = sw_kernel(c, &p);
    uint64_t blocks = sw_min(p.tiles, INT32_MAX);
    void *parameter[] = {&p.move};
    return kernel &&
           sw_context_ok(c, sw_cuda.cuLaunchKernel(kernel, (unsigned)blocks, 1,
                                                   1, SW_THREADS, 1, 1, 0,
                                                   s->stream, parameter, NULL));
}

static bool direct(sw_context_t *c, sw_channel_t *channel, const end_t *source,
                   const end_t *target, uint64_t bytes)
{
    shapes_t x;
    sw_stage_t *s = &channel->stage[0];
    part_t from = part_of(source), to = part_of(target);
    if (!sw_stage_ready(c, s, false) ||
        !make_shapes(c, s, &from, &to, bytes, &x))
        return false;
    bool sent = put(c, s, &x, &from, &to, bytes);
    bool done = !sent || sw_stage_wait(c, s);
    end_shapes(c, &x, done);
    return sent && done;
}

/* By pieces ---------------------------------------------------------------- */

static void scatter(const end_t *e, uint64_t from, uint64_t n, const char *data)
{
    const sw_carry_side_t *side = e->side;
    char *at = (char *)(uintptr_t)side->at;
    from += side->skip;
    if (side->layout)
        sw_layout_unpack(side->layout, at, side->count, from, from + n, data);
    else
        sw_copy(at + from, data, n);
}

static void gather(const end_t *e, uint64_t from, uint64_t n, char *data)
{
    const sw_carry_side_t *side = e->side;
    from += side->skip;
    if (side->layout)
        sw_layout_pack(side->layout, side->at, side->count, from, from + n,
                       data);
    else
        sw_copy(data, (const char *)side->at + from, n);
}

typedef struct {
    sw_context_t *context;
    sw_channel_t *channel;
    const end_t *device, *host;
    bool out; /* from the device */
    shapes_t shapes;
    struct {
        uint64_t from, n; /* under way; n == 0: none */
    } piece[2];
} pieces_t;

static bool begin_piece(pieces_t *m, int k, uint64_t from, uint64_t n)
{
    sw_stage_t *s = &m->channel->stage[k];
    part_t far = part_of(m->device), near = staged(s);
    far.skip += from;
    if (!m->out)
        gather(m->host, from, n, s->host);
    if (!put(m->context, s, &m->shapes, m->out ? &far : &near,
             m->out ? &near : &far, n))
        return false;
    m->piece[k].from = from;
    m->piece[k].n = n;
    return true;
}

/* False: the stage may still be in use. */
static bool end_piece(pieces_t *m, int k, bool wanted)
{
    sw_stage_t *s = &m->channel->stage[k];
    uint64_t n = m->piece[k].n;
    m->piece[k].n = 0;
    if (!n)
        return true;
    if (!sw_stage_wait(m->context, s))
        return false;
    if (m->out && wanted)
        scatter(m->host, m->piece[k].from, n, s->host);
    return true;
}

static bool by_pieces(pieces_t *m, uint64_t bytes)
{
    sw_context_t *c = m->context;
    sw_stage_t *s = m->channel->stage;
    if (!sw_stage_ready(c, &s[0], true) ||
        (bytes > SW_STAGE && !sw_stage_ready(c, &s[1], true)))
        return false;
    part_t far = part_of(m->device), near = staged(s);
    if (!make_shapes(c, s, m->out ? &far : &near, m->out ? &near : &far, bytes,
                     &m->shapes))
        return false;
    bool good = true, done = true;
    int k = 0;
    for (uint64_t from = 0; good && from < bytes; from += SW_STAGE, k ^= 1) {
        done = end_piece(m, k, true);
        good = done && begin_piece(m, k, from, sw_min(SW_STAGE, bytes - from));
    }
    /* The older piece first. */
    done = end_piece(m, k, good) && done;
    done = end_piece(m, k ^ 1, good && done) && done;
    end_shapes(c, &m->shapes, done);
    return good && done;
}

/* -------------------------------------------------------------------------- */

static bool within(sw_context_t *c, end_t *source, end_t *target,
                   uint64_t bytes)
{
    find_reach(source, c, false);
    find_reach(target, c, true);
    pieces_t m = {.context = c,
                  .device = source->device ? source : target,
                  .host = source->device ? target : source,
                  .out = source->device};
    if (source->device)
        sw_settle(&source->place);
    if (target->device)
        sw_settle(&target->place);
    bool both = source->reach && target->reach;
    if (!both && (!m.device->reach || !is_processors(m.host)))
        return false;
    sw_tables_sweep(c);
    m.channel = sw_channel_take(c);
    bool carried = !atomic_load(&c->stale) &&
                   (both ? direct(c, m.channel, source, target, bytes)
                         : by_pieces(&m, bytes));
    sw_channel_give(m.channel);
    if (carried)
        sw_context_succeeded(c);
    return carried;
}

bool sw_carry(const sw_carry_side_t *source, const sw_carry_side_t *target,
              uint64_t bytes)
{
    end_t s, t;
    sw_visit_t v;
    if (!sw_cuda_usable())
        return false;
    if (!bytes)
        return true;
    if (!look(source, &s) || !look(target, &t) || !(s.device || t.device))
        return false;
    if (s.device && t.device && s.place.ordinal != t.place.ordinal)
        return false;
    /* Memory of no context takes the other side's. */
    const end_t *home = s.device && (s.place.context || !t.device) ? &s : &t;
    if (!sw_visit_begin(&home->place, &v))
        return false;
    bool carried = within(v.context, &s, &t, bytes);
    sw_visit_end(&v);
    return carried;
}
