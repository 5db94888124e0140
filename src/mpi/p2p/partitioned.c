/*
 * partitioned.c - see partitioned.h.
 */
#include "partitioned.h"

#include "mpi/base/failure.h"
#include "mpi/base/link.h"
#include "mpi/base/raise.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "offload/room.h"
#include "partition.h"

#include <stdlib.h>

sw_partitioned_counts_t sw_partitioned_counts;

#ifdef SW_HAS_Psend_init

/* Messages of up to so many bytes are copied by their sender, which then need
 * not wait for the receiver. */
#define EAGER 32768

static sw_shadow_t *spare;

/* The request -------------------------------------------------------------- */

static void tell(const sw_partitioned_t *p, MPI_Status *status)
{
    sw_status_empty(status);
    if (p->sends || status == MPI_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = p->peer;
    status->MPI_TAG = p->tag;
    sw_status_set_bytes(
        status, sw_min(sw_parts_received(&p->parts), sw_partitions_room(p)));
}

/* As in any receive, less may come than there is room for, and more is an
 * error. (MPI 4.1, 4.2 says nothing else. MPICH takes other sizes than the
 * sender's for MPI_ERR_OTHER, and Open MPI writes beyond the buffer.) */
static int outcome(const sw_partitioned_t *p, int status)
{
    MPI_Comm comm = p->shadow.comm->handle;
    if (sw_likely(status == SW_OK))
        return MPI_SUCCESS;
    if (status == SW_TRUNCATED)
        return MPI_ERR_TRUNCATE;
    if (status == SW_NO_ROOM)
        return MPI_ERR_NO_MEM;
    if (status == SW_BROKEN && comm != MPI_COMM_NULL)
        return sw_failure_raise(comm);
    return MPI_ERR_OTHER;
}

static int peek(sw_shadow_t *s, MPI_Status *status)
{
    tell((sw_partitioned_t *)s, status);
    return MPI_SUCCESS;
}

static int finish(sw_shadow_t *s, MPI_Status *status)
{
    sw_partitioned_t *p = (sw_partitioned_t *)s;
    int rc = sw_schedule_end(&p->parts.schedule);
    if (!p->sends && (rc == SW_OK || rc == SW_TRUNCATED))
        sw_partitions_give(p, 0, p->partitions);
    if (!p->sends)
        sw_temporary_free(p->temporary);
    p->temporary = NULL;
    tell(p, status);
    return outcome(p, rc);
}

static void count(const sw_partitioned_t *p)
{
    if (!sw_settings.stats)
        return;
    atomic_fetch_add(&sw_partitioned_counts.starts, 1);
    if (!p->sends)
        return;
    atomic_fetch_add(&sw_partitioned_counts.partitions, p->partitions);
    atomic_fetch_add(&sw_partitioned_counts.bytes,
                     (int64_t)sw_partitions_room(p));
}

static int start(sw_shadow_t *s)
{
    sw_partitioned_t *p = (sw_partitioned_t *)s;
    bool room = p->opened ||
                sw_parts_open(&p->parts, p->pair.team, p->pair.name,
                              p->sends ? (unsigned)p->partitions : 0, p->bytes,
                              p->sends && sw_partitions_room(p) <= EAGER);
    p->opened = true;
    if (sw_unlikely(!room || (p->sends && p->parts.on->refused)))
        return sw_raise_pending(s->comm, MPI_ERR_NO_MEM);
    if (!p->sends)
        sw_partitions_place(p);
    count(p);
    sw_parts_begin(&p->parts);
    sw_scheduled_set_out(&p->scheduled);
    sw_scheduled_owe(&p->scheduled);
    return MPI_SUCCESS;
}

static void release(sw_shadow_t *s)
{
    sw_partitioned_t *p = (sw_partitioned_t *)s;
    sw_datatype_drop(p->type);
    if (p->opened)
        sw_parts_close(&p->parts);
    sw_team_drop(p->pair.team);
    sw_room_give(p->packed, p->packed_at);
    free(p->given);
}

static const sw_shadow_kind_t partitioned_kind = {
    .size = sizeof(sw_partitioned_t),
    .spare = &spare,
    .ready = sw_scheduled_ready,
    .peek = peek,
    .finish = finish,
    .start = start,
    .release = release,
    SW_SCHEDULED_KIND,
};

/* Calls -------------------------------------------------------------------- */

static bool tag_is_right(int tag)
{
    static _Atomic int most;
    int known = atomic_load(&most), *at, set = 0;
    if (!known &&
        host.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &at, &set) ==
            MPI_SUCCESS &&
        set)
        atomic_store(&most, known = *at);
    return tag >= 0 && tag <= known;
}

