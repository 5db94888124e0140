/*
 * types_collectives.h - collectives in which every rank describes its data by
 * a datatype of its own.
 *
 * Every collective here moves blocks: block (i, j) goes from rank i to rank j.
 * A rank's send side and receive side are lists of blocks, laid out as the
 * call lays them out: one after the other, by displacements in extents, or by
 * displacements in bytes with a datatype each. A key of i and j alone decides
 * what is in a block. So two ranks that are neighbours twice need not know
 * which of the two blocks is which.
 */
#ifndef TYPES_COLLECTIVES_H
#define TYPES_COLLECTIVES_H

#include "types_messages.h"

enum {
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    PLAIN_COLLECTIVES,
    NEIGHBOR_ALLGATHER = PLAIN_COLLECTIVES,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    COLLECTIVES
};
static const char *const collective_names[COLLECTIVES] = {"Bcast",
                                                          "Gather",
                                                          "Gatherv",
                                                          "Scatter",
                                                          "Scatterv",
                                                          "Allgather",
                                                          "Allgatherv",
                                                          "Alltoall",
                                                          "Alltoallv",
                                                          "Alltoallw",
                                                          "Reduce",
                                                          "Allreduce",
                                                          "Neighbor_allgather",
                                                          "Neighbor_allgatherv",
                                                          "Neighbor_alltoall",
                                                          "Neighbor_alltoallv",
                                                          "Neighbor_alltoallw"};

enum { IN_A_ROW, BY_EXTENTS, BY_BYTES }; /* how blocks are laid out */

/* What all know of a call. */
typedef struct {
    int kind, root;
    MPI_Comm comm;
    signature_t signature;
    int turns, grain; /* of a block, at most */
    bool in_place;
    uint64_t key;
    long round;
} collective_t;

/* One side of a rank: its blocks and the arguments that describe them. */
typedef struct {
    typed_t buffer;
    int blocks;
    int peer[PIECES_MAX]; /* at the other end, or MPI_PROC_NULL */
    int count[PIECES_MAX], displacement[PIECES_MAX];
    int piece[PIECES_MAX]; /* of the buffer */
    MPI_Aint address[PIECES_MAX];
    MPI_Datatype type[PIECES_MAX];
} side_t;

static const char *collective_says(const collective_t *c, const typed_t *t)
{
    static char text[700];
    snprintf(text, sizeof text,
             "seed %llu round %ld: %s, root %d, up to %d "
             "turns of %d basic types, %d bytes each%s\n    %s",
             (unsigned long long)seed, c->round, collective_names[c->kind],
             c->root, c->turns, c->signature.n, c->signature.size,
             c->in_place ? ", in place" : "", t ? typed_says(t) : "");
    return text;
}

static bool by_extents(int kind)
{
    return kind == GATHERV || kind == SCATTERV || kind == ALLGATHERV ||
           kind == ALLTOALLV || kind == NEIGHBOR_ALLGATHERV ||
           kind == NEIGHBOR_ALLTOALLV;
}

static bool by_bytes(int kind)
{
    return kind == ALLTOALLW || kind == NEIGHBOR_ALLTOALLW;
}

static bool one_for_all(int kind)
{
    return kind == BCAST || kind == ALLGATHER || kind == ALLGATHERV ||
           kind == NEIGHBOR_ALLGATHER || kind == NEIGHBOR_ALLGATHERV;
}

/* The data of block (i, j), and how much of it there is. */
static uint64_t block_key(const collective_t *c, int i, int j)
{
    return key2(c->key, (uint64_t)(i * 1000 + (one_for_all(c->kind) ? 0 : j)));
}

static int block_turns(const collective_t *c, int i, int j)
{
    if (!by_extents(c->kind) && !by_bytes(c->kind))
        return c->turns;
    size_t grains = (size_t)(c->turns / c->grain) + 1;
    return c->grain * (int)rng_below(&(rng_t){block_key(c, i, j)}, grains);
}

/* What a host wants of the datatypes of a collective, beyond the standard:
 * EXACT: items of the same size on all ranks; TILING: that do not interleave.
 * (The same as in random_collectives.c.) */
static int host_wants(int kind)
{
#ifdef I_MPI_VERSION
    /* It cuts messages, and holds others', by the own datatype. */
    (void)kind;
    return EXACT | TILING;
#elif defined(OMPI_MAJOR_VERSION)
    /* A broadcast is cut into segments, and the algorithm of an allgatherv is
     * chosen, by the own datatype; in a tree, others' blocks are held in it,
     * one after the other. */
    return kind == BCAST || kind == ALLGATHERV ? EXACT
           : kind == GATHER || kind == SCATTER ? TILING
                                               : 0;
#else
    (void)kind;
    return 0;
#endif
}

