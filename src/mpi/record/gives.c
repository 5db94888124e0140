/*
 * gives.c - the calls of straightway_mpi.h, as a profile sees them: a give is a
 * send, and a take is a receive.
 *
 * The recorder counts what this library has served. The rest the program sends
 * or receives by itself, by value, and the recorder counts these calls. A take
 * that has only matched such a message counts as the matched probe that it was.
 */
#include "traffic.h"

#include "mpi/p2p/give.h"

int sw_recorded_give(void **block, size_t bytes, int dest, int tag,
                     const void *on)
{
    const MPI_Comm comm = *(const MPI_Comm *)on;
    SW_EVENT(straightway_give);
    if (!sw_event_begin(&e, &sw_from))
        return sw_give(block, bytes, dest, tag, on);
    sw_record_give_before(&e, comm, dest, tag);
    sw_event_clock(&e);
    int result = sw_give(block, bytes, dest, tag, on);
    if (result == SW_BY_VALUE)
        return result;
    sw_event_stop(&e, result);
    if (result == MPI_SUCCESS)
        sw_record_give_after(&e, comm, dest, tag, bytes);
    sw_event_end(&e);
    return result;
}

int sw_recorded_take(void **block, size_t *bytes, int source, int tag,
                     const void *on, void *message, void *status)
{
    const MPI_Comm comm = *(const MPI_Comm *)on;
    SW_EVENT(straightway_take);
    if (!sw_event_begin(&e, &sw_from))
        return sw_take(block, bytes, source, tag, on, message, status);
    sw_record_probe_before(&e, comm);
    sw_event_clock(&e);
    int result = sw_take(block, bytes, source, tag, on, message, status);
    sw_event_stop(&e, result == SW_BY_VALUE ? MPI_SUCCESS : result);
    if (result == MPI_SUCCESS)
        sw_record_take_after(&e, comm, NULL, status);
    if (result == SW_BY_VALUE) {
        SW_KEY_SET(&e.key, procedure, SW_PROC_Mprobe);
        sw_record_probe_after(&e, comm, status);
        sw_record_mprobe_after(&e, comm, *(MPI_Message *)message, status);
    }
    sw_event_end(&e);
    return result;
}

int sw_recorded_take_matched(void **block, size_t *bytes, void *message,
                             void *status)
{
    const MPI_Message was = *(MPI_Message *)message;
    SW_EVENT(straightway_take);
    if (!sw_event_begin(&e, &sw_from))
        return sw_give_take_matched(block, bytes, message, status);
    e.partners = 1;
    sw_event_clock(&e);
    int result = sw_give_take_matched(block, bytes, message, status);
    if (result == SW_BY_VALUE)
        return result;
    sw_event_stop(&e, result);
    if (result == MPI_SUCCESS)
        sw_record_take_after(&e, MPI_COMM_NULL, &was, status);
    sw_event_end(&e);
    return result;
}

/* The program posts a receive, which the recorder counts. */
int sw_recorded_itake(void **block, int count, const void *type, int source,
                      int tag, const void *on, void *request)
{
    (void)block, (void)count, (void)type, (void)source, (void)tag, (void)on;
    (void)request;
    return SW_BY_VALUE;
}
