/*
 * accumulate.c - MPI_Accumulate and its kin: updates of a target's memory that
 * are atomic for each basic element (rma/update.h).
 *
 * All datatypes of a call are made of one basic type, which names the kernel.
 * Where the data are no plain arrays of it, this member alone works on the
 * target's memory meanwhile: it packs that, combines, and unpacks it again.
 */
#include "calls.h"
#include "far.h"

#include "mpi/base/decode.h"
#include "mpi/base/op.h"
#include "mpi/base/buffer.h"
#include "mpi/base/reach.h"
#include "node/base/array.h"
#include "rma/update.h"

#include <limits.h>

typedef struct {
    const void *origin;
    int64_t origin_count;
    MPI_Datatype origin_type;
    void *result;
    int64_t result_count;
    MPI_Datatype result_type;
    int target;
    int64_t disp, count;
    MPI_Datatype type;
    MPI_Op op;
    bool fetches;
} call_t;

/* `type` NULL: no such data. */
typedef struct {
    void *user;
    int64_t count;
    const sw_datatype_t *type;
    const sw_access_t *far; /* the system has to reach them; or NULL */
} elements_t;

typedef struct {
    sw_update_t u;
    const sw_datatype_t *basic;
    MPI_Op op;
    bool by_host; /* no kernel: MPI_Reduce_local combines */
    size_t n;     /* basic elements */
    int error;    /* of a far target; else MPI_SUCCESS */
    elements_t origin, result, target;
} task_t;

/* Open MPI takes more than MPI allows: MPI_Fetch_and_op with derived datatypes
 * and a user's operation, MPI_Compare_and_swap with all datatypes. */
#ifdef OMPI_MAJOR_VERSION
#define TAKES_MORE true
#else
#define TAKES_MORE false
#endif

/* The basic type that it is made of; itself, if these differ. They can be
 * replaced then, and no operation is defined on it. */
static const sw_datatype_t *basic_of(const sw_datatype_t *type)
{
    sw_datatype_t *d = (sw_datatype_t *)(uintptr_t)type;
    if (sw_likely(d->predefined))
        return d;
    const sw_datatype_t *basic = atomic_load_explicit(&d->basic,
                                                      memory_order_acquire);
    if (!basic) {
        MPI_Datatype only = sw_decode_only_basic(d->handle);
        basic = only == MPI_DATATYPE_NULL ? d : sw_access_type(only);
        atomic_store_explicit(&d->basic, basic, memory_order_release);
    }
    return basic;
}

/* Types without kernels on which hosts define operations. */
static bool host_combines(MPI_Datatype type)
{
    const MPI_Datatype known[] = {
        MPI_LOGICAL,
        MPI_CXX_BOOL,
        MPI_CXX_FLOAT_COMPLEX,
        MPI_CXX_DOUBLE_COMPLEX,
        MPI_CXX_LONG_DOUBLE_COMPLEX,
        MPI_REAL16,
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] != MPI_DATATYPE_NULL && known[i] == type)
            return true;
    return false;
}

/* The standard has no reductions of MPI_CHAR. All hosts have these. */
static bool combines_chars(MPI_Op op, MPI_Datatype type)
{
    const MPI_Op known[] = {
        MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
        MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR,
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] == op)
            return type == MPI_CHAR;
    return false;
}

static bool is_integer(const sw_datatype_t *d)
{
    return d->kernel >= SW_INT8 && d->kernel <= SW_UINT64;
}

/* False: the host is to judge. */
static bool operation(MPI_Op op, const sw_datatype_t *basic, bool single,
                      task_t *t)
{
    sw_operation_t o;
    t->basic = basic;
    t->op = op;
    t->by_host = false;
    t->u = (sw_update_t){.elem = (size_t)basic->extent};
    if (op == MPI_REPLACE || op == MPI_NO_OP) {
        t->u.kind = op == MPI_NO_OP ? SW_UPDATE_NOTHING : SW_UPDATE_REPLACE;
        return basic->extent > 0;
    }
    if (basic->kernel < 0 &&
        (host_combines(basic->handle) || combines_chars(op, basic->handle)))
        return t->by_host = true;
    if (!sw_operation(op, basic, &o) || (o.packed && !basic->predefined))
        return false;
    if (!o.reducer.kernel)
        return t->by_host = TAKES_MORE && single;
    t->u.kernel = o.reducer.kernel;
    t->u.kind = op == MPI_SUM && is_integer(basic) ? SW_UPDATE_ADD
                                                   : SW_UPDATE_COMBINE;
    return true;
}