/* The message that a call initializes, or NULL: the host does, or has raised an
 * error (*result). */
static sw_partitioned_t *initialize(bool sends, const void *user,
                                    int partitions, MPI_Count count,
                                    MPI_Datatype datatype, int peer, int tag,
                                    MPI_Comm comm, int *result)
{
    sw_comm_t *c = sw_control_accelerating() ? sw_comm_state(comm) : NULL;
    const sw_datatype_t *type = NULL;
    int64_t elements, bytes;
    sw_comm_pair_t pair;
    if (!c || !sw_comm_is_pair(c, peer) || partitions <= 0 || count < 0 ||
        !tag_is_right(tag) ||
        __builtin_mul_overflow((int64_t)partitions, (int64_t)count,
                               &elements) ||
        !sw_buffer_usable(user, elements, datatype, comm, &type, result) ||
        __builtin_mul_overflow(elements, (int64_t)type->size, &bytes) ||
        !sw_comm_pair(c, sends ? c->me : peer, sends ? peer : c->me, tag,
                      &pair))
        return NULL;
    sw_partitioned_t *p = (sw_partitioned_t *)sw_shadow_new(&partitioned_kind,
                                                            c);
    bool *given = calloc((size_t)partitions, sizeof *given);
    if (!p || !given) {
        sw_say("out of memory for a partitioned message");
        abort(); /* the other rank counts on it */
    }
    p->pair = pair;
    p->sends = sends;
    p->opened = false;
    p->peer = peer;
    p->tag = tag;
    p->user = (char *)(uintptr_t)user;
    p->type = type;
    p->partitions = partitions;
    p->count = count;
    p->bytes = (size_t)count * type->size;
    p->packed = p->temporary = NULL;
    p->given = given;
    p->scheduled.schedule = &p->parts.schedule;
    sw_datatype_hold(type);
    return p;
}

bool sw_partitioned_init(bool sends, const void *buf, int partitions,
                         MPI_Count count, MPI_Datatype datatype, int peer,
                         int tag, MPI_Comm comm, MPI_Request *request, int *rc)
{
    *rc = MPI_SUCCESS;
    sw_partitioned_t *p = initialize(sends, buf, partitions, count, datatype,
                                     peer, tag, comm, rc);
    if (!p)
        return *rc != MPI_SUCCESS;
    sw_scheduled_request(&p->scheduled);
    p->shadow.persistent = true;
    sw_shadow_add(&p->shadow);
    *request = p->shadow.handle;
    return true;
}

/* The message that a request is of, if it is ours. Another thread may wait for
 * it. */
static sw_partitioned_t *ours(MPI_Request request)
{
    sw_shadow_t *s = sw_any_shadows() ? sw_shadow_to_cancel(request) : NULL;
    return s && s->kind == &partitioned_kind ? (sw_partitioned_t *)s : NULL;
}

/* Open MPI takes every number of a partition, and writes where that leads. The
 * standard calls a wrong one erroneous (MPI 4.1, 4.2.2), and names no class. */
#ifdef SW_FLAVOUR_OMPI
enum { WRONG_PARTITION = MPI_ERR_ARG, TAKES_EMPTY = true };
#else
enum { WRONG_PARTITION = MPI_ERR_OTHER, TAKES_EMPTY = false };
#endif