/* Does the host make a collective with derived datatypes at all? */
static bool host_can(int kind)
{
#ifdef I_MPI_VERSION
    /* Where it gathers, it frees what it has overrun. */
    return kind != GATHER;
#else
    (void)kind;
    return true;
#endif
}

/* Lay the blocks out, each a message to a peer, or from one. */
static void side_make(rng_t *r, const collective_t *c, side_t *s, int how,
                      bool sends)
{
    typed_t *t = &s->buffer;
    int most = ELEMENTS_CAP / c->signature.n, wants = host_wants(c->kind);
    for (int attempt = 0;; attempt++) {
        int own = attempt < 8 ? divisor(r, c->grain) : 1, order[PIECES_MAX];
        if (wants & EXACT)
            own = c->grain;
        if (own > most)
            own = 1;
        short *seq = unrolled(&c->signature, own * c->signature.n);
        maker_t m = {.r = r, .odd = has("odd") && rng_one_in(r, 3)};
        m.column = c->turns / own;
        if (how == IN_A_ROW)
            m.column *= s->blocks ? s->blocks : 1;
        m.tiling = wants & TILING;
        if (m.tiling || attempt >= 8)
            m.column = 0;
        *t = (typed_t){.mades = 0};
        shuffle(r, order, s->blocks);
        ptrdiff_t place = 0;
        made_t *d = NULL;
        int first = 0;
        for (int k = 0; k < s->blocks; k++) {
            int b = how == IN_A_ROW ? k : order[k], peer = s->peer[b];
            int turns = peer == MPI_PROC_NULL ? c->turns
                        : sends               ? block_turns(c, me, peer)
                                              : block_turns(c, peer, me);
            s->count[b] = turns / own;
            if (!d || how == BY_BYTES) {
                d = &t->made[t->mades++];
                *d = make_type(&m, seq, own * c->signature.n, c->turns / own);
            }
            s->type[b] = d->type;
            ptrdiff_t at = place, lo, hi;
            if (how == BY_BYTES) {
                made_bounds(d, s->count[b], &lo, &hi);
                at = place - lo;
                place = at + hi + (ptrdiff_t)rng_below(r, 3) * (m.odd ? 1 : 16);
                place += m.odd ? 0 : -place & 15;
            } else if (how == BY_EXTENTS) {
                first += (int)rng_below(r, 3);
                at = first * d->extent;
                s->displacement[b] = first;
                first += s->count[b];
            } else {
                at = k * s->count[b] * d->extent;
            }
            if (how == BY_BYTES)
                s->displacement[b] = (int)at;
            s->address[b] = at;
            s->piece[b] = t->pieces;
            piece_t *p = typed_piece(t, d, s->count[b], at);
            size_t n = (size_t)turns * (size_t)c->signature.size;
            if (peer != MPI_PROC_NULL && sends)
                piece_before(p, block_key(c, me, peer), n);
            else if (peer != MPI_PROC_NULL)
                piece_after(p, block_key(c, peer, me), n);
        }
        free(seq);
        if (typed_separate(t)) {
            /* MPICH writes to the root's buffer in a Bcast, with what is
             * there. */
            typed_place(r, t, !sends || c->kind == BCAST);
            return;
        }
        CHECK(attempt < 20, "no room for the blocks of\n  %s",
              collective_says(c, t));
        typed_drop(t);
    }
}

static void side_peers(side_t *s, int n)
{
    s->blocks = n;
    for (int i = 0; i < n; i++)
        s->peer[i] = i;
}

static void side_peer(side_t *s, int peer)
{
    s->blocks = 1;
    s->peer[0] = peer;
}

/* Neighbours, in the order of the topology. */
static void neighbours(const collective_t *c, side_t *out, side_t *in)
{
    int topology, n = 0;
    MPI_Topo_test(c->comm, &topology);
    if (topology == MPI_CART) {
        MPI_Cartdim_get(c->comm, &n);
        for (int d = 0; d < n; d++) {
            int below, above;
            MPI_Cart_shift(c->comm, d, 1, &below, &above);
            in->peer[2 * d] = out->peer[2 * d] = below;
            in->peer[2 * d + 1] = out->peer[2 * d + 1] = above;
        }
        in->blocks = out->blocks = 2 * n;
    } else {
        int weighted;
        MPI_Dist_graph_neighbors_count(c->comm, &in->blocks, &out->blocks,
                                       &weighted);
        MPI_Dist_graph_neighbors(c->comm, in->blocks, in->peer, MPI_UNWEIGHTED,
                                 out->blocks, out->peer, MPI_UNWEIGHTED);
    }
}

