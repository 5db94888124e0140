/*
 * receive.c - MPI_Recv, MPI_Mrecv, in all forms.
 */
#include "calls.h"
#include "either.h"
#include "far.h"
#include "mpi/request/complete.h"
#include "near_probe.h"
#include "near_receive.h"

bool sw_recv(void *buf, int64_t count, MPI_Datatype datatype, int source,
             int tag, MPI_Comm comm, MPI_Status *status, int *rc)
{
    sw_near_t w;
    if (sw_likely(
            sw_near_receives(&w, buf, count, datatype, source, tag, comm, rc)))
        *rc = sw_is_either(&w) ? sw_either_recv(&w, status)
                               : sw_near_recv(&w, status);
    else if (*rc == MPI_SUCCESS && !sw_shadow_owing())
        return false;
    else if (*rc == MPI_SUCCESS)
        *rc = sw_far_recv(buf, count, datatype, source, tag, comm, status);
    return true;
}

bool sw_irecv(void *buf, int64_t count, MPI_Datatype datatype, int source,
              int tag, MPI_Comm comm, MPI_Request *request, int *rc)
{
    sw_near_t w;
    if (sw_unlikely(
            !sw_near_receives(&w, buf, count, datatype, source, tag, comm, rc)))
        return *rc != MPI_SUCCESS;
    *rc = sw_is_either(&w) ? sw_either_itake(&w, NULL, request)
                           : sw_near_irecv(&w, request);
    return true;
}

bool sw_recv_init(void *buf, int64_t count, MPI_Datatype datatype, int source,
                  int tag, MPI_Comm comm, MPI_Request *request, int *rc)
{
    sw_near_t w;
    if (!sw_near_receives(&w, buf, count, datatype, source, tag, comm, rc))
        return *rc != MPI_SUCCESS;
    *rc = sw_is_either(&w) ? sw_either_recv_init(&w, request)
                           : sw_near_recv_init(&w, request);
    return true;
}

/* Any partner will do for a matched message. */
static bool matched(sw_near_t *w, const MPI_Message *message, void *buf,
                    int64_t count, MPI_Datatype datatype, int *rc)
{
    sw_comm_t *c;
    *rc = MPI_SUCCESS;
    return message && sw_near_knows(message, &c) &&
           sw_near_describe(w, c, sw_comm_or_any(c), buf, count, datatype,
                            c->me, 0, SW_NEAR_NONE, rc);
}

bool sw_mrecv(void *buf, int64_t count, MPI_Datatype datatype,
              MPI_Message *message, MPI_Status *status, int *rc)
{
    sw_near_t w;
    sw_comm_t *c;
    if (matched(&w, message, buf, count, datatype, rc)) {
        *rc = sw_near_mrecv(&w, sw_near_message(message, &c), status);
        sw_comm_drop(c);
    } else if (*rc == MPI_SUCCESS && !sw_shadow_owing()) {
        return false;
    } else if (*rc == MPI_SUCCESS) {
        *rc = sw_far_mrecv(buf, count, datatype, message, status);
    }
    return true;
}

bool sw_imrecv(void *buf, int64_t count, MPI_Datatype datatype,
               MPI_Message *message, MPI_Request *request, int *rc)
{
    sw_near_t w;
    sw_comm_t *c;
    if (!matched(&w, message, buf, count, datatype, rc))
        return *rc != MPI_SUCCESS;
    *rc = sw_near_imrecv(&w, sw_near_message(message, &c), request);
    sw_comm_drop(c);
    return true;
}
