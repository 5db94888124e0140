/*
 * context_id.c - communicators get the same name on all their members of a
 * node.
 *
 * A communicator's own members name it once the host has made it: the first of
 * them on each node draws a name, and tells the others there along a tree. The
 * messages go by the communicator itself. No other rank has it yet, and a
 * member takes its message before it returns from the call. So no receive of
 * the program's can take that message, and none of ours takes the program's.
 *
 * The name follows from nothing that a member counts or sees alone. The host
 * may refuse a call at one member, which then calls again; a handler may settle
 * the error, so that the refused call returns MPI_SUCCESS; a callback of an
 * attribute may make communicators in the midst. Two members that had counted
 * such events differently would wait for each other for ever.
 *
 * A communicator that a request makes has no name, as its members may not wait.
 * Nor has one with members from another MPI_COMM_WORLD, which might not listen.
 * The messages of both go through the host.
 */
#include "context_id.h"

#include "comm.h"
#include "guard.h"
#include "link.h"
#include "node/base/array.h"

#define TAG 0

/* No two names are alike, on any ranks; and a program that runs again draws the
 * same names. 1 is that of MPI_COMM_WORLD. */
static uint64_t drawn_name(void)
{
    static _Atomic uint64_t count;
    uint64_t name = sw_members_mix((uint64_t)sw_roster.rank + 1,
                                   atomic_fetch_add(&count, 1));
    return name > 1 ? name : 2;
}

/* The members on this node, by rank; `*me`: which of them this rank is. */
static int near_members(const sw_members_t *all, int rank, int *near, int *me)
{
    int n = 0;
    for (int i = 0; i < all->n; i++) {
        if (i == rank)
            *me = n;
        if (sw_roster_is_near(all->rank[i]))
            near[n++] = i;
    }
    return n;
}

/* Member i hears from the one whose number lacks the lowest bit of i, and tells
 * those whose numbers have one more bit below that. */
static uint64_t agreed_name(MPI_Comm comm, const int *near, int n, int me)
{
    uint64_t name = me ? 0 : drawn_name();
    int bit = me & -me;
    if (me)
        host.Recv(&name, (int)sizeof name, MPI_BYTE, near[me - bit], TAG, comm,
                  MPI_STATUS_IGNORE);
    else
        for (bit = 1; bit < n;)
            bit *= 2;
    while (bit /= 2)
        if (me + bit < n)
            host.Send(&name, (int)sizeof name, MPI_BYTE, near[me + bit], TAG,
                      comm);
    return name;
}

static void name_it(MPI_Comm comm)
{
    sw_comm_t *c = comm != MPI_COMM_NULL && sw_roster.at && sw_roster.places > 1
                       ? sw_comm_state(comm)
                       : NULL;
    const sw_members_t *all = c && c->n > 1 && c->reason != SW_REASON_INTER
                                  ? sw_comm_members(c)
                                  : NULL;
    if (!all || !all->all)
        return;
    SW_ARRAY(int, near, all->n);
    int me = 0, n = near_members(all, c->me, near, &me);
    if (n > 1)
        c->context_id = agreed_name(comm, near, n, me);
}

int sw_context_id_give(int result, MPI_Comm parent, MPI_Comm fresh,
                       MPI_Comm *made)
{
    if (!made || fresh == parent)
        return result;
    *made = fresh;
    if (result == MPI_SUCCESS)
        name_it(fresh);
    return result;
}