/* Reductions of types without gaps, bit by bit. */
static void fold_bits(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (long i = 0; i < (long)*n * size; i++)
        ((char *)inout)[i] ^= ((char *)in)[i];
}

static MPI_Op bits;

static bool dense(const made_t *d)
{
    return d->runs == 1 && d->run[0].at == 0 && d->extent == d->size;
}

static void reduce(rng_t *r, const collective_t *c, int n)
{
    /* One type, the same on all ranks. */
    rng_t common = rng_from(key2(c->key, 5));
    typed_t out = {.mades = 1}, in = {.mades = 0};
    int items = 0;
    for (int attempt = 0; attempt < 40; attempt++) {
        out.made[0] = draw_type(&common, &c->signature, c->turns, c->grain,
                                false, false, &items);
        if (dense(&out.made[0]))
            break;
        made_drop(&out.made[0]);
    }
    made_t *d = &out.made[0];
    if (!d->n) {
        short basic = c->signature.basic[0];
        made_t one = made_base(basic);
        *d = made_of((short[]){basic, basic}, 2);
        d->type = make_contiguous(false, 2, one.type);
        MPI_Type_commit(&d->type);
        d->at[1] = one.size;
        snprintf(d->made_by, sizeof d->made_by, "contiguous(%s)", one.made_by);
        made_drop(&one);
        made_measure(d);
        made_runs(d);
        items = c->turns;
    }
    size_t bytes = (size_t)items * (size_t)d->size;
    bool gets = c->kind == ALLREDUCE || c->root == me;
    typed_piece(&out, d, items, 0);
    piece_before(&out.piece[0], block_key(c, me, 0), bytes);
    typed_place(r, &out, false);
    typed_piece(&in, d, items, 0);
    if (gets) {
        piece_after(&in.piece[0], block_key(c, 0, 0), bytes);
        for (int i = 1; i < n; i++) {
            char *more = data_of(block_key(c, i, 0), bytes);
            for (size_t k = 0; k < bytes; k++)
                in.piece[0].after[k] ^= more[k];
            free(more);
        }
    }
    typed_place(r, &in, true);
    if (c->kind == REDUCE)
        MPI_Reduce(out.user, in.user, items, d->type, bits, c->root, c->comm);
    else
        MPI_Allreduce(out.user, in.user, items, d->type, bits, c->comm);
    uint64_t digest;
    ptrdiff_t at = typed_wrong(&out, false, NULL);
    CHECK(at == NOTHING, "the operand is changed at %td\n  %s", at,
          collective_says(c, &out));
    at = typed_wrong(&in, true, &digest);
    CHECK(at == NOTHING, "a wrong byte at %td\n  %s", at,
          collective_says(c, &out));
    if (log_file)
        fprintf(log_file, "%ld %s %016llx\n", c->round,
                collective_names[c->kind], (unsigned long long)digest);
    typed_drop(&in);
    typed_drop(&out);
}

