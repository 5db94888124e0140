/*
 * lifecycle.c - the end of MPI: MPI_Finalize prints the statistics before the
 * host ends; MPI_Session_finalize may take our keyvals along.
 */
#include "call.h"

int sw_MPI_Finalize(void)
{
    if (sw_settings.stats)
        sw_stats_print();
    return host.Finalize();
}

#ifdef SW_HAS_Session_finalize
int sw_MPI_Session_finalize(MPI_Session *session)
{
    sw_comm_forget_keyval();
    sw_datatype_forget_keyval();
    return host.Session_finalize(session);
}
#endif
