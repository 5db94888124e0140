/*
 * start.c - MPI_Start and MPI_Startall of persistent requests.
 */
#include "track.h"

int sw_MPI_Start(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_of(*request) : NULL;
    /* The host refuses an active one. */
    if (!t || !t->persistent || t->active)
        return host.Start(request);
    sw_track_claim(t);
    int rc = t->kind->start(t);
    if (rc == MPI_SUCCESS)
        sw_track_begin(t);
    sw_track_unclaim(t);
    return rc;
}

int sw_MPI_Startall(int n, MPI_Request requests[])
{
    if (!sw_any_tracks() || n < 0 || !requests)
        return host.Startall(n, requests);
    for (int i = 0; i < n; i++) {
        int rc = sw_MPI_Start(&requests[i]);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}
