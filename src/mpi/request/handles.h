/*
 * handles.h - the shadows by their handles: a hash table that grows with them,
 * so that finding one costs the same however many there are.
 */
#ifndef SW_MPI_REQUEST_HANDLES_H
#define SW_MPI_REQUEST_HANDLES_H

#include "shadow.h"

/* The caller has the lock (sw_shadows_enter). One that keeps its handle stays
 * in the table when it is removed, and is not found. */
void sw_handles_add(sw_shadow_t *s);
void sw_handles_remove(sw_shadow_t *s);
/* The shadow of a handle that is neither claimed nor freed, or NULL. Programs
 * ask for one request again and again, or for all in the order in which they
 * have posted them: these are tried first. */
sw_shadow_t *sw_handles_find(MPI_Request handle);
/* The first with this handle's hash; s->next leads on. */
sw_shadow_t *sw_handles_first(MPI_Request handle);

#endif
