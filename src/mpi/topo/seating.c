/*
 * seating.c - see seating.h.
 */
#include "seating.h"

#include "mpi/base/comm.h"
#include "mpi/base/guard.h"
#include "node/base/array.h"
#include "node/base/settings.h"
#include "topology/location.h"

#include <stdlib.h>
#include <string.h>

static sw_seat_t *seats; /* [sw_roster.ranks], or NULL */

bool sw_seating_is_known(void)
{
    return seats != NULL;
}

bool sw_seating_covers(MPI_Comm comm)
{
    sw_comm_t *c = seats && comm != MPI_COMM_NULL ? sw_comm_state(comm) : NULL;
    if (!c || c->reason == SW_REASON_INTER || c->n < 3)
        return false;
    const sw_members_t *members = sw_comm_members(c);
    return members && members->all;
}

/* In virtual time the machine is another one: there the host decides. */
void sw_seating_start(void)
{
    SW_INSIDE;
    if (!sw_settings.reorder || *sw_settings.whatif || sw_roster.ranks < 3 ||
        seats)
        return;
    sw_location_t at;
    sw_location_self(&at);
    sw_seat_t mine = {sw_roster.node, at.package, at.numa, at.l3, at.core};
    seats = sw_array_zeroed((size_t)sw_roster.ranks, sizeof *seats);
    if (host.Allgather(&mine, (int)sizeof mine, MPI_BYTE, seats,
                       (int)sizeof mine, MPI_BYTE,
                       MPI_COMM_WORLD) != MPI_SUCCESS)
        sw_seating_stop();
}

void sw_seating_stop(void)
{
    free(seats);
    seats = NULL;
}

sw_seat_t *sw_seating_of(MPI_Comm comm, int n)
{
    MPI_Group group;
    int size;
    bool differ = false;
    if (!seats || n < 3 || !sw_roster_has_world())
        return NULL;
    host.Comm_size(comm, &size);
    if (n > size)
        return NULL;
    host.Comm_group(comm, &group);
    sw_members_t *members = sw_members_of(group, size);
    host.Group_free(&group);
    if (!members)
        return NULL;
    sw_seat_t *these = sw_array_zeroed((size_t)n, sizeof *these);
    for (int i = 0; i < n && members->all; i++) {
        these[i] = seats[members->rank[i]];
        differ |= memcmp(&these[i], &these[0], sizeof *these) != 0;
    }
    sw_members_drop(members);
    if (!differ) {
        free(these);
        these = NULL;
    }
    return these;
}
