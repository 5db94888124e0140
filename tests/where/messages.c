/*
 * Hangs of blocking point-to-point procedures (see hangs.h).
 */
#include "hangs.h"

/* Two ranks send big messages, and neither receives. */
static void head_to_head_sends(void)
{
    /* HERE head_to_head_sends 0-1 */
    MPI_Send(big, BIG, MPI_BYTE, !me, 5, W);
    MPI_Recv(other, BIG, MPI_BYTE, !me, 5, W, IGNORE);
}

/* Two ranks send small messages, which must be received at once. */
static void head_to_head_ssends(void)
{
    /* HERE head_to_head_ssends 0-1 */
    MPI_Ssend(big, 8, MPI_BYTE, !me, 5, W);
    MPI_Recv(other, 8, MPI_BYTE, !me, 5, W, IGNORE);
}

/* Two ranks receive before either sends. */
static void head_to_head_receives(void)
{
    /* HERE head_to_head_receives 0-1 */
    MPI_Recv(other, 8, MPI_BYTE, !me, 5, W, IGNORE);
    MPI_Send(big, 8, MPI_BYTE, !me, 5, W);
}

/* Each of three ranks waits for the next one's message. */
static void ring_of_receives(void)
{
    /* HERE ring_of_receives 0-2 */
    MPI_Recv(other, 8, MPI_BYTE, (me + 1) % size, 2, W, IGNORE);
    MPI_Send(big, 8, MPI_BYTE, (me + size - 1) % size, 2, W);
}

/* Each of three ranks sends a big message to the next one. */
static void ring_of_sends(void)
{
    /* HERE ring_of_sends 0-2 */
    MPI_Send(big, BIG, MPI_BYTE, (me + 1) % size, 2, W);
    MPI_Recv(other, BIG, MPI_BYTE, (me + size - 1) % size, 2, W, IGNORE);
}

/* A rank waits for a message that another never sends. */
static void missing_send(void)
{
    if (me == 0) {
        /* HERE missing_send 0 */
        MPI_Recv(other, 8, MPI_BYTE, 1, 8, W, IGNORE);
    }
    /* HERE missing_send 1 */
    SLEEP_ON;
}

/* A rank sends what another never receives. */
static void missing_receive(void)
{
    if (me == 0) {
        /* HERE missing_receive 0 */
        MPI_Ssend(big, 8, MPI_BYTE, 1, 3, W);
    }
    /* HERE missing_receive 1 */
    MPI_Barrier(W);
}

/* The message has another tag. */
static void wrong_tag(void)
{
    if (me == 1) {
        MPI_Send(big, 8, MPI_BYTE, 0, 9, W);
    } else {
        /* HERE wrong_tag 0 */
        MPI_Recv(other, 8, MPI_BYTE, 1, 8, W, IGNORE);
    }
    /* HERE wrong_tag 1 */
    MPI_Barrier(W);
}

/* The message comes from another rank. */
static void wrong_source(void)
{
    if (me == 1)
        MPI_Send(big, 8, MPI_BYTE, 0, 4, W);
    if (me == 0) {
        /* HERE wrong_source 0 */
        MPI_Recv(other, 8, MPI_BYTE, 2, 4, W, IGNORE);
    }
    /* HERE wrong_source 1-2 */
    MPI_Barrier(W);
}

/* The message comes on another communicator. */
static void wrong_communicator(void)
{
    MPI_Comm a, b;
    MPI_Comm_dup(W, &a);
    MPI_Comm_dup(W, &b);
    MPI_Comm_set_name(a, "A");
    MPI_Comm_set_name(b, "B");
    if (me == 0) {
        MPI_Send(big, 8, MPI_BYTE, 1, 6, b);
    } else {
        /* HERE wrong_communicator 1 */
        MPI_Recv(other, 8, MPI_BYTE, 0, 6, a, IGNORE);
    }
    /* HERE wrong_communicator 0 */
    MPI_Barrier(W);
}

/* A rank takes a message from anyone, and nobody sends one. */
static void any_source(void)
{
    if (me == 0) {
        /* HERE any_source 0 */
        MPI_Recv(other, 8, MPI_BYTE, MPI_ANY_SOURCE, 7, W, IGNORE);
    }
    /* HERE any_source 1-2 */
    MPI_Barrier(W);
}

/* A rank probes for a message that another never sends. */
static void probe(void)
{
    if (me == 0) {
        /* HERE probe 0 */
        MPI_Probe(1, 11, W, IGNORE);
    }
    /* HERE probe 1 */
    MPI_Barrier(W);
}

/* The same with a probe that takes the message. */
static void mprobe(void)
{
    MPI_Message message;
    if (me == 0) {
        /* HERE mprobe 0 */
        MPI_Mprobe(1, MPI_ANY_TAG, W, &message, IGNORE);
    }
    /* HERE mprobe 1 */
    SLEEP_ON;
}

/* Two ranks exchange messages with tags that do not match. */
static void sendrecv_mismatch(void)
{
    /* HERE sendrecv_mismatch 0-1 */
    MPI_Sendrecv(big, 8, MPI_BYTE, !me, 1, other, 8, MPI_BYTE, !me, 2, W,
                 IGNORE);
}

/* A rank ends while another waits for its message. */
static void finalize_against_receive(void)
{
    if (me == 1) {
        /* HERE finalize_against_receive 1 */
        MPI_Recv(other, 8, MPI_BYTE, 0, 3, W, IGNORE);
    }
    /* HERE finalize_against_receive 0 */
    MPI_Finalize();
    /* HERE finalize_against_receive 0 */
    SLEEP_ON;
}

/* Each rank waits for the next one, and the last is in user code. */
static void chain(void)
{
    if (me < size - 1) {
        /* HERE chain 0-2 */
        MPI_Recv(other, 8, MPI_BYTE, me + 1, 1, W, IGNORE);
    }
    /* HERE chain 3 */
    SLEEP_ON;
}

/* A rank waits for its own message before it sends it. */
static void self_receive(void)
{
    if (me == 1) {
        /* HERE self_receive 1 */
        MPI_Recv(other, 8, MPI_BYTE, 1, 1, W, IGNORE);
    }
    /* HERE self_receive 0 */
    MPI_Barrier(W);
}

int main(int argc, char **argv)
{
    static const kind_t kinds[] = {
        KIND(head_to_head_sends),
        KIND(head_to_head_ssends),
        KIND(head_to_head_receives),
        KIND(ring_of_receives),
        KIND(ring_of_sends),
        KIND(missing_send),
        KIND(missing_receive),
        KIND(wrong_tag),
        KIND(wrong_source),
        KIND(wrong_communicator),
        KIND(any_source),
        KIND(probe),
        KIND(mprobe),
        KIND(sendrecv_mismatch),
        KIND(finalize_against_receive),
        KIND(chain),
        KIND(self_receive),
    };
    HANG(argc, argv, kinds);
}
