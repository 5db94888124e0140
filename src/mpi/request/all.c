/*
 * all.c - MPI_Waitall and MPI_Testall; see batch.h.
 */
#include "batch.h"

#include "mpi/base/raise.h"

#include <stdlib.h>

/* The host has completed those from `first` on, `n` of them, with `rc`; finish
 * the tracked ones. Returns what the call returns. */
static int finish_all(sw_batch_t *b, int first, int n, int rc)
{
    bool errors = rc != MPI_SUCCESS;
    if (!errors)
        sw_no_errors(b->statuses + first, n);
    for (int i = first; i < first + n; i++) {
        sw_track_t *t = b->track[i];
        MPI_Status *status = &b->statuses[i];
        if (!t || !t->active ||
            (errors && status->MPI_ERROR == MPI_ERR_PENDING))
            continue;
        int error = sw_batch_conclude(b, i, status, MPI_ERR_IN_STATUS, &rc);
        if (error)
            status->MPI_ERROR = error;
    }
    return rc;
}

static int test_all(sw_batch_t *b, bool *over)
{
    int flag = 0;
    *over = false;
    for (; b->first < b->n; b->first++)
        if (b->track[b->first] && !sw_track_ready(b->track[b->first])) {
            sw_track_poke(b->track[b->first]->kind->over);
            return MPI_SUCCESS;
        }
    int rc = sw_checked(host.Testall(b->n, b->requests, &flag, b->statuses),
                        b->n, b->statuses);
    *over = sw_testall_over(flag, rc);
    return *over ? finish_all(b, 0, b->n, rc) : rc;
}

/* For so many from b->first on, up to `most`, the host may be asked at once. */
static int together(const sw_batch_t *b, int most)
{
    int n = 0;
    while (n < most && sw_batch_look(b, b->first + n) == SW_BATCH_ASK)
        n++;
    return n;
}

static int test_one(sw_batch_t *b, int i, int *flag)
{
    int rc = host.Test(&b->requests[i], flag, &b->statuses[i]);
    if (rc == MPI_SUCCESS)
        return rc;
    b->statuses[i].MPI_ERROR = rc;
    return MPI_ERR_IN_STATUS;
}

/* Complete some of the requests from b->first on; false: none could be. While
 * others may wait for what we do in between, the host is asked for one alone: a
 * question for eight, or for all, takes so much longer that messages come more
 * slowly. (And MPICH and its kin end the program in some MPI_Testall; see
 * SW_TESTALL_ENDS.) */
static bool advance(sw_batch_t *b, int *raised)
{
    int first = b->first, flag = 0, rc;
    bool alone = !sw_owing() && !sw_threaded;
    int most = alone ? b->n - first : 1;
    sw_track_t *t = b->track[first];
    if (t && t->active && t->kind->await)
        t->kind->await(t);
    sw_batch_hold(b, first, 1);
    if (t && sw_track_ready(t) && sw_track_is_spent(t)) {
        sw_status_empty(&b->statuses[first]);
        rc = finish_all(b, first, 1, MPI_SUCCESS);
        *raised = *raised ? *raised : rc;
        b->first++;
        sw_batch_let_go(b, first, 1);
        return true;
    }
    sw_batch_let_go(b, first, 1);
    sw_batch_hold(b, first, most);
    int n = together(b, most);
    if (n == 0) {
        sw_track_poke(t && t->kind->over);
        rc = MPI_SUCCESS;
    } else if (alone) {
        rc = host.Waitall(n, b->requests + first, b->statuses + first);
        flag = 1;
    } else {
        rc = test_one(b, first, &flag);
    }
    sw_checked(rc, n, b->statuses + first);
    if (flag || rc != MPI_SUCCESS) {
        rc = finish_all(b, first, n, rc);
        *raised = *raised ? *raised : rc;
        b->first += n;
    }
    sw_batch_let_go(b, first, most);
    return b->first > first;
}