/* Are they an array of basic elements, in this processor's reach? Kernels write
 * the gap of a pair, too, which may hold the program's own data. */
static bool is_plain(const task_t *t, const elements_t *e)
{
    return !e->type || (!e->far && e->type->dense && t->basic->dense &&
                        !sw_out_of_reach(e->user, e->type));
}

static char *room_for(task_t *t, size_t bytes)
{
    char *room = sw_temporary_try(bytes);
    if (!room)
        t->error = MPI_ERR_NO_MEM;
    return room;
}

/* The elements as an array of basic ones, in memory for the time of the call.
 * NULL: there is none for them. */
static char *gather(task_t *t, const elements_t *e, MPI_Comm comm)
{
    size_t bytes = (size_t)e->count * e->type->size;
    char *packed = room_for(t, bytes), *array = packed;
    if (!packed)
        return NULL;
    if (e->far)
        t->error = sw_far_get(e->far, packed, bytes);
    else
        sw_pack(e->user, e->count, e->type, packed, comm);
    if (!t->basic->dense) {
        size_t n = bytes / t->basic->size;
        array = room_for(t, n * t->u.elem);
        if (array)
            sw_unpack(packed, array, (int64_t)n, t->basic, comm);
        sw_temporary_free(packed);
    }
    return array;
}

/* The other way. It writes all, or nothing. */
static void scatter(task_t *t, const char *array, const elements_t *e,
                    MPI_Comm comm)
{
    size_t bytes = (size_t)e->count * e->type->size;
    char *packed = NULL;
    if (!t->basic->dense) {
        packed = room_for(t, bytes);
        if (!packed)
            return;
        sw_pack(array, (int64_t)(bytes / t->basic->size), t->basic, packed,
                comm);
    }
    if (e->far)
        t->error = sw_far_put(e->far, packed ? packed : array, bytes);
    else
        sw_unpack(packed ? packed : array, e->user, e->count, e->type, comm);
    sw_temporary_free(packed);
}

static void combine(const task_t *t, char *at, const char *origin)
{
    if (!t->by_host) {
        sw_update_apply(&t->u, at, origin, t->n);
        return;
    }
    for (size_t done = 0, some; done < t->n; done += some) {
        some = sw_min(t->n - done, (size_t)INT_MAX);
        host.Reduce_local(origin + done * t->u.elem, at + done * t->u.elem,
                          (int)some, t->basic->handle, t->op);
    }
}

static void update_there(sw_win_t *w, int target, task_t *t, const char *mine,
                         char *old, MPI_Comm comm)
{
    w->stored = true;
    sw_rma_update_begin(&w->share, target);
    char *there = gather(t, &t->target, comm);
    if (old && t->error == MPI_SUCCESS)
        sw_copy(old, there, t->n * t->u.elem);
    if (t->u.kind != SW_UPDATE_NOTHING && t->error == MPI_SUCCESS) {
        combine(t, there, mine);
        scatter(t, there, &t->target, comm);
    }
    sw_rma_update_end(&w->share, target);
    sw_temporary_free(there);
}

static void update_aside(sw_win_t *w, int target, task_t *t)
{
    MPI_Comm comm = sw_datatype_comm(MPI_COMM_WORLD);
    char *mine = t->origin.type ? gather(t, &t->origin, comm) : NULL;
    char *old = t->result.type ? gather(t, &t->result, comm) : NULL;
    if (t->error == MPI_SUCCESS)
        update_there(w, target, t, mine, old, comm);
    if (old && t->error == MPI_SUCCESS)
        scatter(t, old, &t->result, comm);
    sw_temporary_free(mine);
    sw_temporary_free(old);
}

/* Data of a call that is there: false where the host is to judge. */
static bool data_of(bool there, const void *user, int64_t count,
                    MPI_Datatype type, elements_t *to)
{
    *to = (elements_t){(void *)(uintptr_t)user, count, NULL, NULL};
    return !there || (count >= 0 && (to->type = sw_access_type(type)) &&
                      (user || !count || !to->type->dense));
}

