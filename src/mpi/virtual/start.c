/*
 * start.c - persistent requests are started, requests freed and cancelled, in
 * virtual time.
 */
#include "virtual.h"

/* Start the host's request, unless its data may be sent from aside: then it
 * stays as it is, and the host takes it for complete. */
static int start_one(MPI_Request *request, bool *idle)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_take((uintptr_t)*request);
    sw_work_back(w);
    sw_virtual_unlock();
    if (w && w->from.comm != MPI_COMM_NULL &&
        sw_virtual_detach(w->from.buffer, w->from.count, w->from.type,
                          w->from.dest, w->from.tag, w->from.comm,
                          w->from.flags)) {
        *idle = true;
        return MPI_SUCCESS;
    }
    return served.Start(request);
}

/* Open MPI may give another handle for a request that is started again. */
static void started(MPI_Request was, MPI_Request request, bool idle)
{
    sw_virtual_lock();
    sw_work_t *w = sw_work_take((uintptr_t)was);
    if (w) {
        sw_work_rename(w, (uintptr_t)request);
        w->active = true;
        w->idle = idle;
        w->done = !w->op.kind && !w->part_count;
        if (w->op.kind)
            sw_virtual_put(&w->op);
        for (uint32_t k = 0; k < w->part_count; k++)
            sw_virtual_put(&w->parts[k]);
        sw_work_back(w);
    }
    sw_virtual_unlock();
}

int sw_virtual_start_all(int n, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;
    if (n <= 0 || !requests)
        return served.Startall(n, requests);
    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        MPI_Request was = requests[i];
        bool idle = false;
        rc = start_one(&requests[i], &idle);
        if (rc == MPI_SUCCESS)
            started(was, requests[i], idle);
    }
    return rc;
}

void sw_virtual_freed(MPI_Request request)
{
    sw_virtual_lock();
    sw_work_t *w = request == MPI_REQUEST_NULL
                       ? NULL
                       : sw_work_take((uintptr_t)request);
    if (w) {
        if (w->active && !w->done)
            sw_work_drop(w, 0);
        sw_work_end(w);
    }
    sw_virtual_unlock();
}

/* Where the host knows at once that it is gone, so does the engine: the program
 * may wait first for ranks that need the message which it would take. */
void sw_virtual_cancelled(MPI_Request request)
{
    int flag = 0, gone = 0;
    MPI_Status status;
    sw_virtual_lock();
    sw_work_t *w = request == MPI_REQUEST_NULL
                       ? NULL
                       : sw_work_take((uintptr_t)request);
    if (w) {
        /* Persistent ones are not asked: see sw_work_tell_matched. */
        if (!w->persistent &&
            served.Request_get_status(request, &flag, &status) == MPI_SUCCESS &&
            flag)
            host.Test_cancelled(&status, &gone);
        w->cancelled = true;
        if (gone && w->active && !w->done) {
            sw_work_drop(w, SW_DROP_CANCELLED);
            w->done = true;
        }
        sw_work_back(w);
    }
    sw_virtual_unlock();
}
