/*
 * calls.h - the procedures of a window that its members serve.
 *
 * A function serves all forms of a procedure: large counts, and those that give
 * a request. The entry of each form is generated (calls/generate_entries.py);
 * its `rc` began as MPI_SUCCESS. True: the call is ours, or its error was
 * raised, and the procedure returns *rc. False: the host is to judge.
 */
#ifndef SW_MPI_RMA_CALLS_H
#define SW_MPI_RMA_CALLS_H

#include "access.h"
#include "window.h"

bool sw_put(sw_win_t *w, const void *origin_addr, int64_t origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int64_t target_count, MPI_Datatype target_datatype, int *rc);
bool sw_get(sw_win_t *w, void *origin_addr, int64_t origin_count,
            MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int64_t target_count, MPI_Datatype target_datatype, int *rc);
bool sw_accumulate(sw_win_t *w, const void *origin_addr, int64_t origin_count,
                   MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int64_t target_count,
                   MPI_Datatype target_datatype, MPI_Op op, int *rc);
bool sw_get_accumulate(sw_win_t *w, const void *origin_addr,
                       int64_t origin_count, MPI_Datatype origin_datatype,
                       void *result_addr, int64_t result_count,
                       MPI_Datatype result_datatype, int target_rank,
                       MPI_Aint target_disp, int64_t target_count,
                       MPI_Datatype target_datatype, MPI_Op op, int *rc);
bool sw_fetch_and_op(sw_win_t *w, const void *origin_addr, void *result_addr,
                     MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, int *rc);
bool sw_compare_and_swap(sw_win_t *w, const void *origin_addr,
                         const void *compare_addr, void *result_addr,
                         MPI_Datatype datatype, int target_rank,
                         MPI_Aint target_disp, int *rc);
/* The request of an access that is over. Returns true. */
bool sw_rma_access_requested(MPI_Request *request, int *rc);

bool sw_win_fence(sw_win_t *w, int assertion, int *rc);
bool sw_win_start(sw_win_t *w, MPI_Group group, int assertion, int *rc);
bool sw_win_complete(sw_win_t *w, int *rc);
bool sw_win_post(sw_win_t *w, MPI_Group group, int assertion, int *rc);
bool sw_win_wait(sw_win_t *w, int *rc);
bool sw_win_test(sw_win_t *w, int *flag, int *rc);
bool sw_win_lock(sw_win_t *w, int type, int rank, int assertion, int *rc);
bool sw_win_unlock(sw_win_t *w, int rank, int *rc);
bool sw_win_lock_all(sw_win_t *w, int assertion, int *rc);
bool sw_win_unlock_all(sw_win_t *w, int *rc);
/* Of all kinds, local ones too. */
bool sw_win_flush(sw_win_t *w, int rank, int *rc);
bool sw_win_flush_all(sw_win_t *w, int *rc);
bool sw_win_sync(sw_win_t *w, int *rc);

#endif