/* All of it in whole basic elements. Mostly no division is needed. */
static bool limit(task_t *t, const elements_t *e)
{
    if (!e->type)
        return true;
    size_t n = (size_t)e->count, bytes = n * e->type->size;
    if (sw_unlikely(e->type != t->basic))
        n = bytes / t->basic->size;
    t->n = sw_min(t->n, n);
    return n * t->basic->size == bytes;
}

/* `single`: MPI_Fetch_and_op, which takes one basic element. */
static bool accumulate(sw_win_t *w, const call_t *k, bool single, int *result)
{
    task_t t;
    sw_access_t a;
    const sw_datatype_t *basic;
    if (k->op == MPI_OP_NULL || (k->op == MPI_NO_OP && !k->fetches))
        return false;
    if (!data_of(k->op != MPI_NO_OP, k->origin, k->origin_count, k->origin_type,
                 &t.origin) ||
        !data_of(k->fetches, k->result, k->result_count, k->result_type,
                 &t.result) ||
        !sw_access(w, k->target, k->disp, k->count, k->type, &a, result))
        return false;
    if (!a.bytes)
        return true;
    basic = basic_of(a.type);
    if (!basic || !basic->size || (single && basic != a.type && !TAKES_MORE) ||
        !operation(k->op, basic, single, &t))
        return false;
    t.target = (elements_t){a.at, a.count, a.type, a.far ? &a : NULL};
    t.error = MPI_SUCCESS;
    t.n = a.bytes;
    if (!limit(&t, &t.target) || !limit(&t, &t.origin) || !limit(&t, &t.result))
        return false;
    sw_win_count(k->fetches ? SW_WIN_FETCH : SW_WIN_ACCUMULATE, a.bytes);
    if (!t.n)
        return true;
    if (sw_likely(!t.by_host && is_plain(&t, &t.target) &&
                  is_plain(&t, &t.origin) && is_plain(&t, &t.result))) {
        /* The handle of a derived type may come to mean another one. */
        if (basic == a.type && basic->predefined &&
            t.u.kind != SW_UPDATE_NOTHING && !w->share.threads)
            w->last = (sw_win_update_t){k->type, k->op, t.u};
        w->stored |= sw_rma_update(&w->share, k->target, &t.u, a.at,
                                   t.origin.type ? t.origin.user : NULL,
                                   t.result.type ? t.result.user : NULL, t.n);
    } else {
        update_aside(w, k->target, &t);
    }
    if (sw_unlikely(t.error != MPI_SUCCESS))
        *result = sw_win_raise(w, t.error);
    sw_win_turn(w);
    return true;
}

/* The same at once, if it is like the last one. */
static inline bool again(sw_win_t *w, const void *origin, int64_t count,
                         MPI_Datatype type, int target, int64_t disp,
                         int64_t target_count, MPI_Datatype target_type,
                         MPI_Op op, int *result)
{
    sw_access_t a;
    if (w->last.type != type || type != target_type || w->last.op != op ||
        count != target_count || !origin || target == MPI_PROC_NULL ||
        sw_device_possible() ||
        !sw_access(w, target, disp, count, type, &a, result) || a.far)
        return false;
    if (!a.bytes)
        return true;
    sw_win_count(SW_WIN_ACCUMULATE, a.bytes);
    w->stored |= sw_rma_update(&w->share, target, &w->last.u, a.at, origin,
                               NULL, (size_t)count);
    sw_win_turn(w);
    return true;
}

bool sw_accumulate(sw_win_t *w, const void *origin_addr, int64_t origin_count,
                   MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int64_t target_count,
                   MPI_Datatype target_datatype, MPI_Op op, int *rc)
{
    return again(w, origin_addr, origin_count, origin_datatype, target_rank,
                 target_disp, target_count, target_datatype, op, rc) ||
           accumulate(w,
                      &(const call_t){.origin = origin_addr,
                                      .origin_count = origin_count,
                                      .origin_type = origin_datatype,
                                      .target = target_rank,
                                      .disp = target_disp,
                                      .count = target_count,
                                      .type = target_datatype,
                                      .op = op},
                      false, rc);
}

