/*
 * patience.c - see patience.h.
 */
#include "patience.h"

#include "comm.h"
#include "guard.h"
#include "idle.h"
#include "progress.h"
#include "node/base/settings.h"

bool sw_patient;
_Atomic bool sw_patience_session;

/* The host's procedures, as they are. */
sw_host_t sw_plain;
/* All ranks of MPI_COMM_WORLD are patient. */
static bool agreed;

/* Waiting ------------------------------------------------------------------ */

int sw_patient_Wait(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, rc;
    sw_idle_t idle = {.turns = 0};
    if (!sw_turn_ours())
        return sw_plain.Wait(request, status);
    sw_beat_stop(); /* this wait yields by itself */
    while ((rc = host.Test(request, &flag, status)) == MPI_SUCCESS && !flag) {
        sw_progress_serve();
        sw_idle(&idle, NULL);
    }
    sw_idle_end(&idle);
    return rc;
}

/* Both halves ---------------------------------------------------------------*/

/* Of MPI_PROC_NULL nothing is asked: MPICH 4.0's nonblocking receive says that
 * rank 0 has sent it. */
#define SENDRECV(C, COUNT)                                                     \
    int sw_patient_Sendrecv##C(                                                \
        const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, int dest, \
        int sendtag, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype,    \
        int source, int recvtag, MPI_Comm comm, MPI_Status *status)            \
    {                                                                          \
        MPI_Request receive, send;                                             \
        int rc;                                                                \
        if (!sw_turn_ours())                                                   \
            return sw_plain.Sendrecv##C(sendbuf, sendcount, sendtype, dest,    \
                                        sendtag, recvbuf, recvcount, recvtype, \
                                        source, recvtag, comm, status);        \
        if (source == MPI_PROC_NULL) {                                         \
            rc = sw_patient_Send##C(sendbuf, sendcount, sendtype, dest,        \
                                    sendtag, comm);                            \
            return rc ? rc                                                     \
                      : sw_plain.Recv##C(recvbuf, recvcount, recvtype, source, \
                                         recvtag, comm, status);               \
        }                                                                      \
        rc = host.Irecv##C(recvbuf, recvcount, recvtype, source, recvtag,      \
                           comm, &receive);                                    \
        if (rc != MPI_SUCCESS)                                                 \
            return rc;                                                         \
        rc = host.Isend##C(sendbuf, sendcount, sendtype, dest, sendtag, comm,  \
                           &send);                                             \
        if (rc != MPI_SUCCESS) {                                               \
            host.Cancel(&receive);                                             \
            sw_patient_Wait(&receive, MPI_STATUS_IGNORE);                      \
            return rc;                                                         \
        }                                                                      \
        int sent = sw_patient_Wait(&send, MPI_STATUS_IGNORE);                  \
        int received = sw_patient_Wait(&receive, status);                      \
        return received ? received : sent;                                     \
    }
SENDRECV(, int)
#if SW_LARGE_COUNT
SENDRECV(_c, MPI_Count)
#endif

/* Alike on all members ------------------------------------------------------*/

bool sw_patience_of(MPI_Comm comm)
{
    if (!agreed || !sw_control_accelerating() || sw_turn_hosts(comm) ||
        comm == MPI_COMM_NULL)
        return false;
    sw_comm_t *c = sw_comm_state(comm);
    if (!c || c->n < 2 || c->reason == SW_REASON_INTER ||
        c->reason == SW_REASON_FOREIGN || atomic_load(&sw_comms_closing))
        return false;
    const sw_members_t *members = sw_comm_members(c);
    return members && members->all;
}

/* Starting ------------------------------------------------------------------*/

/* A host that yields when it waits has done so more often in MPI_Init. */
#define YIELDS 4

uint8_t sw_patience_wish(void)
{
    uint8_t wish = sw_patience_session ? SW_PATIENCE_SESSION : 0;
    if (sw_settings.patience != SW_AUTO)
        return wish |
               (sw_settings.patience ? SW_PATIENCE_ASKS : SW_PATIENCE_FORBIDS);
    if (!sw_wait_crowded())
        return wish;
    return wish | SW_PATIENCE_ASKS |
           (sw_beat_yields >= YIELDS ? SW_PATIENCE_NEEDLESS : 0);
}

/* What all ranks of MPI_COMM_WORLD have told. On one node it stands in the
 * roster. Elsewhere the host is asked; all ranks see alike that there are
 * several nodes. */
static uint8_t all_wishes(uint8_t *mine)
{
    uint8_t all = 0;
    if (sw_roster.places < sw_roster.ranks) {
        sw_roster_meet_machine();
        *mine = sw_patience_wish();
        host.Allreduce(mine, &all, 1, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
    } else if (sw_roster.at) {
        *mine = sw_roster.at[sw_roster.place].patience;
        for (int i = 0; i < sw_roster.places; i++)
            all |= sw_roster.at[i].patience;
    }
    return all;
}

bool sw_host_spins(void)
{
    return !agreed && sw_beat_yields < YIELDS;
}

void sw_patience_prepare(void)
{
    sw_roster_measure_crowd();
    if (sw_patience_wish() & SW_PATIENCE_ASKS)
        sw_beat_make();
}

/* Beats go on where this rank is patient, and nowhere else. */
static void settle_beats(void)
{
    if (!sw_patient)
        sw_beat_end();
    else if (!sw_beat_make() && sw_roster.rank == 0)
        sw_say("no timer for patience (%m): calls without a nonblocking form "
               "keep their cores while they wait");
}

void sw_patience_start(void)
{
    SW_INSIDE;
    sw_plain = host;
    uint8_t mine = 0, all = sw_roster.ranks > 1 ? all_wishes(&mine) : 0;
    bool needless = all & SW_PATIENCE_NEEDLESS &&
                    sw_settings.patience == SW_AUTO;
    sw_patient = mine & SW_PATIENCE_ASKS && !needless;
    agreed = all == SW_PATIENCE_ASKS;
    sw_wait_naps = sw_patient;
    settle_beats();
    if (sw_patient)
        sw_patience_take_own();
    if (agreed)
        sw_patience_take_agreed();
    if (sw_patient && sw_settings.verbose && sw_roster.rank == 0)
        sw_say("ranks share cores: no call stays in the MPI library "
               "(--patience off: calls do)");
}
