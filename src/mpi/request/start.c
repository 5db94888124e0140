/*
 * start.c - MPI_Start and MPI_Startall of persistent requests.
 */
#include "shadow.h"

int sw_MPI_Start(MPI_Request *request)
{
    sw_shadow_t *s = request ? sw_shadow_of(*request) : NULL;
    /* The host refuses an active one. */
    if (!s || !s->persistent || s->active)
        return host.Start(request);
    sw_shadow_claim(s);
    int rc = s->kind->start(s);
    if (rc == MPI_SUCCESS)
        sw_shadow_begin(s);
    sw_shadow_unclaim(s);
    return rc;
}

int sw_MPI_Startall(int n, MPI_Request requests[])
{
    if (!sw_any_shadows() || n < 0 || !requests)
        return host.Startall(n, requests);
    for (int i = 0; i < n; i++) {
        int rc = sw_MPI_Start(&requests[i]);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}
