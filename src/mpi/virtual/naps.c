/*
 * naps.c - waiting for the host; see virtual.h.
 *
 * Where the node has fewer cores than ranks, or others wait for what the host
 * matches, no rank waits in the host: the rank asks the host again and again,
 * with naps in between that become longer.
 */
#include "virtual.h"

#include "node/os/os.h"

#include <sched.h>
#include <time.h>

#define STUCK 2.0 /* seconds in the host's wait */

/* Makes the host move the program's messages: a probe does so on any
 * communicator. */
void sw_virtual_progress(void)
{
    int flag;
    if (sw_virtual_thread.reads && sw_virtual_handles_signal())
        return;
    if (sw_virtual_private != MPI_COMM_NULL)
        served.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sw_virtual_private, &flag,
                      MPI_STATUS_IGNORE);
}

void sw_virtual_idle(void)
{
    static uint32_t turns;
    if (++turns % 16 == 0 || sw_virtual_crowded)
        sw_virtual_progress();
    if (sw_virtual_crowded)
        sched_yield();
}

void sw_virtual_nap(sw_virtual_nap_t *nap)
{
    uint32_t n = nap->turns++;
    if (!sw_virtual_crowded && n < 1000) {
        sw_os_pause();
    } else if (n < 1010) {
        if (n < 10 || !sw_virtual_crowded) {
            sched_yield();
            return;
        }
        long ns = n < 20 ? 20000 : n < 60 ? 200000 : 1000000;
        nanosleep(&(struct timespec){0, ns}, NULL);
    } else {
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

bool sw_virtual_naps(void)
{
    if (sw_virtual_crowded)
        return true;
    sw_virtual_lock();
    bool undecided = sw_work_undecided();
    sw_virtual_unlock();
    return undecided;
}

/* What the host has matched meanwhile, others may wait for in the engine. */
void sw_virtual_nap_and_tell(sw_virtual_nap_t *nap)
{
    sw_virtual_nap(nap);
    if (nap->turns % 16)
        return;
    sw_virtual_lock();
    sw_work_tell_matched();
    sw_virtual_unlock();
    if (sw_virtual_shared)
        return;
    double now = nap->turns % 256 ? 0 : host.Wtime();
    if (now > 0 && nap->since == 0) {
        nap->since = now;
    } else if (now > nap->since + STUCK) {
        nap->since = now;
        sw_virtual_put(&(sw_vop_t){.kind = SW_OP_STUCK});
    }
}

int sw_virtual_finish(MPI_Request *request, MPI_Status *status, bool ask)
{
    int flag = 0;
    sw_virtual_release();
    if (!sw_virtual_naps())
        return served.Wait(request, status);
    sw_virtual_nap_t nap = {0};
    int rc = served.Test(request, &flag, status);
    if (ask && !flag && rc == MPI_SUCCESS)
        sw_virtual_pause();
    while (!flag && rc == MPI_SUCCESS) {
        rc = served.Test(request, &flag, status);
        if (!flag && rc == MPI_SUCCESS)
            sw_virtual_nap_and_tell(&nap);
    }
    return rc;
}
