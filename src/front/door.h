/*
 * door.h - the pieces of a stub, and the road from it to the host.
 *
 *   program: call MPI_Bcast
 *      |
 *   stub k       jmp *slot[k]
 *      |  first call: slot[k] -> thunk k -> sw_door_resolve(k)
 *      |                 finds the host, loads the flavour library, fills
 *      |                 all slots, jumps on
 *      |  ever after:
 *      +-> another tool's MPI_Bcast, if one is preloaded behind us
 *      +-> the flavour library's function, if the call is one of ours
 *      +-> the host's PMPI_Bcast, otherwise
 *
 * k = 2 * procedure for MPI_Name, 2 * procedure + 1 for PMPI_Name. Every
 * piece of stub k lies SW_STUB_STRIDE bytes after that of stub k - 1.
 */
#ifndef SW_FRONT_DOOR_H
#define SW_FRONT_DOOR_H

#include "front/objects/elf.h"
#include "contract/flavour.h"
#include "contract/front.h"
#include "node/base/settings.h"

#define SW_STUB_STRIDE 16
#define SW_STUB_COUNT (2 * SW_PROC_COUNT)

/* Generated, in stubs.S. */
extern char sw_stubs[], sw_thunks[], sw_answers[];
extern _Atomic(void *) sw_slots[SW_STUB_COUNT];

/* Called by the thunks: where does stub k lead? Does not return when it leads
 * nowhere. */
void *sw_door_resolve(unsigned k);

/* Has an MPI procedure been called in this process? */
bool sw_door_opened(void);

/* Do the settings ask for anything of ours: acceleration, a profile or a
 * prediction? */
static inline bool sw_front_serves(void)
{
    return sw_settings.enable || sw_settings.profile || *sw_settings.whatif;
}

/* The name of the flavour that serves the calls; "" before the first call, and
 * where the host is not accelerated. */
const char *sw_door_flavour(void);

/* The flavour's calls that give and take blocks; NULL: it has none, or there
 * was no MPI call yet. */
const sw_hands_t *sw_door_hands(void);

/* Is it the host, or a companion of it? */
bool sw_door_is_host(const sw_object_t *object);

/* Load the settings and start the arena, if the constructor has not run yet
 * (a constructor of another library may call MPI before it). */
void sw_start(void);

/* Look up what exec.c calls. */
void sw_exec_start(void);

/* Take our library and settings out of the environment, if the user wants that:
 * see heirs.c. */
void sw_heirs_part(void);

/* Make the stubs' names visible or not; see names.c. */
void sw_names_start(void);

/* Was there no host at start-up, so that names answer for themselves? */
bool sw_names_late(void);

/* The number k of a name, "MPI_Bcast" or "PMPI_Bcast"; -1: not MPI's. */
int sw_names_number(const char *name);

/* Does a host in the process have name k now? */
bool sw_names_present(unsigned k);

#endif
