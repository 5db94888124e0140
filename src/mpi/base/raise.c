/*
 * raise.c - see raise.h.
 */
#include "raise.h"
#include "datatype.h"

static void see_nothing(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* MPICH 5 takes an error for settled that a handler of the program's has seen:
 * the call returns MPI_SUCCESS. Other hosts return the error. Found out by
 * making one, at the first need. */
static bool host_settles(void)
{
    static _Atomic int known; /* 0: not yet, 1: no, 2: yes */
    int is = atomic_load(&known);
    if (is)
        return is == 2;
    MPI_Comm comm;
    MPI_Errhandler handler;
    if (!sw_roster_has_world() ||
        host.Comm_split(MPI_COMM_SELF, 0, 0, &comm) != MPI_SUCCESS)
        return false;
    host.Comm_create_errhandler(see_nothing, &handler);
    host.Comm_set_errhandler(comm, handler);
    is = host.Send(&known, -1, MPI_BYTE, 0, 0, comm) == MPI_SUCCESS ? 2 : 1;
    host.Comm_free(&comm);
    host.Errhandler_free(&handler);
    atomic_store(&known, is);
    return is == 2;
}

/* `rc`: what it took to get the handler. */
static bool settles(int rc, MPI_Errhandler handler)
{
    if (rc != MPI_SUCCESS)
        return false;
    bool own = handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL;
    host.Errhandler_free(&handler);
    return own && host_settles();
}

int sw_raise(MPI_Comm comm, int error)
{
    if (sw_likely(error == MPI_SUCCESS))
        return error;
    MPI_Errhandler handler;
    int rc = host.Comm_get_errhandler(comm, &handler);
    bool settled = settles(rc, handler);
    host.Comm_call_errhandler(comm, error);
    return settled ? MPI_SUCCESS : error;
}

int sw_raise_on_window(MPI_Win win, int error)
{
    MPI_Errhandler handler;
    int rc = host.Win_get_errhandler(win, &handler);
    bool settled = settles(rc, handler);
    host.Win_call_errhandler(win, error);
    return settled ? MPI_SUCCESS : error;
}

/* The handler of a communicator that is gone is called through another. */
int sw_raise_pending(const sw_comm_t *c, int error)
{
    if (sw_likely(error == MPI_SUCCESS))
        return error;
    if (c->handle != MPI_COMM_NULL)
        return sw_raise(c->handle, error);
    MPI_Comm mine = sw_datatype_comm(MPI_COMM_NULL);
    if (!c->gone || mine == MPI_COMM_NULL)
        return sw_raise(MPI_COMM_WORLD, error);
    host.Comm_set_errhandler(mine, c->handler);
    int result = sw_raise(mine, error);
    host.Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    return result;
}
