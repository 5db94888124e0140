/*
 * hosts.h - the MPI libraries in this process.
 *
 * A host is a loaded object, other than this library, that itself defines
 * PMPI_Init. Profiling tools define MPI_Init alone, language bindings neither.
 * It may have been loaded with the program, or be dlopened much later and
 * privately, as Python and Julia do. Where an MPI keeps its PMPI_ names in a
 * library of their own (libpmpi), that one is the host and the other is its
 * companion.
 */
#ifndef SW_FRONT_OBJECTS_HOSTS_H
#define SW_FRONT_OBJECTS_HOSTS_H

#include "elf.h"

#define SW_HOSTS_MAX 4

/* The hosts in load order; returns how many (at most SW_HOSTS_MAX). */
int sw_hosts_find(sw_object_t *hosts);

/* This library as a loaded object. */
bool sw_hosts_self(sw_object_t *self);

/* The host that the program's own symbol lookup would reach without us: the
 * first in the global scope. With one host in the process it is that one, in
 * the global scope or not. -1: several, and none of them is global. */
int sw_hosts_serving(const sw_object_t *hosts, int count);

/* "ompi", "mpich", "abi", or NULL: a binary interface we do not know. */
const char *sw_hosts_flavour(const sw_object_t *host);

/* The other parts of the same MPI (at most SW_HOSTS_MAX); returns how many. */
int sw_hosts_companions(const sw_object_t *host, sw_object_t *companions);

#endif
