/*
 * callers.h - whose call is it, by the address to which it returns?
 *
 * Of the loaded objects these are the MPI library's:
 *   - itself and its companions (hosts.h);
 *   - what these need (DT_NEEDED), and what that needs;
 *   - what was loaded while MPI_Init went on;
 *   - its plugins: what is loaded later, and needs one of those objects that
 *     only the MPI library needs.
 * Never: the program, the C library and the run-time libraries of languages,
 * which all objects need. All else is the program's, code without an object
 * too.
 *
 * A library that the program and its MPI both use (libevent, UCX) is the MPI
 * library's: there real time is right for one of them, and virtual time could
 * keep the other waiting.
 */
#ifndef SW_FRONT_CLOCK_CALLERS_H
#define SW_FRONT_CLOCK_CALLERS_H

#include "front/objects/elf.h"

/* In the library's constructor: `is_host` tells the host from other objects. */
void sw_callers_start(bool (*is_host)(const sw_object_t *object));

/* The objects that are there before MPI_Init; those that it has loaded. */
void sw_callers_before(void);
void sw_callers_after(void);

/* The program's? May be asked at any time from sw_callers_after on. */
bool sw_callers_program(const void *from);

/* An object goes (dlclose): its addresses may be another's. */
void sw_callers_closed(void);

#endif
