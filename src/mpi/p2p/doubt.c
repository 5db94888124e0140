/*
 * doubt.c - see doubt.h.
 */
#include "doubt.h"

#include "receives.h"
#include "route.h"

_Atomic uint64_t sw_doubts;

static bool cut_short(int rc)
{
    int class = MPI_SUCCESS;
    host.Error_class(rc, &class);
    return class == MPI_ERR_TRUNCATE;
}

/* Open MPI tells how long the message was, the others how much has come. */
static bool too_long_for_one(const MPI_Status *status)
{
#ifdef OMPI_MAJOR_VERSION
    return sw_status_bytes(status) != SW_DESCRIPTOR_BYTES;
#else
    return false;
#endif
}

/* Of what is on offer to this rank with a tag (-1: any), anything may have been
 * cut short. */
static void doubt(int tag)
{
    sw_link_t *link;
    for (int i = 0; i < sw_world.places; i++) {
        if (!(link = sw_link_at(i)))
            continue;
        uint64_t offered = sw_slots_offered(link->peer, link->directory);
        if (!sw_slots_find(link->peer, link->directory, 0, sw_world.place, tag,
                           0, offered).count)
            continue;
        link->doubtful = offered;
        sw_doubts |= tag < 0 ? UINT64_MAX
                             : (uint64_t)1 << sw_channel(0, tag);
    }
}

static void one_failed(int rc, const MPI_Status *status)
{
    if (cut_short(rc) && !too_long_for_one(status))
        doubt(status->MPI_TAG);
}

void sw_failed(int rc, int n, const MPI_Status *statuses)
{
    if (!sw_linked)
        return;
    if (statuses == MPI_STATUS_IGNORE || statuses == MPI_STATUSES_IGNORE) {
        doubt(-1);
        return;
    }
    int class = MPI_SUCCESS;
    host.Error_class(rc, &class);
    if (class != MPI_ERR_IN_STATUS) {
        one_failed(rc, statuses);
        return;
    }
    for (int i = 0; i < n; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS &&
            statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            one_failed(statuses[i].MPI_ERROR, &statuses[i]);
}

void sw_failed_on(int rc, const MPI_Status *status, MPI_Comm comm,
                  const void *buffer, int64_t count, MPI_Datatype type)
{
    if (!sw_linked || !cut_short(rc) || too_long_for_one(status))
        return;
    sw_comm_t *c = sw_comm_state(comm);
    sw_link_t *link = c && c->context_id ? sw_link(c, status->MPI_SOURCE)
                                         : NULL;
    if (!link)
        return;
    /* Most hosts write as much as there is room for. */
    const sw_datatype_t *d = sw_datatype_cached(type);
    if (!d || !d->dense || !buffer ||
        (size_t)count * d->size < sizeof sw_link_cookie ||
        !sw_descriptor_begins(buffer, &sw_link_cookie)) {
        doubt(status->MPI_TAG);
        return;
    }
    /* Earlier ones have been taken, but for those of posted receives. */
    sw_receive_expected(c, status->MPI_SOURCE, status->MPI_TAG);
    sw_found_t found = sw_slots_find(link->peer, link->directory, c->context_id,
                                     sw_world.place, status->MPI_TAG, 0,
                                     UINT64_MAX);
    if (found.first)
        sw_route_refuse(link, found.first);
}
