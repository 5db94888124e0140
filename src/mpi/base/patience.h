/*
 * patience.h - no rank stays inside the host, where ranks share cores.
 *
 * A host spins while it waits, and keeps a core that the awaited rank may need:
 * for a slice of some milliseconds, once for each message of a collective.
 * So each procedure of the host's that waits has a *patient form*. It starts
 * the nonblocking procedure, and tests. Between two tests it yields its core;
 * later it naps, for a part of the time that it has waited (node/wait.h). In a
 * procedure without a nonblocking form a timer makes it yield (node/os/beat.h).
 *
 * `host` (host.h) is the place: sw_patience_start puts the patient forms there.
 * So all that calls the host is patient, our own use of it, too. Where ranks
 * have cores of their own `host` stays as it is, and nothing costs more.
 *
 * A host may yield by itself where it knows that ranks share cores, as Open MPI
 * does. It loses by our turns: its MPI_Comm_dup took three times as long. So
 * where a rank has seen the host yield in MPI_Init, the host is left alone.
 *
 * What each rank chooses alone: messages, and waiting for requests. A blocking
 * and a nonblocking send or receive match. What the members choose alike:
 * collectives and duplicates, whose blocking and nonblocking forms do not match
 * (MPI 4.1, 6.12). All ranks of MPI_COMM_WORLD agree once, in MPI_Init. A
 * communicator with members from outside, or of two groups, keeps the host's
 * blocking forms: its other members may run without us. Where a rank has begun
 * a session before MPI_Init, no rank's collectives are patient: members of a
 * communicator of that session may call one before they have agreed.
 */
#ifndef SW_MPI_BASE_PATIENCE_H
#define SW_MPI_BASE_PATIENCE_H

#include "host.h"
#include "turn.h"

/* This rank is patient. */
extern bool sw_patient __attribute__((visibility("hidden")));

static inline bool sw_patience(void)
{
    return sw_unlikely(sw_patient) && sw_turn_ours();
}

/* The host keeps its core while this rank waits in a collective: it yields not
 * by itself, and the ranks of MPI_COMM_WORLD are not patient. */
bool sw_host_spins(void);

/* What a rank tells the others: it forbids patience for all; it asks for it; it
 * has seen the host yield, which makes patience needless; it has a session. */
enum {
    SW_PATIENCE_FORBIDS = 1,
    SW_PATIENCE_ASKS = 2,
    SW_PATIENCE_NEEDLESS = 4,
    SW_PATIENCE_SESSION = 8
};
uint8_t sw_patience_wish(void);

/* The program has begun a session. */
extern _Atomic bool sw_patience_session __attribute__((visibility("hidden")));

/* In MPI_Init: before the ranks meet, where the launcher says that they share
 * cores; and when all is known. */
void sw_patience_prepare(void);
void sw_patience_start(void);

/* The patient forms of messages, whatever this rank is. */
#define SW_PATIENT(name)                             \
    extern __typeof__(PMPI_##name) sw_patient_##name \
        __attribute__((visibility("hidden")))
SW_PATIENT(Send);
SW_PATIENT(Ssend);
SW_PATIENT(Rsend);
SW_PATIENT(Recv);
SW_PATIENT(Mrecv);
SW_PATIENT(Sendrecv);
#if SW_LARGE_COUNT
SW_PATIENT(Send_c);
SW_PATIENT(Ssend_c);
SW_PATIENT(Rsend_c);
SW_PATIENT(Recv_c);
SW_PATIENT(Mrecv_c);
SW_PATIENT(Sendrecv_c);
#endif
SW_PATIENT(Probe);
SW_PATIENT(Mprobe);
SW_PATIENT(Wait);

/* For the generated forms (generate_patient.py): the host's procedures as they
 * are; may the members of a communicator be patient? What puts the forms into
 * `host`. */
extern sw_host_t sw_plain __attribute__((visibility("hidden")));
bool sw_patience_of(MPI_Comm comm);
void sw_patience_take_own(void);
void sw_patience_take_agreed(void);

#endif
