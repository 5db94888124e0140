/*
 * window.c - the making of one-sided windows.
 *
 * The windows are the host's. But a host moves one-sided data and
 * synchronises windows while a rank is in MPI, in a collective for instance,
 * and programs have come to count on that: once a program has a window, our
 * collectives drive the host's progress at their end (sw_finish).
 */
#include "call.h"
#include "guard.h"

_Atomic bool sw_windows_made;

#define WINDOW(NAME, PARAMETERS, ARGUMENTS)                             \
int sw_MPI_##NAME PARAMETERS                                            \
{                                                                       \
    SW_INSIDE;                                                          \
    atomic_store(&sw_windows_made, true);                               \
    return host.NAME ARGUMENTS;                                         \
}

WINDOW(Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
        MPI_Win *win),
       (base, size, unit, info, comm, win))
WINDOW(Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *win),
       (size, unit, info, comm, base, win))
WINDOW(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *win),
       (size, unit, info, comm, base, win))
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win),
       (info, comm, win))
#if SW_LARGE_COUNT
WINDOW(Win_create_c,
       (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
        MPI_Comm comm, MPI_Win *win),
       (base, size, unit, info, comm, win))
WINDOW(Win_allocate_c,
       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
        void *base, MPI_Win *win),
       (size, unit, info, comm, base, win))
WINDOW(Win_allocate_shared_c,
       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
        void *base, MPI_Win *win),
       (size, unit, info, comm, base, win))
#endif
