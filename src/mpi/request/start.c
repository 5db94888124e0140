/*
 * start.c - MPI_Start and MPI_Startall of persistent requests.
 */
#include "track.h"

int sw_MPI_Start(MPI_Request *request)
{
    sw_track_t *t = request ? sw_track_of(*request) : NULL;
    /* The host refuses an active one. */
    if (!t || !t->persistent || (t->active && t->kind->ready))
        return host.Start(request);
    /* With a message that we match, the kind takes the lock itself. */
    bool host_matches = !t->kind->await;
    if (host_matches)
        sw_match_enter();
    /* Open MPI may start a request anew while it has not quite done with it. It
     * then gives it another handle, and the old one may soon be another's. */
    sw_track_claim(t);
    int rc = t->kind->start(t, request);
    if (rc == MPI_SUCCESS)
        sw_track_begin(t, *request);
    sw_track_unclaim(t);
    if (host_matches)
        sw_match_leave();
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
