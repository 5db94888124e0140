/*
 * aware.h - can the host read and write the memory of a GPU?
 *
 * Only the host knows, and not every host tells. Open MPI and MPICH have
 * functions for the question, which are extensions: a build may lack them. A
 * host that does not tell counts as one that cannot.
 *
 * Under a host that cannot, a call that is left to the host ends the program.
 * So what --gpu serves there stays ours.
 */
#ifndef SW_MPI_BASE_AWARE_H
#define SW_MPI_BASE_AWARE_H

#include "host.h"

/* Find the host's functions, if it has them. */
void sw_aware_bind(void *(*find)(const char *symbol));

/* Asks the host once, from MPI_Init on. STRAIGHTWAY_GPU_AWARE may answer in its
 * place. */
bool sw_aware(void);

/* Is --gpu on, and is the host one that cannot? */
bool sw_aware_lacks(void);

#endif
