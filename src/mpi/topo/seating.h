/*
 * seating.h - where each rank of MPI_COMM_WORLD sits in the machine.
 *
 * With STRAIGHTWAY_REORDER the ranks tell each other once, in MPI_Init. Then a
 * mapping needs no communication: one rank alone may call MPI_Cart_map. The
 * seat is that of MPI_Init. A rank that binds itself later keeps it.
 */
#ifndef SW_MPI_TOPO_SEATING_H
#define SW_MPI_TOPO_SEATING_H

#include "mapping/seats.h"
#include "mpi/base/host.h"

/* Collective over MPI_COMM_WORLD, at the end of MPI_Init; and at the end. */
void sw_seating_start(void);
void sw_seating_stop(void);

/* Does this job reorder? */
bool sw_seating_is_known(void);

/* Does it reorder what is made of a communicator? All its members are of
 * MPI_COMM_WORLD then, and each gets the same answer. Others may run without
 * us: the host takes their call, and ours, as the program gives it. */
bool sw_seating_covers(MPI_Comm comm);

/* The seats of the first n members of a communicator, which the caller frees.
 * NULL: it has fewer, no order of them is better than another, or a member is
 * not of MPI_COMM_WORLD.
 * All members get the same. */
sw_seat_t *sw_seating_of(MPI_Comm comm, int n);

#endif
