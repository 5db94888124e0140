/*
 * p2p_complete.h - waiting for requests, in every way that MPI has.
 *
 * An array of handles may hold more than what is waited for: null handles,
 * inactive persistent requests, and with the procedures that return early
 * also operations whose turn has not come.
 */
#ifndef P2P_COMPLETE_H
#define P2P_COMPLETE_H

#include "p2p_calls.h"

enum {
    WAIT,
    TEST,
    WAITALL,
    TESTALL,
    WAITANY,
    TESTANY,
    WAITSOME,
    TESTSOME,
    GET_STATUS,
    WAYS
};

static const char *const way_names[WAYS] = {
    "; by Wait",     "; by Test",     "; by Waitall",
    "; by Testall",  "; by Waitany",  "; by Testany",
    "; by Waitsome", "; by Testsome", "; by Request_get_status"};

typedef struct {
    int n, left;           /* handles; how many must still end */
    op_t *op[OPS_MAX + 8]; /* NULL: a null handle */
    bool needed[OPS_MAX + 8];
    MPI_Request request[OPS_MAX + 8];
    MPI_Status status[OPS_MAX + 8];
    int index[OPS_MAX + 8];
} array_t;

static int general_query(void *extra, MPI_Status *s)
{
    (void)extra;
    MPI_Status_set_elements(s, MPI_BYTE, 0);
    MPI_Status_set_cancelled(s, 0);
    s->MPI_SOURCE = 77;
    s->MPI_TAG = 78;
    return MPI_SUCCESS;
}

static int general_free(void *extra)
{
    (void)extra;
    return MPI_SUCCESS;
}

static int general_cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

/* Operations of this rank alone: a generalized request, and a receive that
 * no message matches. They end when they are first waited for. */
static void extras_begin(player_t *y, int item)
{
    if (has("general") && rng_one_in(&y->r, 12)) {
        op_t *o = op_new(y, item, GENERAL);
        o->begun = o->active = true;
        right(y, o,
              MPI_Grequest_start(general_query, general_free, general_cancel,
                                 NULL, &o->request));
    }
    const item_t *m = &y->plan.item[item];
    const circle_t *c = m->circle;
    if (has("cancel") && rng_one_in(&y->r, 12) && c->as_receiver >= 0 &&
        y->plan.shape != WILD) {
        op_t *o = op_new(y, item, CANCELLED);
        op_receives(y, o, m, 1, m->k);
        o->source = (int)rng_below(&y->r, (size_t)c->senders);
        o->tag = TAG_NOBODY + y->thread;
        o->any_source = rng_one_in(&y->r, 2);
        o->begun = o->active = true;
        right(y, o,
              MPI_Irecv(o->in.user, (int)(o->in.k / (size_t)o->in.layout.m),
                        o->in.layout.type,
                        o->any_source ? MPI_ANY_SOURCE : o->source, o->tag,
                        c->comm, &o->request));
    }
}

static void array_add(array_t *a, op_t *o, bool needed)
{
    a->op[a->n] = o;
    a->needed[a->n] = needed;
    a->left += needed;
    a->request[a->n++] = o ? o->request : MPI_REQUEST_NULL;
}

static void array_shuffle(player_t *y, array_t *a)
{
    for (int i = a->n - 1; i > 0; i--) {
        int j = (int)rng_below(&y->ends, (size_t)i + 1);
        op_t *o = a->op[i];
        bool needed = a->needed[i];
        MPI_Request request = a->request[i];
        a->op[i] = a->op[j];
        a->needed[i] = a->needed[j];
        a->request[i] = a->request[j];
        a->op[j] = o;
        a->needed[j] = needed;
        a->request[j] = request;
    }
}

static void array_ended(player_t *y, array_t *a, int i, const MPI_Status *s)
{
    op_t *o = a->op[i];
    if (!o || !o->active) {
        /* Nothing was there to wait for: the empty status. */
        int count = -1;
        if (s)
            MPI_Get_count(s, MPI_BYTE, &count);
        CHECK(!s || (s->MPI_SOURCE == MPI_ANY_SOURCE &&
                     s->MPI_TAG == MPI_ANY_TAG && count == 0),
              "seed %llu round %ld: not an empty status: %d %d %d",
              (unsigned long long)seed, y->plan.index, s->MPI_SOURCE,
              s->MPI_TAG, count);
        return;
    }
    o->request = a->request[i];
    a->left -= a->needed[i];
    op_ended(y, o, s);
}

static void each_by_itself(player_t *y, array_t *a, int way, bool told)
{
    for (int i = 0; i < a->n; i++) {
        int flag = 0;
        MPI_Status *s = told ? &a->status[i] : MPI_STATUS_IGNORE;
        static const op_t none = {.item = -1};
        const op_t *o = a->op[i] ? a->op[i] : &none;
#ifndef OMPI_MAJOR_VERSION
        /* With MPICH and its kin this takes the status of a persistent
         * receive away: a Wait after it finds the empty one. */
        if (a->op[i] && a->op[i]->persistent && way == GET_STATUS)
            way = WAIT;
#endif
        if (way == GET_STATUS) {
            MPI_Status early;
            while (right(y, o,
                         MPI_Request_get_status(a->request[i], &flag, &early)),
                   !flag)
                sched_yield();
            CHECK(!a->op[i] || a->request[i] != MPI_REQUEST_NULL,
                  "Request_get_status takes the request away");
            if (rng_one_in(&y->ends, 2)) {
                right(y, o, MPI_Test(&a->request[i], &flag, s));
                CHECK(flag, "what has ended is not there for Test\n  %s",
                      describe(y, o));
            } else {
                right(y, o, MPI_Wait(&a->request[i], s));
            }
        } else if (way == TEST) {
            while (right(y, o, MPI_Test(&a->request[i], &flag, s)), !flag)
                sched_yield();
        } else {
            right(y, o, MPI_Wait(&a->request[i], s));
        }
        array_ended(y, a, i, told ? s : NULL);
    }
}

