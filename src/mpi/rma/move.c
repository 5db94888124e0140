/*
 * move.c - MPI_Put and MPI_Get: copies between this member's memory and a
 * target's, by the layouts of both.
 */
#include "calls.h"
#include "far.h"
#include "places.h"

#include "mpi/base/buffer.h"
#include "mpi/base/loose.h"
#include "mpi/base/reach.h"

/* Hosts take an access to any target while one is locked: so do we. */
static bool may_access(const sw_win_t *w, const sw_win_target_t *t)
{
    return w->fenced || atomic_load_explicit(&w->locks, memory_order_relaxed) ||
           atomic_load_explicit(&t->access, memory_order_acquire);
}

/* Has the target exposed its memory? Of a started one the first access
 * waits. */
static bool is_exposed(const sw_win_t *w, const sw_win_target_t *t, int target)
{
    int access = atomic_load_explicit(&t->access, memory_order_acquire);
    return sw_likely(!(access & (SW_WIN_UNPOSTED | SW_WIN_AWAITED))) ||
           sw_win_await_post(w, target);
}

/* What the target has attached is in its arena, or far. Where one member has
 * not mapped another's, all is far to all: an accumulate by the processor would
 * not be atomic beside one that the system copies. */
static void reach_region(const sw_win_t *w, const sw_win_target_t *t,
                         uint64_t low, uint64_t high, sw_access_t *to)
{
    uint64_t at = w->sequence->team->arena
                      ? sw_regions_find(t->regions, low, high)
                      : UINT64_MAX;
    if (at == UINT64_MAX)
        to->far = t->peer;
    else if (!t->peer->self)
        to->at = t->peer->arena + at + to->before;
}

/* Memory that was not found when the window was made. */
static void reach_away(sw_win_target_t *t, int64_t begin, sw_access_t *to)
{
    if (atomic_load(&t->where) == SW_WIN_UNSEARCHED)
        sw_places_search(t);
    bool far = atomic_load(&t->where) == SW_WIN_FAR;
    to->far = far ? t->peer : NULL;
    to->at = (char *)((far ? (intptr_t)t->away : (intptr_t)t->base) + begin);
}

bool sw_access(const sw_win_t *w, int target, int64_t disp, int64_t count,
               MPI_Datatype type, sw_access_t *to, int *result)
{
    const sw_win_target_t *t = sw_win_is_target(w, target) ? &w->target[target]
                                                           : NULL;
    if (!t || !may_access(w, t) || count < 0 || (disp < 0 && !t->regions) ||
        !(to->type = sw_access_type(type)))
        return false;
    int64_t low = 0, high, begin;
    to->count = count;
    to->bytes = (size_t)count * to->type->size;
    to->far = NULL;
    if (!is_exposed(w, t, target)) {
        *result = sw_win_lost(w);
        to->bytes = 0;
    }
    if (to->bytes == 0) {
        to->at = t->base;
        return true;
    }
    high = (int64_t)to->bytes;
    if (!to->type->dense)
        sw_loose_span(to->type, count, &low, &high);
    to->before = (size_t)-low;
    to->span = (size_t)(high - low);
    if (__builtin_mul_overflow(disp, t->unit, &begin) ||
        __builtin_add_overflow(begin, low, &low) ||
        __builtin_add_overflow(begin, high, &high) || low < 0 ||
        (uint64_t)high > t->bytes) {
        *result = sw_win_raise(w, MPI_ERR_RMA_RANGE);
        begin = 0;
        to->bytes = 0;
    }
    if (sw_unlikely(atomic_load_explicit(&t->where, memory_order_acquire)))
        reach_away(&w->target[target], begin, to);
    else
        to->at = (char *)((intptr_t)t->base + begin);
    if (t->regions)
        reach_region(w, t, (uint64_t)low, (uint64_t)high, to);
    return true;
}

/* The target's memory is far. */
static int move_far(bool put, void *user, int64_t count, const sw_datatype_t *d,
                    const sw_access_t *a, size_t bytes)
{
    MPI_Comm comm = sw_datatype_comm(MPI_COMM_WORLD);
    bool plain = d->dense && !sw_out_of_reach(user, d);
    size_t whole = (size_t)count * d->size;
    char *packed = plain ? user : sw_temporary_try(whole);
    int error;
    if (!packed && whole)
        return MPI_ERR_NO_MEM;
    /* What is unpacked as a whole must be whole. */
    if (!plain && (put || bytes < whole))
        sw_pack(user, count, d, packed, comm);
    error = put ? sw_far_put(a, packed, bytes) : sw_far_get(a, packed, bytes);
    if (!plain && !put && error == MPI_SUCCESS)
        sw_unpack(packed, user, count, d, comm);
    if (!plain)
        sw_temporary_free(packed);
    return error;
}

/* Data that is not side by side, or not in this processor's reach. */
static void copy(bool put, void *user, int64_t count, const sw_datatype_t *d,
                 const sw_access_t *a, size_t bytes)
{
    MPI_Comm comm = sw_datatype_comm(MPI_COMM_WORLD);
    sw_buffer_t from, to;
    sw_buffer_send(&from, put ? user : a->at, put ? count : a->count,
                   put ? d : a->type, comm);
    sw_buffer_receive(&to, put ? a->at : user, put ? a->count : count,
                      put ? a->type : d, comm);
    /* What is unpacked as a whole must be whole. */
    if (to.temporary && bytes < to.bytes)
        sw_pack(to.user, to.count, to.type, to.temporary, comm);
    sw_data_copy(&from.data, &to.data, 0, bytes);
    sw_buffer_received(&to);
    sw_buffer_end(&from);
}

static bool move(sw_win_t *w, bool put, void *user, int64_t count,
                 MPI_Datatype type, int target, int64_t disp,
                 int64_t target_count, MPI_Datatype target_type, int *result)
{
    sw_access_t a;
    const sw_datatype_t *d;
    if (count < 0 || !(d = sw_access_type(type)) ||
        !sw_access(w, target, disp, target_count, target_type, &a, result))
        return false;
    size_t bytes = sw_min((size_t)count * d->size, a.bytes);
    if (!user && d->dense && bytes)
        return false;
    sw_win_count(put ? SW_WIN_PUT : SW_WIN_GET, bytes);
    if (!bytes)
        return true;
    w->stored = true;
    if (sw_unlikely(a.far)) {
        int error = move_far(put, user, count, d, &a, bytes);
        if (error != MPI_SUCCESS)
            *result = sw_win_raise(w, error);
    } else if (sw_likely(d->dense && a.type->dense &&
                         !sw_out_of_reach(user, d))) {
        sw_copy(put ? a.at : user, put ? user : a.at, bytes);
    } else {
        copy(put, user, count, d, &a, bytes);
    }
    return true;
}

bool sw_put(sw_win_t *w, const void *origin_addr, int64_t origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int64_t target_count, MPI_Datatype target_datatype, int *rc)
{
    return move(w, true, (void *)(uintptr_t)origin_addr, origin_count,
                origin_datatype, target_rank, target_disp, target_count,
                target_datatype, rc);
}

bool sw_get(sw_win_t *w, void *origin_addr, int64_t origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int64_t target_count, MPI_Datatype target_datatype, int *rc)
{
    return move(w, false, origin_addr, origin_count, origin_datatype,
                target_rank, target_disp, target_count, target_datatype, rc);
}

/* One of the host's, for a message to MPI_PROC_NULL. */
bool sw_rma_access_requested(MPI_Request *request, int *rc)
{
    if (*rc == MPI_SUCCESS)
        *rc = host.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
                         request);
    return true;
}
