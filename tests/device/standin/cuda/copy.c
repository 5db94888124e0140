/*
 * copy.c - copies and fills.
 *
 * A copy has as much freedom as CUDA gives it. From pageable memory it takes
 * the bytes at the call, and the call returns before they have arrived. From
 * pinned memory it takes them when the stream comes there. Into pageable memory
 * the call returns when the bytes are there. Between two places of the device
 * even the synchronous call returns at once. Where the memory's attribute says
 * so, the synchronous call returns when all is done.
 */
#include "inside.h"

enum { ON_DEVICE, ON_HOST, ANYWHERE };

/* One side: lines of bytes, planes of lines. */
typedef struct {
    at_t at;
    size_t line, plane;
    int where;
    char *alias;
    const block_t *block; /* NULL: pageable memory */
} side_t;

typedef struct {
    op_t op;
    side_t to, from;
    size_t width, height, depth;
    unsigned char byte; /* of a fill, which has no `from` */
    char staged[];
} copy_t;

static size_t span(const copy_t *c, const side_t *s)
{
    return (c->depth - 1) * s->plane + (c->height - 1) * s->line + c->width;
}

static bool is_host(const side_t *s)
{
    return !s->block || s->block->kind == PINNED ||
           s->block->kind == REGISTERED;
}

static bool is_synchronous(const side_t *s)
{
    return s->block && s->block->synchronous;
}

/* Find a side's memory. */
static int find(const copy_t *c, side_t *s)
{
    const block_t *b = block_find(s->at);
    unsigned long long at = s->at, n = span(c, s);
    s->block = b;
    s->alias = b ? b->alias + (s->at - b->at) : (char *)s->at;
    if (b && b->at + b->bytes - s->at < n)
        return fault(NULL, INVALID_VALUE,
                     "a copy of %llu bytes at %#llx leaves its allocation", n,
                     at);
    if (!b && (s->where == ON_DEVICE || file_reserved(s->at)))
        return fault(NULL, INVALID_VALUE, "a copy of %llu bytes at %#llx: %s",
                     n, at, block_lack(s->at));
    if (b && (b->hidden ||
              (s->where == ON_HOST && !is_host(s) && b->kind != MANAGED)))
        return fault(NULL, INVALID_VALUE,
                     "a copy at %#llx: the memory is not open to it", at);
    return 0;
}

static void move(const copy_t *c)
{
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(c->to.alias + z * c->to.plane + y * c->to.line,
                    c->from.alias + z * c->from.plane + y * c->from.line,
                    c->width);
}

static void run(op_t *op)
{
    move((copy_t *)op);
}

static void run_fill(op_t *op)
{
    const copy_t *c = (copy_t *)op;
    memset(c->to.alias, c->byte, c->width);
}

/* Make the operation of a copy, with pageable bytes that it is to take. */
static copy_t *make(const copy_t *like)
{
    bool stages = !like->from.block && like->to.block;
    size_t line = like->width, plane = line * like->height;
    copy_t *c = op_make(sizeof *c + (stages ? plane * like->depth : 0), run);
    if (!c)
        return NULL;
    op_t op = c->op;
    *c = *like;
    c->op = op;
    if (stages) {
        side_t to = c->to;
        c->to = (side_t){.alias = c->staged, .line = line, .plane = plane};
        move(c);
        c->from = c->to;
        c->to = to;
    }
    c->op.use[0] = c->to.block;
    c->op.use[1] = c->from.block;
    return c;
}

static int put(copy_t like, handle_t stream, bool synchronous)
{
    stream_t *s;
    int code = stream_find(stream, &s);
    if (code || !like.width || !like.height || !like.depth)
        return code;
    if ((code = find(&like, &like.to)) || (code = find(&like, &like.from)))
        return code;
    bool waits = !like.to.block ||
                 (synchronous &&
                  (is_host(&like.to) || is_synchronous(&like.to) ||
                   is_synchronous(&like.from) ||
                   (like.from.block && is_host(&like.from))));
    copy_t *c = make(&like);
    code = stream_put(s, c ? &c->op : NULL);
    if (code || !waits)
        return code;
    stream_await(s);
    return s->context->fault;
}

static int put_line(at_t to, int to_where, at_t from, int from_where, size_t n,
                    handle_t stream, bool synchronous)
{
    copy_t c = {.to = {.at = to, .where = to_where},
                .from = {.at = from, .where = from_where},
                .width = n,
                .height = 1,
                .depth = 1};
    return put(c, stream, synchronous);
}

EXPORTED int cuMemcpyHtoD_v2(at_t to, const void *from, size_t n)
{
    CALL(CONTEXT | UNSAFE);
    return put_line(to, ON_DEVICE, (uintptr_t)from, ON_HOST, n, NULL, true);
}

EXPORTED int cuMemcpyDtoH_v2(void *to, at_t from, size_t n)
{
    CALL(CONTEXT | UNSAFE);
    return put_line((uintptr_t)to, ON_HOST, from, ON_DEVICE, n, NULL, true);
}

EXPORTED int cuMemcpyDtoD_v2(at_t to, at_t from, size_t n)
{
    CALL(CONTEXT | UNSAFE);
    return put_line(to, ON_DEVICE, from, ON_DEVICE, n, NULL, true);
}

