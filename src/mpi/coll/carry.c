/*
 * carry.c - a blocking call is carried out: in the members' sequence, or by
 * their span where they live on several nodes. This file alone chooses between
 * the two.
 *
 * All members choose alike: by the communicator, the collective, its bytes by
 * signature, and the operation.
 */
#include "call.h"

#include "counted.h"
#include "direct.h"
#include "direct_fold.h"
#include "lift.h"
#include "moving.h"
#include "trials.h"
#include "mpi/base/progress.h"
#include "mpi/base/raise.h"
#include "mpi/span/spans.h"

/* Do the members serve this call? If so, they do it in c->sequence, or over
 * c->span where there is no sequence. `reducer`: of a reduction. */
static bool ready(sw_coll_call_t *k, const sw_reducer_t *reducer)
{
    sw_comm_t *c = k->c;
    if (sw_likely(sw_comm_sequence(c, &k->reason) != NULL))
        return true;
    if (!c->span || c->over ||
        !sw_span_ready(c, k->id, k->bytes, reducer, &k->reason))
        return false;
    sw_count_over_nodes(k);
    return true;
}

/* Errors go through the communicator's error handler. */
static bool finish(sw_coll_call_t *k, int status)
{
    if (sw_unlikely(
            atomic_load_explicit(&sw_windows_made, memory_order_relaxed)))
        sw_progress();
    if (sw_unlikely(status != SW_OK))
        k->result = sw_raise(k->comm, sw_call_outcome(k->id, status));
    return true;
}

/* In the sequence ---------------------------------------------------------- */

static inline int move_in_sequence(sw_sequence_t *seq, const sw_coll_move_t *m)
{
    const sw_blocks_t *sends = &m->sends, *recvs = &m->recvs;
    bool is_root = seq->me == m->root;
    sw_data_t one; /* the block for all, or from all */
    switch (m->id) {
    case SW_COLL_BCAST:
        one = is_root ? sw_block_data(sends, m->send, 0)
                      : sw_block_data(recvs, m->recv, 0);
        return sw_coll_bcast(seq, m->root, &one,
                             is_root ? sends->bytes : recvs->bytes);
    case SW_COLL_GATHER:
        one = sw_block_data(sends, m->send, 0);
        return sw_coll_gather(seq, m->root, &one, sends->bytes, m->recv, recvs);
    case SW_COLL_GATHERV:
        one = sw_block_data(sends, m->send, 0);
        return sw_coll_gatherv(seq, m->root, &one, sends->bytes, m->recv,
                               recvs);
    case SW_COLL_SCATTER:
    case SW_COLL_SCATTERV:
        one = sw_block_data(recvs, m->recv, 0);
        return sw_coll_scatter(seq, m->root, m->send, sends,
                               m->in_place ? NULL : &one, recvs->bytes);
    case SW_COLL_ALLGATHER:
    case SW_COLL_ALLGATHERV:
        one = sw_block_data(sends, m->send, 0);
        return sw_coll_allgather(seq, &one, sends->bytes, m->recv, recvs);
    default: return sw_coll_alltoall(seq, m->send, sends, m->recv, recvs);
    }
}

static inline int fold_in_sequence(sw_sequence_t *seq, const sw_coll_fold_t *f)
{
    switch (f->id) {
    case SW_COLL_REDUCE:
        return sw_coll_reduce(seq, f->root, f->reducer, f->in, f->out, f->n);
    case SW_COLL_ALLREDUCE:
        return sw_coll_allreduce(seq, f->reducer, f->in, f->out, f->n);
    case SW_COLL_SCAN:
    case SW_COLL_EXSCAN:
        return sw_coll_scan(seq, f->id == SW_COLL_EXSCAN, f->reducer, f->in,
                            f->out, f->n);
    default:
        return sw_coll_reduce_scatter(seq, f->reducer, f->in, f->out, f->counts,
                                      f->each);
    }
}

/* Sequence or span --------------------------------------------------------- */

