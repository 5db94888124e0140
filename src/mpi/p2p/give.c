/*
 * give.c - straightway_give and straightway_take.
 *
 * A give offers a slot (p2p/slot.h) that names a parcel, and leaves the slot at
 * once: no thread waits for it. It is matched as any message, so any receive,
 * probe or take may get it. The rank that claims the slot holds the parcel.
 *
 * An itake is a receive into a block of the program, which a parcel replaces
 * (near_receive.h).
 *
 * Other blocks go by value: the program's own inline function sends them with
 * MPI_Isend, or receives them with MPI_Mrecv (include/straightway_mpi.h).
 * Profiles and virtual time so see a send and a receive.
 */
#include "give.h"

#include "contract/flavour.h"
#include "mpi/base/raise.h"
#include "node/base/settings.h"
#include "node/parcel.h"
#include "either.h"
#include "near_give.h"
#include "near_probe.h"

/* Shorter blocks cost less by value. */
#define LEAST 192

_Atomic bool sw_given;
sw_give_counts_t sw_give_counts[SW_GIVE_COUNTS];

void sw_give_count(int what, size_t bytes)
{
    sw_give_counts_t *c = &sw_give_counts[what];
    if (sw_likely(!sw_settings.stats))
        return;
    atomic_fetch_add_explicit(&c->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&c->bytes, (int64_t)bytes, memory_order_relaxed);
}

static int by_value(int why, size_t bytes)
{
    sw_give_count(why, bytes);
    return SW_BY_VALUE;
}

static int refuse(MPI_Comm comm, int class, const void *p, const char *why)
{
    sw_say("straightway_give(): %p %s", p, why);
    return sw_raise(comm, class);
}

int sw_give(void **block, size_t bytes, int dest, int tag, const void *on)
{
    MPI_Comm comm = *(const MPI_Comm *)on;
    void *p = *block;
    size_t room = 0;
    atomic_store_explicit(&sw_given, true, memory_order_relaxed);
    switch (sw_parcel_look(p, &room)) {
    case SW_PARCEL_NONE:
        return by_value(bytes < SW_PARCEL_MIN ? SW_GIVE_SMALL : SW_GIVE_FOREIGN,
                        bytes);
    case SW_PARCEL_GONE:
        return refuse(comm, MPI_ERR_BUFFER, p,
                      "is a block that this process "
                      "has given away or freed");
    case SW_PARCEL_INSIDE:
        return refuse(comm, MPI_ERR_BUFFER, p,
                      "is not the beginning of a "
                      "block");
    case SW_PARCEL_HELD: break;
    }
    if (bytes > room)
        return refuse(comm, MPI_ERR_COUNT, p,
                      "is a block of fewer bytes than "
                      "the giver names");
    if (bytes < LEAST)
        return by_value(SW_GIVE_SMALL, bytes);
    int rc = MPI_SUCCESS;
    sw_comm_t *c = sw_near(comm);
    if (!c || !sw_near_give(c, comm, p, bytes, dest, tag, &rc))
        return rc ? rc : by_value(SW_GIVE_ELSEWHERE, bytes);
    sw_give_count(SW_GIVE_HANDED, bytes);
    *block = NULL;
    return MPI_SUCCESS;
}

int sw_give_take_matched(void **block, size_t *bytes, void *message,
                         void *status)
{
    sw_comm_t *c;
    if (!sw_near_knows(message, &c))
        return SW_BY_VALUE;
    sw_early_t *early = sw_near_message(message, &c);
    int rc = sw_near_take(c, early, block, bytes, status);
    sw_comm_drop(c);
    return rc;
}

int sw_take(void **block, size_t *bytes, int source, int tag, const void *on,
            void *message, void *status)
{
    MPI_Comm comm = *(const MPI_Comm *)on;
    MPI_Status *to = status;
    sw_pattern_t pattern;
    sw_comm_t *c;
    sw_near_found_t found;
    if (!sw_near_probes(&pattern, &c, source, tag, comm)) {
        int rc = sw_MPI_Mprobe(source, tag, comm, message, to);
        return rc ? rc : SW_BY_VALUE;
    }
    sw_near_await_message(c, &pattern, &found);
    if (found.early)
        return sw_near_take(c, found.early, block, bytes, to);
    *(MPI_Message *)message = found.message;
    if (found.rc == MPI_SUCCESS && to != MPI_STATUS_IGNORE)
        *to = found.status;
    return found.rc ? found.rc : SW_BY_VALUE;
}

int sw_itake(void **block, int count, const void *type, int source, int tag,
             const void *on, void *request)
{
    atomic_store_explicit(&sw_given, true, memory_order_relaxed);
    MPI_Comm comm = *(const MPI_Comm *)on;
    sw_comm_t *c = sw_near(comm);
    sw_near_t w;
    int rc = MPI_SUCCESS;
    if (!c ||
        !sw_near_describe(&w, c, comm, *block, count,
                          *(const MPI_Datatype *)type, sw_near_source(source),
                          sw_near_tag(tag), SW_PATTERN_ANY, &rc) ||
        !w.type->dense)
        return rc ? rc : SW_BY_VALUE;
    return sw_is_either(&w) ? sw_either_itake(&w, block, request)
                            : sw_near_itake(&w, block, request);
}