EXPORTED int cuMemcpyHtoDAsync_v2(at_t to, const void *from, size_t n,
                                  handle_t stream)
{
    CALL(DRIVER);
    return put_line(to, ON_DEVICE, (uintptr_t)from, ON_HOST, n, stream, false);
}

EXPORTED int cuMemcpyDtoHAsync_v2(void *to, at_t from, size_t n,
                                  handle_t stream)
{
    CALL(DRIVER);
    return put_line((uintptr_t)to, ON_HOST, from, ON_DEVICE, n, stream, false);
}

EXPORTED int cuMemcpyDtoDAsync_v2(at_t to, at_t from, size_t n, handle_t stream)
{
    CALL(DRIVER);
    return put_line(to, ON_DEVICE, from, ON_DEVICE, n, stream, false);
}

EXPORTED int cuMemcpyAsync(at_t to, at_t from, size_t n, handle_t stream)
{
    CALL(DRIVER);
    return put_line(to, ANYWHERE, from, ANYWHERE, n, stream, false);
}

EXPORTED int cuMemcpy(at_t to, at_t from, size_t n)
{
    CALL(CONTEXT | UNSAFE);
    return put_line(to, ANYWHERE, from, ANYWHERE, n, NULL, true);
}

EXPORTED int cuMemcpyPeerAsync(at_t to, handle_t to_context, at_t from,
                               handle_t from_context, size_t n, handle_t stream)
{
    CALL(DRIVER);
    return put_line(to, ON_DEVICE, from, ON_DEVICE, n, stream, false);
}

/* Planes and cubes ------------------------------------------------------- */

static side_t side(int type, const void *host, at_t device, size_t line,
                   size_t height, size_t x, size_t y, size_t z)
{
    bool on_host = type == 1;
    at_t at = on_host ? (uintptr_t)host : device;
    return (side_t){.at = at + z * line * height + y * line + x,
                    .line = line,
                    .plane = line * height,
                    .where = on_host                 ? ON_HOST
                             : type == DEVICE_MEMORY ? ON_DEVICE
                                                     : ANYWHERE};
}

EXPORTED int cuMemcpy2DAsync_v2(const plane_copy_t *p, handle_t stream)
{
    CALL(DRIVER);
    const plane_side_t *s = &p->source, *t = &p->target;
    if (s->array || t->array ||
        (p->height > 1 && (s->pitch < p->width || t->pitch < p->width)))
        return INVALID_VALUE;
    copy_t c = {
        .to = side(t->type, t->host, t->device, t->pitch, 0, t->x, t->y, 0),
        .from = side(s->type, s->host, s->device, s->pitch, 0, s->x, s->y, 0),
        .width = p->width,
        .height = p->height,
        .depth = 1};
    return put(c, stream, false);
}

EXPORTED int cuMemcpy3DAsync_v2(const cube_copy_t *p, handle_t stream)
{
    CALL(DRIVER);
    const cube_side_t *s = &p->source, *t = &p->target;
    if (s->array || t->array || s->pitch < p->width || t->pitch < p->width ||
        s->height < p->height || t->height < p->height)
        return INVALID_VALUE;
    copy_t c = {.to = side(t->type, t->host, t->device, t->pitch, t->height,
                           t->x, t->y, t->z),
                .from = side(s->type, s->host, s->device, s->pitch, s->height,
                             s->x, s->y, s->z),
                .width = p->width,
                .height = p->height,
                .depth = p->depth};
    return put(c, stream, false);
}

/* cuMemcpyBatchAsync of CUDA 13.0; cuGetProcAddress hands it out. */
EXPORTED int cuMemcpyBatchAsync_v2(at_t *to, at_t *from, size_t *bytes,
                                   size_t n, batch_attributes_t *attributes,
                                   size_t *first, size_t many, handle_t stream)
{
    CALL(DRIVER);
    int code = n && stream ? 0 : INVALID_VALUE;
    for (size_t i = 0; i < n && !code; i++)
        code = put_line(to[i], ANYWHERE, from[i], ANYWHERE, bytes[i], stream,
                        false);
    return code;
}

/* Fills ------------------------------------------------------------------ */

static int fill(at_t at, unsigned char byte, size_t n, handle_t stream,
                bool synchronous)
{
    copy_t like = {.to = {.at = at, .where = ON_DEVICE},
                   .width = n,
                   .height = 1,
                   .depth = 1,
                   .byte = byte};
    stream_t *s;
    int code = stream_find(stream, &s);
    if (code || !n || (code = find(&like, &like.to)))
        return code;
    copy_t *c = op_make(sizeof *c, run_fill);
    if (!c)
        return OUT_OF_MEMORY;
    c->to = like.to;
    c->width = n;
    c->byte = byte;
    c->op.use[0] = like.to.block;
    code = stream_put(s, &c->op);
    if (!code && synchronous && is_synchronous(&like.to))
        stream_await(s);
    return code;
}

EXPORTED int cuMemsetD8_v2(at_t at, unsigned char byte, size_t n)
{
    CALL(CONTEXT | UNSAFE);
    return fill(at, byte, n, NULL, true);
}

EXPORTED int cuMemsetD8Async(at_t at, unsigned char byte, size_t n,
                             handle_t stream)
{
    CALL(DRIVER);
    return fill(at, byte, n, stream, false);
}