static bool has(const sw_partitioned_t *p, int partition)
{
    return partition >= 0 && partition < p->partitions;
}

/* May a call make partitions ready, all of which are there, if `right`? Else
 * its error is raised, and *result is what it returns. */
static bool may(const sw_partitioned_t *p, bool right, int *result)
{
    int error = !p->sends || !p->shadow.active ? MPI_ERR_REQUEST
                : right                        ? MPI_SUCCESS
                                               : WRONG_PARTITION;
    *result = sw_raise_pending(p->shadow.comm, error);
    return error == MPI_SUCCESS;
}

/* Makes a partition ready. One for which there is no room is not; its error is
 * raised, and *result is what the call returns. */
static bool ready(sw_partitioned_t *p, int partition, int *result)
{
    uint64_t there;
    if (sw_unlikely(!sw_partition_offer(p, partition, &there))) {
        *result = sw_raise_pending(p->shadow.comm, MPI_ERR_NO_MEM);
        return false;
    }
    sw_parts_ready(&p->parts, (unsigned)partition, there);
    return true;
}

int sw_MPI_Pready(int partition, MPI_Request request)
{
    sw_partitioned_t *p = ours(request);
    int result;
    if (!p)
        return host.Pready(partition, request);
    if (may(p, has(p, partition), &result))
        ready(p, partition, &result);
    return result;
}

int sw_MPI_Pready_range(int low, int high, MPI_Request request)
{
    sw_partitioned_t *p = ours(request);
    int result;
    if (!p)
        return host.Pready_range(low, high, request);
    if (may(p, low > high ? TAKES_EMPTY : has(p, low) && has(p, high), &result))
        for (int i = low; i <= high && ready(p, i, &result); i++)
            ;
    return result;
}

int sw_MPI_Pready_list(int n, SW_CONST_Pready_list int partitions[],
                       MPI_Request request)
{
    sw_partitioned_t *p = ours(request);
    bool right = true;
    int result;
    if (!p)
        return host.Pready_list(n, partitions, request);
    if ((n < 0 && !TAKES_EMPTY) || (n > 0 && !partitions))
        return sw_raise_pending(p->shadow.comm, MPI_ERR_ARG);
    for (int i = 0; i < n; i++)
        right = right && has(p, partitions[i]);
    if (may(p, right, &result))
        for (int i = 0; i < n && ready(p, partitions[i], &result); i++)
            ;
    return result;
}

static bool arrived(sw_partitioned_t *p, int partition)
{
    uint64_t begin = (uint64_t)partition * p->bytes;
    if (!p->shadow.active)
        return true;
    sw_schedule_push(&p->parts.schedule, true);
    if (!sw_parts_arrived(&p->parts, begin, begin + p->bytes)) {
        sw_shadow_progress();
        sw_link_poke();
        return false;
    }
    sw_partitions_give(p, partition, partition + 1);
    return true;
}

int sw_MPI_Parrived(MPI_Request request, int partition, int *flag)
{
    sw_partitioned_t *p = ours(request);
    if (!p)
        return host.Parrived(request, partition, flag);
    if (p->sends)
        return sw_raise_pending(p->shadow.comm, MPI_ERR_REQUEST);
    if (!flag)
        return sw_raise_pending(p->shadow.comm, MPI_ERR_ARG);
    if (!has(p, partition))
        return sw_raise_pending(p->shadow.comm, WRONG_PARTITION);
    *flag = arrived(p, partition);
    return MPI_SUCCESS;
}

void sw_partitioned_start(void)
{
    sw_shadow_kind_add(&partitioned_kind);
}

void sw_partitioned_stop(void)
{
    sw_scheduled_stop(spare);
}

#else

void sw_partitioned_start(void)
{
}

void sw_partitioned_stop(void)
{
}

#endif
