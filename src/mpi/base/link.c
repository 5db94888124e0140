/*
 * link.c - see link.h.
 */
#include "link.h"

#include "device/cuda.h"
#include "device/memory.h"
#include "failure.h"
#include "match/mailbox.h"
#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "p2p/slot.h"

/* Beside a GPU's driver messages stay the MPI's, which may know the device: we
 * would take copies. With --gpu our kernels move them. */
static bool leaves_to_host(void)
{
    return sw_device_present() && !sw_cuda_usable();
}

void sw_link_offer(sw_hello_t *to)
{
    to->messages = sw_settings.p2p && sw_arena.fd >= 0;
    if (!to->messages || !sw_settings.match)
        return;
    /* Messages stay the MPI's also where it goes on after a rank has died,
     * because a request of ours would wait for it for ever. */
    sw_failure_look();
    if (!leaves_to_host() && !sw_failure_told && sw_slots_open())
        to->mailbox = sw_mailbox_open(sw_roster.places, sw_roster.place);
}

void sw_link_poke(void)
{
    int flag;
    if (sw_roster.comm != MPI_COMM_NULL)
        host.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, sw_roster.comm, &flag,
                    MPI_STATUS_IGNORE);
}
