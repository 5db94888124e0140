/*
 * quiet.c - see quiet.h.
 */
#include "quiet.h"

#include "mpi/base/comm.h"
#include "offload/agent.h"
#include "offload/schedule.h"

#include "device/memory.h"
#include "node/arena/show.h"

#include <string.h>
#include <unistd.h>

static int before, hosts;
static bool alone; /* before the program makes more threads */
static uint64_t pinned_before;

/* Threads of hosts and their transports listen to launchers, timers and
 * connections. One that moves data is asked for by a variable such as
 * MPICH_ASYNC_PROGRESS or I_MPI_ASYNC_PROGRESS. */
static bool moves_behind(void)
{
    for (char **name = environ; name && *name; name++) {
        const char *found = strstr(*name, "ASYNC_PROGRESS");
        const char *value = strchr(*name, '=');
        if (found && value && found < value && value[1] && value[1] != '0')
            return true;
    }
    return false;
}

/* The program has given memory to the kernel (io_uring), or to another device,
 * since MPI_Init. Where there are network cards hosts pin memory of their own,
 * so nothing can be told. (A program that gives memory to such a card says
 * MADV_DONTFORK, by the card's library: front/heap/pages.c.) */
static bool pinned(void)
{
    return sw_os_pinned() > pinned_before;
}

/* What counts is how many threads there are, not how many MPI was told of: a
 * window is often made before the program starts any. */
static bool quiet(void)
{
    if (atomic_load(&sw_comm_strangers) || !alone ||
        atomic_load(&sw_schedules) || atomic_load(&sw_schedules_open))
        return false;
    return sw_os_threads() == 1 + hosts + sw_agent_threads();
}

void sw_quiet_prepare(void)
{
    before = sw_os_threads();
}

void sw_quiet_start(void)
{
    int size = 0;
    hosts = sw_os_threads() - before - sw_agent_threads();
    host.Comm_size(MPI_COMM_WORLD, &size);
    /* Threads of the program's own from before count for ever. */
    alone = before == 1 && hosts >= 0 && size == sw_roster.places &&
            !moves_behind();
    sw_show_quiet = quiet;
    if (!sw_os_has_cards()) {
        pinned_before = sw_os_pinned();
        sw_show_pinned = pinned;
    }
    sw_show_barred = sw_device_present;
}
