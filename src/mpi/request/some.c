/*
 * some.c - MPI_Waitsome and MPI_Testsome; see batch.h.
 */
#include "batch.h"

#include "mpi/base/link.h"

/* MPI_UNDEFINED is no positive number. */
static int some_checked(int rc, const int *count, const MPI_Status *statuses)
{
    if (sw_unlikely(rc != MPI_SUCCESS))
        sw_track_failed(rc, *count, statuses);
    return rc;
}

static int try_some(sw_batch_t *b, bool *over)
{
    *b->indices = sw_batch_spent(b);
    if (sw_unlikely(*b->indices >= 0)) {
        *over = true;
        b->done = 1;
        return sw_batch_take_spent(b, *b->indices, MPI_ERR_IN_STATUS);
    }
    int left_out = sw_batch_ask(b), count = 0;
    if (left_out)
        sw_link_poke();
    int rc = host.Testsome(b->n, b->asked, &count, b->indices, b->statuses);
    some_checked(rc, &count, b->statuses);
    *over = rc != MPI_SUCCESS || count > 0 ||
            (count == MPI_UNDEFINED && !left_out);
    b->done = count == MPI_UNDEFINED && left_out ? 0 : count;
    bool errors = rc != MPI_SUCCESS;
    if (!errors && count > 0)
        sw_no_errors(b->statuses, count);
    for (int k = 0; count != MPI_UNDEFINED && k < count; k++) {
        int error = sw_batch_conclude(b, b->indices[k], &b->statuses[k],
                                      MPI_ERR_IN_STATUS, &rc);
        if (error && !errors)
            b->statuses[k].MPI_ERROR = error;
    }
    return rc;
}

static int some(bool blocking, int n, MPI_Request *requests, int *count,
                int *indices, MPI_Status *statuses)
{
    bool over;
    sw_batch_t b;
    sw_batch_take(&b, n, requests, indices, statuses);
    int rc = sw_batch_serve(&b, try_some, blocking, &over);
    *count = b.done;
    sw_batch_back(&b);
    return rc;
}

int sw_MPI_Waitsome(int n, MPI_Request requests[], int *count, int indices[],
                    MPI_Status statuses[])
{
    if (!sw_batch_concerns(n, requests))
        return some_checked(host.Waitsome(n, requests, count, indices,
                                          statuses), count, statuses);
    return some(true, n, requests, count, indices, statuses);
}

int sw_MPI_Testsome(int n, MPI_Request requests[], int *count, int indices[],
                    MPI_Status statuses[])
{
    if (!sw_batch_concerns(n, requests))
        return some_checked(host.Testsome(n, requests, count, indices,
                                          statuses), count, statuses);
    return some(false, n, requests, count, indices, statuses);
}