static void collective(rng_t *r, const collective_t *c)
{
    int n, kind = c->kind;
    MPI_Comm_rank(c->comm, &me);
    MPI_Comm_size(c->comm, &n);
    if (kind == REDUCE || kind == ALLREDUCE) {
        reduce(r, c, n);
        return;
    }
    side_t out = {.blocks = 0}, in = {.blocks = 0};
    int rows = by_extents(kind) ? BY_EXTENTS
               : by_bytes(kind) ? BY_BYTES
                                : IN_A_ROW;
    bool root = me == c->root, in_place = c->in_place;
    int out_how = rows, in_how = rows;
    switch (kind) {
    case BCAST:
        if (root)
            side_peer(&out, 0);
        else
            side_peer(&in, c->root);
        break;
    case GATHER:
    case GATHERV:
        side_peer(&out, c->root);
        out_how = IN_A_ROW;
        if (root)
            side_peers(&in, n);
        break;
    case SCATTER:
    case SCATTERV:
        side_peer(&in, c->root);
        in_how = IN_A_ROW;
        if (root)
            side_peers(&out, n);
        break;
    case ALLGATHER:
    case ALLGATHERV:
        side_peer(&out, 0);
        out_how = IN_A_ROW;
        side_peers(&in, n);
        break;
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        side_peers(&out, n);
        side_peers(&in, n);
        break;
    default:
        neighbours(c, &out, &in);
        if (kind == NEIGHBOR_ALLGATHER || kind == NEIGHBOR_ALLGATHERV) {
            side_peer(&out, 0);
            out_how = IN_A_ROW;
        }
    }
    in_place = in_place && ((kind == ALLGATHER || kind == ALLGATHERV) ||
                            (root && (kind == GATHER || kind == GATHERV)));
    side_make(r, c, &out, out_how, true);
    side_make(r, c, &in, in_how, false);
    if (in_place) /* our own block is there already */
        piece_before(&in.buffer.piece[in.piece[me]], block_key(c, me, me),
                     (size_t)block_turns(c, me, me) *
                         (size_t)c->signature.size);
    typed_fill(&in.buffer);
    if (trace)
        fprintf(stderr, "[%d] %s\n", world_rank,
                collective_says(c, out.blocks ? &out.buffer : &in.buffer));

    void *from = in_place ? MPI_IN_PLACE : out.buffer.user;
    void *to = in.buffer.user;
    /* Where an argument has no meaning, some hosts look at it all the same
     * (Open MPI, for whether there is anything to do). */
    side_t *any = out.blocks ? &out : &in, *way = in.blocks ? &in : &out;
    MPI_Datatype otype = any->blocks ? any->type[0] : MPI_INT;
    MPI_Datatype itype = way->blocks ? way->type[0] : MPI_INT;
    if (!out.blocks)
        out.count[0] = in.count[0];
    if (!in.blocks)
        in.count[0] = out.count[0];
    int rc = MPI_SUCCESS;
    switch (kind) {
    case BCAST: {
        side_t *s = root ? &out : &in;
        rc = MPI_Bcast(s->buffer.user, s->count[0], s->type[0], c->root,
                       c->comm);
        break;
    }
    case GATHER:
        rc = MPI_Gather(from, out.count[0], otype, to, in.count[0], itype,
                        c->root, c->comm);
        break;
    case GATHERV:
        rc = MPI_Gatherv(from, out.count[0], otype, to, in.count,
                         in.displacement, itype, c->root, c->comm);
        break;
    case SCATTER:
        rc = MPI_Scatter(from, out.count[0], otype, to, in.count[0], itype,
                         c->root, c->comm);
        break;
    case SCATTERV:
        rc = MPI_Scatterv(from, out.count, out.displacement, otype, to,
                          in.count[0], itype, c->root, c->comm);
        break;
    case ALLGATHER:
        rc = MPI_Allgather(from, out.count[0], otype, to, in.count[0], itype,
                           c->comm);
        break;
    case ALLGATHERV:
        rc = MPI_Allgatherv(from, out.count[0], otype, to, in.count,
                            in.displacement, itype, c->comm);
        break;
    case ALLTOALL:
        rc = MPI_Alltoall(from, out.count[0], otype, to, in.count[0], itype,
                          c->comm);
        break;
    case ALLTOALLV:
        rc = MPI_Alltoallv(from, out.count, out.displacement, otype, to,
                           in.count, in.displacement, itype, c->comm);
        break;
    case ALLTOALLW:
        rc = MPI_Alltoallw(from, out.count, out.displacement, out.type, to,
                           in.count, in.displacement, in.type, c->comm);
        break;
    case NEIGHBOR_ALLGATHER:
        rc = MPI_Neighbor_allgather(from, out.count[0], otype, to, in.count[0],
                                    itype, c->comm);
        break;
    case NEIGHBOR_ALLGATHERV:
        rc = MPI_Neighbor_allgatherv(from, out.count[0], otype, to, in.count,
                                     in.displacement, itype, c->comm);
        break;
    case NEIGHBOR_ALLTOALL:
        rc = MPI_Neighbor_alltoall(from, out.count[0], otype, to, in.count[0],
                                   itype, c->comm);
        break;
    case NEIGHBOR_ALLTOALLV:
        rc = MPI_Neighbor_alltoallv(from, out.count, out.displacement, otype,
                                    to, in.count, in.displacement, itype,
                                    c->comm);
        break;
    default:
        rc = MPI_Neighbor_alltoallw(from, out.count, out.address, out.type, to,
                                    in.count, in.address, in.type, c->comm);
    }
    CHECK(rc == MPI_SUCCESS, "error %d of\n  %s", rc,
          collective_says(c, &in.buffer));
    uint64_t digest = 0;
    ptrdiff_t at = typed_wrong(&out.buffer, false, NULL);
    CHECK(at == NOTHING, "what was sent is changed at %td\n  %s", at,
          collective_says(c, &out.buffer));
    at = typed_wrong(&in.buffer, true, &digest);
    CHECK(at == NOTHING, "received a wrong byte at %td\n  %s", at,
          collective_says(c, &in.buffer));
    if (log_file)
        fprintf(log_file, "%ld %s %016llx\n", c->round, collective_names[kind],
                (unsigned long long)digest);
    typed_drop(&out.buffer);
    typed_drop(&in.buffer);
}

#endif