bool sw_get_accumulate(sw_win_t *w, const void *origin_addr,
                       int64_t origin_count, MPI_Datatype origin_datatype,
                       void *result_addr, int64_t result_count,
                       MPI_Datatype result_datatype, int target_rank,
                       MPI_Aint target_disp, int64_t target_count,
                       MPI_Datatype target_datatype, MPI_Op op, int *rc)
{
    return accumulate(w,
                      &(const call_t){.origin = origin_addr,
                                      .origin_count = origin_count,
                                      .origin_type = origin_datatype,
                                      .result = result_addr,
                                      .result_count = result_count,
                                      .result_type = result_datatype,
                                      .target = target_rank,
                                      .disp = target_disp,
                                      .count = target_count,
                                      .type = target_datatype,
                                      .op = op,
                                      .fetches = true},
                      false, rc);
}

bool sw_fetch_and_op(sw_win_t *w, const void *origin_addr, void *result_addr,
                     MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, int *rc)
{
    return accumulate(w,
                      &(const call_t){.origin = origin_addr,
                                      .origin_count = 1,
                                      .origin_type = datatype,
                                      .result = result_addr,
                                      .result_count = 1,
                                      .result_type = datatype,
                                      .target = target_rank,
                                      .disp = target_disp,
                                      .count = 1,
                                      .type = datatype,
                                      .op = op,
                                      .fetches = true},
                      true, rc);
}

/* Integers, logicals and bytes can be compared and swapped. MPICH and its kin
 * take characters besides (MPICH 4.0 and Intel MPI not MPI_WCHAR), and
 * benchmarks swap MPI_CHAR. */
static bool swaps(MPI_Datatype type)
{
    const MPI_Datatype known[] = {
        MPI_LOGICAL, MPI_CXX_BOOL, MPI_CHAR, MPI_WCHAR, MPI_CHARACTER,
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] != MPI_DATATYPE_NULL && known[i] == type)
            return true;
    return false;
}

static bool can_swap(const sw_datatype_t *d)
{
    bool taken = TAKES_MORE || is_integer(d) ||
                 (d->kernel >= SW_BYTE && d->kernel <= SW_LOGICAL8) ||
                 swaps(d->handle);
    return taken && d->dense;
}

/* What the processor cannot swap. */
static int swap_aside(sw_win_t *w, int target, const sw_access_t *a,
                      const char *mine, const char *wanted, char *old)
{
    int error = MPI_SUCCESS;
    w->stored = true;
    sw_rma_update_begin(&w->share, target);
    if (a->far)
        error = sw_far_get(a, old, a->bytes);
    else
        memcpy(old, a->at, a->bytes);
    bool same = error == MPI_SUCCESS && !memcmp(old, wanted, a->bytes);
    if (same && a->far)
        error = sw_far_put(a, mine, a->bytes);
    else if (same)
        memcpy(a->at, mine, a->bytes);
    sw_rma_update_end(&w->share, target);
    return error;
}

bool sw_compare_and_swap(sw_win_t *w, const void *origin_addr,
                         const void *compare_addr, void *result_addr,
                         MPI_Datatype datatype, int target_rank,
                         MPI_Aint target_disp, int *rc)
{
    sw_access_t a;
    if (!sw_access(w, target_rank, target_disp, 1, datatype, &a, rc) ||
        !can_swap(a.type))
        return false;
    if (!a.bytes)
        return true;
    bool aside = a.far || a.bytes > sizeof(uint64_t);
    if (aside || sw_out_of_reach(origin_addr, a.type) ||
        sw_out_of_reach(compare_addr, a.type) ||
        sw_out_of_reach(result_addr, a.type)) {
        MPI_Comm comm = sw_datatype_comm(MPI_COMM_WORLD);
        SW_BYTES(mine, a.bytes);
        SW_BYTES(wanted, a.bytes);
        SW_BYTES(old, a.bytes);
        int error = MPI_SUCCESS;
        sw_pack(origin_addr, 1, a.type, mine, comm);
        sw_pack(compare_addr, 1, a.type, wanted, comm);
        if (aside)
            error = swap_aside(w, target_rank, &a, mine, wanted, old);
        else
            w->stored |= sw_rma_swap(&w->share, target_rank, a.bytes, a.at,
                                     mine, wanted, old);
        if (error == MPI_SUCCESS)
            sw_unpack(old, result_addr, 1, a.type, comm);
        else
            *rc = sw_win_raise(w, error);
    } else {
        w->stored |= sw_rma_swap(&w->share, target_rank, a.bytes, a.at,
                                 origin_addr, compare_addr, result_addr);
    }
    sw_win_count(SW_WIN_FETCH, a.bytes);
    sw_win_turn(w);
    return true;
}