/* Beside the others in one frame its operands would lie below them, too. */
__attribute__((noinline)) static bool fold(sw_coll_call_t *k)
{
    const sw_operation_t *o = &k->reduction.o;
    sw_comm_t *c = k->c;
    sw_operands_t x;
    sw_coll_fold_t f;
    if (!ready(k, &o->reducer))
        return false;
    if (sw_unlikely(c->direct) && c->sequence && sw_direct_fold(k))
        return finish(k, SW_OK);
    sw_reduction_bind(&k->reduction, k->id, k->comm, &x, &f);
    int status = !f.n          ? SW_OK /* nothing to reduce */
                 : c->sequence ? fold_in_sequence(c->sequence, &f)
                               : sw_span_fold(c->span, &f, o);
    sw_operands_end(&x, status == SW_OK);
    return finish(k, status);
}

static bool move(sw_coll_call_t *k)
{
    sw_comm_t *c = k->c;
    sw_moving_t v;
    sw_coll_move_t m;
    int direct;
    if (!ready(k, NULL))
        return false;
    if (sw_unlikely(c->direct) && c->sequence && sw_direct_move(k, &direct))
        return finish(k, direct);
    v.room = (sw_scratch_t){.at = NULL};
    sw_moving_begin(&v, k, k->comm, &m);
    int status = c->sequence ? move_in_sequence(c->sequence, &m)
                             : sw_span_move(c->span, &m, k->bytes);
    sw_moving_end(&v, k->comm, status != SW_SPAN_DECLINED);
    if (sw_unlikely(v.room.at != NULL))
        sw_scratch_end(&v.room);
    if (sw_unlikely(status == SW_SPAN_DECLINED)) {
        k->reason = SW_REASON_SPAN;
        return false;
    }
    return finish(k, status);
}

static bool meet(sw_coll_call_t *k)
{
    int status;
    return sw_sides_run(&k->sides, k->id, k->c, &k->reason, &status) &&
           finish(k, status);
}

/* Barrier: nothing moves. */
static bool arrive(sw_coll_call_t *k)
{
    sw_comm_t *c = k->c;
    return ready(k, NULL) &&
           finish(k, c->sequence ? sw_coll_barrier(c->sequence)
                                 : sw_span_barrier(c->span));
}

/* The host tells the program of a sequence that broke. */
static int verdict(const sw_coll_call_t *k)
{
    const sw_sequence_t *seq = sw_comm_near(k->c);
    return sw_unlikely(seq && seq->broken) ? sw_comm_give_up(k->c) : k->result;
}

/* An operation that ours has no kernel for is the host's, which then judges
 * the operation, too. */
static bool is_described(const sw_coll_call_t *k, bool right)
{
    return right ||
           (sw_collective_reduces(k->id) && k->reason == SW_REASON_OPERATION);
}

bool sw_call_carry_out(sw_coll_call_t *k, bool right, int *rc)
{
    bool ours = sw_likely(right) && !sw_call_tuned_away(k) &&
                !sw_trials_host(k) &&
                (k->id == SW_COLL_BARRIER       ? arrive(k)
                 : sw_collective_reduces(k->id) ? fold(k)
                 : sw_collective_is_near(k->id) ? meet(k)
                                                : move(k));
    bool raised = !ours && k->result != MPI_SUCCESS;
    *rc = sw_likely(ours) ? verdict(k) : k->result;
    if (sw_unlikely(!ours)) {
        sw_count_declined(k);
        k->lift = !raised && is_described(k, right) && sw_lift_serves(k->id)
                      ? sw_lift(k)
                      : NULL;
    }
    if (sw_unlikely(k->room.at != NULL))
        sw_scratch_end(&k->room);
    return ours || raised;
}

int sw_call_outcome(sw_collective_t id, int status)
{
    /* Of what is broken, sw_comm_give_up lets the host tell. */
    if (sw_likely(status == SW_OK) || status == SW_BROKEN)
        return MPI_SUCCESS;
    static const char *const text[] = {
        [SW_MISMATCH] = "the members of a communicator call different "
                        "collectives, or with different roots",
        [SW_UNREACHABLE] = "data of a member cannot be reached",
        [SW_NO_ROOM] = "a member has no memory for its part",
    };
    static _Atomic bool said[sizeof text / sizeof *text];
    if (text[status])
        sw_say_once(&said[status], "%s: %s", sw_collective_title(id),
                    text[status]);
    return status == SW_TRUNCATED ? MPI_ERR_TRUNCATE
           : status == SW_NO_ROOM ? MPI_ERR_NO_MEM
                                  : MPI_ERR_OTHER;
}
