/*
 * host.h - the MPI library that this one stands before.
 *
 * Every file of this room sees the flavour's <mpi.h> through here, and calls
 * the host through `host`, never by name: a call by name would come back to
 * our own stub, and would tie the library to one version of the host. Members
 * are made from the header (SW_HOST_PROC lines, generated):
 *
 *     host.Bcast(buffer, count, type, root, comm)
 *
 * A procedure that the header has may still be missing in the host at hand:
 * then its pointer is NULL. One that the header lacks has no member; ask
 * #ifdef SW_HAS_Name.
 *
 * To serve a procedure ourselves, define sw_MPI_Name in any file of this
 * room. Its prototype is checked against the header's, and nothing needs to be
 * registered: flavour.c finds it.
 *
 * Predefined handles may be data of the host (ompi_mpi_comm_world). They are
 * weak here: one that an older host lacks has the address NULL.
 */
#ifndef SW_MPI_BASE_HOST_H
#define SW_MPI_BASE_HOST_H

#include <mpi.h>

#include "node/base/base.h"
#include "has.h"

/* The standard deprecates procedures that programs still call. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* Does the flavour's header have the _c procedures with MPI_Count? */
#ifdef SW_HAS_Bcast_c
#define SW_LARGE_COUNT 1
#else
#define SW_LARGE_COUNT 0
#endif

typedef struct {
#define SW_HOST_PROC(name) __typeof__(&PMPI_##name) name;
#include "host.inc"
#undef SW_HOST_PROC
} sw_host_t;

extern sw_host_t host;

/* A hash of a handle, an address or a number. */
static inline size_t sw_host_handle_mix(uint64_t handle)
{
    return (size_t)(handle * 0x9e3779b97f4a7c15u >> 40);
}

/* What we may define, with the header's own prototypes. */
#define SW_HOST_PROC(name)                       \
    extern __typeof__(PMPI_##name) sw_MPI_##name \
        __attribute__((visibility("hidden")));
#include "host.inc"
#undef SW_HOST_PROC

#pragma GCC diagnostic pop

/* Fill `host`; returns NULL, or why this host cannot be served. */
const char *sw_host_bind(void *(*find)(const char *symbol));

#endif
