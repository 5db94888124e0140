/*
 * cart.c - MPI_Cart_create and MPI_Cart_map; see reorder.h.
 *
 * MPI_Cart_map answers alone, without the other members: hosts do so, too.
 */
#include "reorder.h"

#include "mpi/base/guard.h"

typedef struct {
    int n, reorder;
    const int *dims, *periods;
} cart_t;

static bool lattice_of(const cart_t *cart, sw_lattice_t *to)
{
    return sw_lattice_of(cart->n, cart->dims, cart->periods, SW_MAPPING_MOST,
                         to);
}

static bool map(void *topology, MPI_Comm made, const sw_seat_t *seat, int n,
                int *rank, sw_mapping_t *told)
{
    const cart_t *cart = topology;
    sw_lattice_t lattice;
    return cart->reorder && lattice_of(cart, &lattice) && lattice.n == n &&
           sw_mapping_of_lattice(&lattice, seat, rank, told);
}

static int make(void *topology, MPI_Comm comm, MPI_Comm *made)
{
    const cart_t *cart = topology;
    return host.Cart_create(comm, cart->n, cart->dims, cart->periods, 0, made);
}

static const sw_reorder_kind_t kind = {map, make};

int sw_MPI_Cart_create(MPI_Comm comm, int n, const int dims[],
                       const int periods[], int reorder, MPI_Comm *made)
{
    SW_INSIDE;
    cart_t cart = {n, reorder, dims, periods};
    MPI_Comm fresh = comm;
    bool ours = sw_seating_covers(comm);
    int code = host.Cart_create(comm, n, dims, periods, reorder && !ours,
                                made ? &fresh : NULL);
    return sw_reordered(comm, ours, &kind, &cart, code, fresh, made);
}

int sw_MPI_Cart_map(MPI_Comm comm, int n, const int dims[], const int periods[],
                    int *rank)
{
    SW_INSIDE;
    cart_t cart = {n, 1, dims, periods};
    sw_lattice_t lattice;
    int code = host.Cart_map(comm, n, dims, periods, rank);
    if (code == MPI_SUCCESS && sw_seating_is_known() &&
        lattice_of(&cart, &lattice))
        sw_reorder_map(comm, &kind, &cart, lattice.n, rank);
    return code;
}
