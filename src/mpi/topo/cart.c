/*
 * cart.c - MPI_Cart_create and MPI_Cart_map; see reorder.h.
 *
 * MPI_Cart_map answers alone, without the other members: hosts do so, too. A
 * rank that the host maps to another is the host's. (Open MPI maps ranks beyond
 * the grid to themselves.)
 */
#include "reorder.h"

#include "mpi/base/context_id.h"
#include "mpi/base/guard.h"
#include "node/base/array.h"

#include <stdlib.h>

typedef struct {
    int n;
    const int *dims, *periods;
} cart_t;

static int make(MPI_Comm comm, const void *topology, MPI_Comm *made)
{
    const cart_t *cart = topology;
    return host.Cart_create(comm, cart->n, cart->dims, cart->periods, 0, made);
}

/* The ranks of the first `*n` members of a communicator, which the caller frees.
 * NULL: they are right as they are. */
static int *ranks_of(MPI_Comm comm, const cart_t *cart, int *n,
                     sw_mapping_t *told)
{
    sw_lattice_t lattice;
    if (!sw_lattice_of(cart->n, cart->dims, cart->periods, SW_MAPPING_MOST,
                       &lattice))
        return NULL;
    *n = lattice.n;
    sw_seat_t *seat = sw_seating_of(comm, *n);
    if (!seat)
        return NULL;
    int *rank = sw_array_zeroed((size_t)*n, sizeof *rank);
    if (!sw_mapping_of_lattice(&lattice, seat, rank, told)) {
        free(rank);
        rank = NULL;
    }
    free(seat);
    return rank;
}

static int reorder_it(MPI_Comm comm, const cart_t *cart, int reorder,
                      MPI_Comm *made)
{
    int n = 0;
    sw_mapping_t told;
    int *rank = reorder ? ranks_of(*made, cart, &n, &told) : NULL;
    int code = sw_reorder(comm, rank, n, &told, make, cart, made);
    free(rank);
    return code;
}

int sw_MPI_Cart_create(MPI_Comm comm, int n, const int dims[],
                       const int periods[], int reorder, MPI_Comm *made)
{
    SW_INSIDE;
    uint64_t name = sw_comm_conceive(comm);
    bool ours = sw_seating_is_known();
    int code = host.Cart_create(comm, n, dims, periods, reorder && !ours, made);
    if (ours && code == MPI_SUCCESS && *made != MPI_COMM_NULL) {
        cart_t cart = {n, dims, periods};
        code = reorder_it(comm, &cart, reorder, made);
    }
    return sw_comm_born(comm, name, code, made);
}

int sw_MPI_Cart_map(MPI_Comm comm, int n, const int dims[],
                    const int periods[], int *rank)
{
    SW_INSIDE;
    int me, code = host.Cart_map(comm, n, dims, periods, rank);
    if (code != MPI_SUCCESS || !sw_seating_is_known())
        return code;
    host.Comm_rank(comm, &me);
    cart_t cart = {n, dims, periods};
    int members;
    sw_mapping_t told;
    int *ranks = *rank == me ? ranks_of(comm, &cart, &members, &told) : NULL;
    if (ranks && me < members)
        *rank = ranks[me];
    free(ranks);
    return code;
}
