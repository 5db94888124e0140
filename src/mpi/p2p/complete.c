/*
 * complete.c - MPI_Waitall, MPI_Waitany, MPI_Waitsome and their tests.
 *
 * Where no request is tracked, the host serves. Else its Test procedures are
 * asked in turns with our progress, and what the host completes is finished by
 * us. Sends that are not released yet are kept from the host, which would call
 * them complete: MPI_Waitall comes to them in its turn, the others ask for a
 * copy of the array with MPI_REQUEST_NULL in their place.
 */
#include "complete.h"

#include "mpi/base/raise.h"
#include "node/base/settings.h"
#include "mpi/base/comm.h"
#include "doubt.h"

#include <stdlib.h>
#include <string.h>

typedef enum { ALL, ANY, SOME } how_t;

/* The arrays of one call. */
typedef struct {
    how_t how;
    int n;
    MPI_Request *requests;
    MPI_Status *statuses;       /* never ignored: the program's, or our own */
    sw_track_t **track;         /* [n], NULL where it is the host's alone   */
    MPI_Request *asked;         /* [n], what the host is asked              */
    int first;                  /* ALL: those before it are done, or ready  */
    int done;                   /* ANY: the index; SOME: how many           */
    int *indices;               /* SOME                                     */
} set_t;

/* Hosts write MPI_ERROR only where there are errors. */
static void no_errors(MPI_Status *statuses, int n)
{
    for (int i = 0; i < n; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* The host has nothing more to say of it. */
static bool spent(const sw_track_t *t)
{
    return t && t->active && t->ended && !t->pair;
}

/* The host has completed those from `first` on, `n` of them, with `rc`; finish
 * the tracked ones. Returns what is to be returned. */
static int finish_all(set_t *s, int first, int n, int rc)
{
    bool errors = rc != MPI_SUCCESS;
    if (!errors)
        no_errors(s->statuses + first, n);
    for (int i = first; i < first + n; i++) {
        sw_track_t *t = s->track[i];
        MPI_Status *status = &s->statuses[i];
        if (!t || !t->active ||
            (errors && status->MPI_ERROR == MPI_ERR_PENDING))
            continue;
        sw_comm_t *c = t->comm;
        bool over = !t->persistent;
        int result = t->result;     /* which the host has raised */
        sw_comm_hold(c);
        int error = sw_track_finish(t, status);
        if (over) {
            s->requests[i] = MPI_REQUEST_NULL;
            s->track[i] = NULL;
        }
        if (result || error)
            status->MPI_ERROR = result ? result : error;
        if ((result || error) && rc == MPI_SUCCESS)
            rc = result ? MPI_ERR_IN_STATUS
                        : sw_raise_pending(c, MPI_ERR_IN_STATUS);
        sw_comm_drop(c);
    }
    return rc;
}

static void hold(const set_t *s, int first, int n)
{
    for (int i = first; i < first + n; i++)
        if (s->track[i])
            sw_track_hold(s->track[i]);
}

static void let_go(const set_t *s, int first, int n)
{
    for (int i = first; i < first + n; i++)
        if (s->track[i])
            sw_track_let_go(s->track[i]);
}

static int test_all(set_t *s, bool *complete)
{
    int flag = 0;
    *complete = false;
    for (; s->first < s->n; s->first++)
        if (s->track[s->first] && !sw_track_ready(s->track[s->first]))
            return MPI_SUCCESS;
    int rc = sw_checked(host.Testall(s->n, s->requests, &flag, s->statuses),
                        s->n, s->statuses);
    *complete = flag || rc != MPI_SUCCESS;
    return *complete ? finish_all(s, 0, s->n, rc) : rc;
}

/* The host may be asked for it. */
static bool askable(sw_track_t *t)
{
    return !t || (sw_track_ready(t) && !spent(t));
}

/* So many from s->first on, up to `most`, the host may be asked for at once. */
static int together(const set_t *s, int most)
{
    int n = 0;
    while (n < most && askable(s->track[s->first + n]))
        n++;
    return n;
}

static int test_one(set_t *s, int i, int *flag)
{
    int rc = host.Test(&s->requests[i], flag, &s->statuses[i]);
    if (rc == MPI_SUCCESS)
        return rc;
    s->statuses[i].MPI_ERROR = rc;
    return MPI_ERR_IN_STATUS;
}

/* Complete some of the requests from s->first on; false: none could be. While
 * others may wait for what we do in between, the host is asked for one alone: a
 * question for eight, or for all, takes so much longer that messages come more
 * slowly. (And MPICH and its kin end the program in some MPI_Testall; see
 * SW_TESTALL_ENDS.) */
static bool advance(set_t *s, int *raised)
{
    int first = s->first, flag = 0, rc;
    bool alone = !sw_owing() && !sw_threaded;
    int most = alone ? s->n - first : 1;
    hold(s, first, 1);
    if (spent(s->track[first]) && sw_track_ready(s->track[first])) {
        sw_status_empty(&s->statuses[first]);
        *raised = finish_all(s, first, 1, MPI_SUCCESS);
        s->first++;
        let_go(s, first, 1);
        return true;
    }
    let_go(s, first, 1);
    hold(s, first, most);
    int n = together(s, most);
    if (n == 0) {
        sw_link_poke();
        rc = MPI_SUCCESS;
    } else if (alone) {
        rc = host.Waitall(n, s->requests + first, s->statuses + first);
        flag = 1;
    } else {
        rc = test_one(s, first, &flag);
    }
    sw_checked(rc, n, s->statuses + first);
    if (flag || rc != MPI_SUCCESS) {
        rc = finish_all(s, first, n, rc);
        *raised = *raised ? *raised : rc;
        s->first += n;
    }
    let_go(s, first, most);
    return s->first > first;
}

static int wait_all(set_t *s)
{
    int raised = MPI_SUCCESS;
    sw_idle_t idle = {0};
    while (s->first < s->n)
        if (advance(s, &raised)) {
            idle = (sw_idle_t){0};
        } else {
            sw_track_progress();
            sw_idle(&idle);
        }
    return raised;
}

/* Fill `asked`; how many of the tracked sends are not released (or have become
 * so since `ended` looked). */
static int ask(set_t *s)
{
    int left_out = 0;
    for (int i = 0; i < s->n; i++) {
        sw_track_t *t = s->track[i];
        bool ready = askable(t);
        s->asked[i] = ready ? s->requests[i] : MPI_REQUEST_NULL;
        left_out += !ready;
    }
    return left_out;
}

/* The host has completed request i. Returns an error; the first is raised (as
 * another, if `as` is one) while *result is no error yet. */
static int finish(set_t *s, int i, MPI_Status *status, int as, bool *raises,
                  int *result)
{
    sw_track_t *t = s->track[i];
    if (!t || !t->active) {
        s->requests[i] = s->asked[i];
        return MPI_SUCCESS;
    }
    sw_comm_t *c = t->comm;
    bool over = !t->persistent;
    sw_comm_hold(c);
    int error = sw_track_finish(t, status);
    if (over) {
        s->requests[i] = MPI_REQUEST_NULL;
        s->track[i] = NULL;
    }
    if (error && *raises)
        *result = sw_raise_pending(c, as ? as : error);
    *raises = *raises && !error;
    sw_comm_drop(c);
    return error;
}

/* The first that the host has nothing more to say of, or -1. */
static int ended(const set_t *s)
{
    for (int i = 0; i < s->n; i++)
        if (spent(s->track[i]) && sw_track_ready(s->track[i]))
            return i;
    return -1;
}

/* An error that the host has found, it has raised, too. */
static int take_ended(set_t *s, int i)
{
    int result = s->track[i]->result;
    bool raises = !result;
    s->asked[i] = s->requests[i];
    sw_status_empty(s->statuses);
    finish(s, i, s->statuses, 0, &raises, &result);
    return result;
}

static int try_any(set_t *s, bool *complete)
{
    s->done = ended(s);
    if (sw_unlikely(s->done >= 0)) {
        *complete = true;
        return take_ended(s, s->done);
    }
    int left_out = ask(s), flag = 0, index = MPI_UNDEFINED;
    if (left_out)
        sw_link_poke();
    int rc = sw_checked(host.Testany(s->n, s->asked, &index, &flag,
                                     s->statuses), 1, s->statuses);
    *complete = rc != MPI_SUCCESS ||
                (flag && (index != MPI_UNDEFINED || !left_out));
    s->done = index;
    if (*complete && rc == MPI_SUCCESS && index == MPI_UNDEFINED)
        sw_status_empty(s->statuses);
    if (!*complete || index == MPI_UNDEFINED || index < 0)
        return rc;
    bool raises = rc == MPI_SUCCESS;
    finish(s, index, s->statuses, 0, &raises, &rc);
    return rc;
}

/* MPI_UNDEFINED is no positive number. */
static int some_checked(int rc, const int *count, const MPI_Status *statuses)
{
    if (sw_unlikely(rc != MPI_SUCCESS))
        sw_failed(rc, *count, statuses);
    return rc;
}

static int try_some(set_t *s, bool *complete)
{
    *s->indices = ended(s);
    if (sw_unlikely(*s->indices >= 0)) {
        *complete = true;
        s->done = 1;
        return take_ended(s, *s->indices);
    }
    int left_out = ask(s), count = 0;
    if (left_out)
        sw_link_poke();
    int rc = host.Testsome(s->n, s->asked, &count, s->indices, s->statuses);
    some_checked(rc, &count, s->statuses);
    *complete = rc != MPI_SUCCESS || count > 0 ||
                (count == MPI_UNDEFINED && !left_out);
    s->done = count == MPI_UNDEFINED && left_out ? 0 : count;
    bool errors = rc != MPI_SUCCESS, raises = !errors;
    int raised = rc;
    if (!errors && count > 0)
        for (int k = 0; k < count; k++)
            s->statuses[k].MPI_ERROR = MPI_SUCCESS;
    for (int k = 0; count != MPI_UNDEFINED && k < count; k++) {
        int i = s->indices[k];
        int error = finish(s, i, &s->statuses[k], MPI_ERR_IN_STATUS, &raises,
                           &raised);
        if (error && !errors)
            s->statuses[k].MPI_ERROR = error;
    }
    return raised;
}

/* Of a blocking call: until it is complete. */
static int serve(set_t *s, bool blocking, bool *over)
{
    int rc;
    sw_idle_t idle = {0};
    *over = true;
    if (s->how == ALL && blocking)
        return wait_all(s);
    if (!blocking)
        sw_track_progress();
    while (true) {
        hold(s, 0, s->n);
        rc = s->how == ALL   ? test_all(s, over)
             : s->how == ANY ? try_any(s, over)
                             : try_some(s, over);
        let_go(s, 0, s->n);
        if (*over || !blocking)
            return rc;
        sw_track_progress();
        sw_idle(&idle);
    }
}

#define FEW 16

static void *room_for(int n, size_t each)
{
    void *room = malloc((size_t)n * each + 64);
    if (!room) {
        sw_say("out of memory in a wait for %d requests", n);
        abort();
    }
    return room;
}

/* MPI_Waitany and MPI_Testany where the host may be asked as it is. */
static int plain_any(bool blocking, int n, MPI_Request *requests, int *index,
                     int *flag, MPI_Status *status)
{
    MPI_Request few[FEW], *asked = n > FEW ? room_for(n, sizeof *asked) : few;
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    memcpy(asked, requests, (size_t)n * sizeof *asked);
    *flag = 1;
    *index = MPI_UNDEFINED;
    int rc = sw_checked(
        blocking ? host.Waitany(n, requests, index, to)
                 : host.Testany(n, requests, index, flag, to), 1, to);
    if ((*flag || rc != MPI_SUCCESS) && *index >= 0 && *index < n) {
        sw_note_t note;
        sw_note_take(asked[*index], &note);
        bool noted = note.in.type;
        sw_track_t *t = noted ? NULL : sw_track_of(asked[*index]);
        sw_comm_t *c = noted ? note.comm : t ? t->comm : NULL;
        if (t)
            sw_comm_hold(c);
        int error = noted          ? sw_note_end(&note, to)
                  : t && t->active ? sw_track_finish(t, to) : MPI_SUCCESS;
        if (rc == MPI_SUCCESS)
            rc = sw_raise_pending(c, error);
        if (c)
            sw_comm_drop(c);
    }
    if (asked != few)
        free(asked);
    return rc;
}

/* False: none of the requests can be tracked. */
static bool concerns(int n, const MPI_Request *requests)
{
    return sw_any_tracks() && n > 0 && requests;
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
                no_errors(statuses, n);
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
    sw_track_t *few[FEW];
    set_t s = {.how = ALL, .n = n, .requests = requests, .statuses = statuses,
               .track = n > FEW ? room_for(n, sizeof *s.track) : few};
    for (int i = 0; i < n; i++)
        s.track[i] = sw_track_of(note[i].handle);
    rc = finish_all(&s, 0, n, rc);
    if (n > FEW)
        free(s.track);
    return rc;
}

static bool ignores(const MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE || statuses == MPI_STATUS_IGNORE;
}

/* MPI_Waitall and MPI_Testall, likewise. */
static int plain_all(bool blocking, int n, MPI_Request *requests,
                     MPI_Status *statuses, bool *over)
{
    sw_note_t few_notes[FEW], *note = few_notes;
    MPI_Status few_statuses[FEW], *to = few_statuses;
    int flag = 1;
    if (n > FEW) {
        note = room_for(n, sizeof *note + sizeof *to);
        to = (MPI_Status *)(note + n);
    }
    if (!ignores(statuses))
        to = statuses;
    for (int i = 0; i < n; i++)
        sw_note_take(requests[i], &note[i]);
    int rc = sw_checked(blocking ? host.Waitall(n, requests, to)
                                 : host.Testall(n, requests, &flag, to),
                        n, to);
    *over = flag || rc != MPI_SUCCESS;
    if (*over && sw_any_tracks())
        rc = finish_tracks(n, note, requests, to, rc);
    rc = finish_notes(n, note, to, *over, rc);
    if (note != few_notes)
        free(note);
    return rc;
}

static int complete(how_t how, bool blocking, int n, MPI_Request *requests,
                    bool *flag, int *done, int *indices, MPI_Status *statuses)
{
    sw_track_t *few_tracks[FEW];
    MPI_Request few_asked[FEW];
    MPI_Status few_statuses[FEW];
    int few_indices[FEW];
    size_t each = sizeof(sw_track_t *) + sizeof(MPI_Request) +
                  sizeof(MPI_Status) + sizeof(int);
    void *room = n > FEW ? room_for(n, each) : NULL;
    set_t s = {.how = how, .n = n, .requests = requests};
    s.track = room ? room : few_tracks;
    s.asked = room ? (void *)(s.track + n) : few_asked;
    s.statuses = room ? (void *)(s.asked + n) : few_statuses;
    s.indices = indices ? indices
              : room    ? (void *)(s.statuses + n) : few_indices;
    if (!ignores(statuses))
        s.statuses = statuses;
    for (int i = 0; i < n; i++) {
        s.track[i] = sw_track_of(requests[i]);
        if (s.track[i])
            sw_track_claim(s.track[i]);
    }
    int rc = serve(&s, blocking, flag);
    for (int i = 0; i < n; i++)
        if (s.track[i])
            sw_track_unclaim(s.track[i]);
    *done = s.done;
    free(room);
    return rc;
}

int sw_MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
    if (!concerns(n, requests))
        return sw_checked(host.Waitall(n, requests, statuses), n, statuses);
    bool over;
    int done;
    if (sw_plain_requests())
        return plain_all(true, n, requests, statuses, &over);
    return complete(ALL, true, n, requests, &over, &done, NULL, statuses);
}

int sw_MPI_Testall(int n, MPI_Request requests[], int *flag,
                   MPI_Status statuses[])
{
    if (!concerns(n, requests))
        return sw_checked(host.Testall(n, requests, flag, statuses), n,
                          statuses);
    bool over;
    int done, rc = sw_plain_requests()
        ? plain_all(false, n, requests, statuses, &over)
        : complete(ALL, false, n, requests, &over, &done, NULL, statuses);
    *flag = over;
    return rc;
}

int sw_MPI_Waitany(int n, MPI_Request requests[], int *index,
                   MPI_Status *status)
{
    if (!concerns(n, requests))
        return sw_checked(host.Waitany(n, requests, index, status), 1, status);
    bool over;
    int flag;
    if (sw_plain_requests())
        return plain_any(true, n, requests, index, &flag, status);
    return complete(ANY, true, n, requests, &over, index, NULL, status);
}

int sw_MPI_Testany(int n, MPI_Request requests[], int *index, int *flag,
                   MPI_Status *status)
{
    if (!concerns(n, requests))
        return sw_checked(host.Testany(n, requests, index, flag, status), 1,
                          status);
    bool over;
    if (sw_plain_requests())
        return plain_any(false, n, requests, index, flag, status);
    int rc = complete(ANY, false, n, requests, &over, index, NULL, status);
    *flag = over;
    if (!over)
        *index = MPI_UNDEFINED;
    return rc;
}

int sw_MPI_Waitsome(int n, MPI_Request requests[], int *count, int indices[],
                    MPI_Status statuses[])
{
    if (!concerns(n, requests))
        return some_checked(host.Waitsome(n, requests, count, indices,
                                          statuses), count, statuses);
    bool over;
    return complete(SOME, true, n, requests, &over, count, indices, statuses);
}

int sw_MPI_Testsome(int n, MPI_Request requests[], int *count, int indices[],
                    MPI_Status statuses[])
{
    if (!concerns(n, requests))
        return some_checked(host.Testsome(n, requests, count, indices,
                                          statuses), count, statuses);
    bool over;
    return complete(SOME, false, n, requests, &over, count, indices,
                    statuses);
}