static void one_or_some(player_t *y, array_t *a, int way, bool told)
{
    MPI_Status *s = told ? a->status : MPI_STATUSES_IGNORE;
    MPI_Status *s1 = told ? a->status : MPI_STATUS_IGNORE;
    op_t *o = a->op[0] ? a->op[0] : &y->op[0];
    while (a->left > 0) {
        int flag = 1, i = 0, n = 0;
        switch (way) {
        case WAITANY: right(y, o, MPI_Waitany(a->n, a->request, &i, s1)); break;
        case TESTANY:
            right(y, o, MPI_Testany(a->n, a->request, &i, &flag, s1));
            break;
        case WAITSOME:
            right(y, o, MPI_Waitsome(a->n, a->request, &n, a->index, s));
            break;
        default: right(y, o, MPI_Testsome(a->n, a->request, &n, a->index, s));
        }
        if (way == WAITANY || way == TESTANY) {
            CHECK(!flag || (i >= 0 && i < a->n && a->op[i] && a->op[i]->active),
                  "seed %llu round %ld: %s returns %d, which nobody waits for",
                  (unsigned long long)seed, y->plan.index,
                  way == WAITANY ? "Waitany" : "Testany", i);
            if (flag)
                array_ended(y, a, i, told ? s1 : NULL);
            else
                sched_yield();
            continue;
        }
        CHECK(n != MPI_UNDEFINED && n >= 0 && (n > 0 || way == TESTSOME),
              "seed %llu round %ld: some are %d", (unsigned long long)seed,
              y->plan.index, n);
        for (int k = 0; k < n; k++) {
            i = a->index[k];
            CHECK(i >= 0 && i < a->n && a->op[i] && a->op[i]->active,
                  "some returns %d, which nobody waits for", i);
            array_ended(y, a, i, told ? &s[k] : NULL);
        }
        if (n == 0)
            sched_yield();
    }
}

/* End operations of items up to `turn`: all of them, or some. */
static void complete_some(player_t *y, int turn, bool all)
{
    static _Thread_local array_t a;
    a.n = a.left = 0;
    int way = (int)rng_below(&y->ends, WAYS);
    bool extra = way >= WAITANY && way <= TESTSOME, told = true;
    for (int i = 0; i < y->ops; i++) {
        op_t *o = &y->op[i];
        if (!o->active) {
            if (o->persistent && rng_one_in(&y->ends, 8))
                array_add(&a, o, false);
            continue;
        }
        bool needed = o->item <= turn && (all || rng_one_in(&y->ends, 2));
        if (needed ||
            (extra && rng_one_in(&y->ends, 3) && o->mode != CANCELLED))
            array_add(&a, o, needed);
        if (needed && o->mode == GENERAL)
            right(y, o, MPI_Grequest_complete(o->request));
        if (needed && o->mode == CANCELLED)
            right(y, o, MPI_Cancel(&o->request));
    }
    while (rng_one_in(&y->ends, 6))
        if (a.n < OPS_MAX)
            array_add(&a, NULL, false);
    array_shuffle(y, &a);
    if (has("ignore") && rng_one_in(&y->ends, 4)) {
        told = y->plan.shape == WILD;
        for (int i = 0; i < a.n; i++)
            told = told || (a.op[i] && a.op[i]->mode == CANCELLED);
    }
    MPI_Status *s = told ? a.status : MPI_STATUSES_IGNORE;
    int flag = 0;
    waiting = way_names[way];
    if (trace)
        for (int i = 0; i < a.n; i++)
            fprintf(stderr, "[%d] %d of %d%s%s: %s\n", world_rank, i, a.n,
                    waiting, a.needed[i] ? "" : " perhaps",
                    a.op[i] ? describe(y, a.op[i]) : "null");
    op_t *o = &y->op[0];
    switch (way) {
    case WAITALL: right(y, o, MPI_Waitall(a.n, a.request, s)); break;
    case TESTALL:
        while (right(y, o, MPI_Testall(a.n, a.request, &flag, s)), !flag)
            sched_yield();
        break;
    case WAIT:
    case TEST:
    case GET_STATUS: each_by_itself(y, &a, way, told); return;
    default: one_or_some(y, &a, way, told); return;
    }
    for (int i = 0; i < a.n; i++)
        array_ended(y, &a, i, told ? &a.status[i] : NULL);
}

static void complete(player_t *y, int turn, bool all)
{
    complete_some(y, turn, all);
    waiting = "";
}

#endif