static int wait_all(sw_batch_t *b)
{
    int raised = MPI_SUCCESS;
    sw_idle_t idle = {0};
    while (b->first < b->n)
        if (advance(b, &raised)) {
            idle = (sw_idle_t){0};
        } else {
            sw_track_progress();
            sw_idle(&idle);
        }
    return raised;
}

/* The host has tested all, with `rc`, and is done with them if `over`. The
 * notes are put back, or ended. */
static int finish_notes(int n, const sw_note_t *note, MPI_Status *statuses,
                        bool over, int rc)
{
    bool errors = rc != MPI_SUCCESS;
    for (int i = 0; i < n; i++) {
        if (!note[i].in.type)
            continue;
        if (sw_unlikely(!over || (errors && statuses[i].MPI_ERROR ==
                                            MPI_ERR_PENDING))) {
            sw_note_back(&note[i]);
            continue;
        }
        int error = sw_note_end(&note[i], &statuses[i]);
        if (sw_unlikely(error)) {
            if (rc == MPI_SUCCESS) {
                sw_no_errors(statuses, n);
                rc = sw_raise_pending(note[i].comm, MPI_ERR_IN_STATUS);
            }
            statuses[i].MPI_ERROR = error;
        }
        sw_comm_drop(note[i].comm);
    }
    return rc;
}

/* The same of the tracks among them; the notes tell their handles. */
static int finish_tracks(int n, const sw_note_t *note, MPI_Request *requests,
                         MPI_Status *statuses, int rc)
{
    sw_track_t *few[SW_BATCH_FEW];
    sw_batch_t b = {.n = n, .requests = requests, .statuses = statuses,
                    .track = few};
    if (n > SW_BATCH_FEW)
        b.track = sw_batch_room(n, sizeof *b.track);
    for (int i = 0; i < n; i++)
        b.track[i] = sw_track_of(note[i].handle);
    rc = finish_all(&b, 0, n, rc);
    if (n > SW_BATCH_FEW)
        free(b.track);
    return rc;
}

/* Where the host may be asked as it is. */
static int plain_all(bool blocking, int n, MPI_Request *requests,
                     MPI_Status *statuses, bool *over)
{
    sw_note_t few_notes[SW_BATCH_FEW], *note = few_notes;
    MPI_Status few_statuses[SW_BATCH_FEW], *to = few_statuses;
    int flag = 1;
    if (n > SW_BATCH_FEW) {
        note = sw_batch_room(n, sizeof *note + sizeof *to);
        to = (MPI_Status *)(note + n);
    }
    if (!sw_statuses_ignored(statuses))
        to = statuses;
    for (int i = 0; i < n; i++)
        sw_note_take(requests[i], &note[i]);
    int rc = sw_checked(blocking ? host.Waitall(n, requests, to)
                                 : host.Testall(n, requests, &flag, to),
                        n, to);
    *over = sw_testall_over(flag, rc);
    if (*over && sw_any_tracks())
        rc = finish_tracks(n, note, requests, to, rc);
    rc = finish_notes(n, note, to, *over, rc);
    if (note != few_notes)
        free(note);
    return rc;
}

int sw_MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    if (!sw_batch_concerns(n, requests))
        return sw_checked(host.Waitall(n, requests, statuses), n, statuses);
    bool over;
    if (sw_plain_requests())
        return plain_all(true, n, requests, statuses, &over);
    sw_batch_t b;
    sw_batch_take(&b, n, requests, NULL, statuses);
    int rc = wait_all(&b);
    sw_batch_back(&b);
    return rc;
}

int sw_MPI_Testall(int n, MPI_Request requests[], int *flag,
                   MPI_Status statuses[])
{
    if (!sw_batch_concerns(n, requests))
        return sw_checked(host.Testall(n, requests, flag, statuses), n,
                          statuses);
    bool over;
    int rc;
    if (sw_plain_requests()) {
        rc = plain_all(false, n, requests, statuses, &over);
    } else {
        sw_batch_t b;
        sw_batch_take(&b, n, requests, NULL, statuses);
        rc = sw_batch_serve(&b, test_all, false, &over);
        sw_batch_back(&b);
    }
    *flag = over;
    return rc;
}
