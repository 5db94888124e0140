/*
 * window.c - the making of one-sided windows.
 *
 * The windows are the host's. But a host moves one-sided data and synchronises
 * windows while a rank is in MPI, in a collective for instance. Programs count
 * on that. So once a program has a window, our collectives drive the host's
 * progress at their end (sw_finish).
 *
 * A host may have given a window's pages to a network card, for as long as the
 * window lives. So what peers may want of them is shown before, and then they
 * stay as they are (node/arena/show.h).
 */
#include "mpi/base/comm.h"
#include "mpi/base/guard.h"

#include "node/arena/show.h"

_Atomic bool sw_windows_made;

static void settle(const void *base, MPI_Aint size)
{
    if (!base || size <= 0)
        return;
    sw_show_now(base, (size_t)size);
    sw_show_freeze(base, (size_t)size);
}

/* BEFORE, AFTER: what is done for its memory. */
#define WINDOW(NAME, PARAMETERS, ARGUMENTS, BEFORE, AFTER)              \
int sw_MPI_##NAME PARAMETERS                                            \
{                                                                       \
    SW_INSIDE;                                                          \
    atomic_store(&sw_windows_made, true);                               \
    BEFORE;                                                             \
    int result = host.NAME ARGUMENTS;                                   \
    AFTER;                                                              \
    return result;                                                      \
}

#define OWN settle(base, size)
#define MADE if (result == MPI_SUCCESS) sw_show_freeze(*(void **)base,  \
                                                       (size_t)size)
#define NONE (void)0

WINDOW(Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
        MPI_Win *win),
       (base, size, unit, info, comm, win), OWN, NONE)
WINDOW(Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE)
WINDOW(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE)
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win),
       (info, comm, win), NONE, NONE)
WINDOW(Win_attach, (MPI_Win win, void *base, MPI_Aint size),
       (win, base, size), OWN, NONE)
#if SW_LARGE_COUNT
WINDOW(Win_create_c,
       (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
        MPI_Comm comm, MPI_Win *win),
       (base, size, unit, info, comm, win), OWN, NONE)
WINDOW(Win_allocate_c,
       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
        void *base, MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE)
WINDOW(Win_allocate_shared_c,
       (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
        void *base, MPI_Win *win),
       (size, unit, info, comm, base, win), NONE, MADE)
#endif
