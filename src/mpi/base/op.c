/*
 * op.c - see op.h.
 */
#include "op.h"

#include "roster.h"
#include "node/base/settings.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#define LOOSE_MAX ((size_t)4096) /* elements that are loose at a time */

/* Users' operations that collectives hold. */
typedef struct held {
    MPI_Op op;
    int holds;
    bool freed; /* by the program */
    struct held *next;
} held_t;

static held_t *held;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int predefined_op(MPI_Op op)
{
    return op == MPI_SUM      ? SW_SUM
           : op == MPI_MAX    ? SW_MAX
           : op == MPI_MIN    ? SW_MIN
           : op == MPI_PROD   ? SW_PROD
           : op == MPI_LAND   ? SW_LAND
           : op == MPI_LOR    ? SW_LOR
           : op == MPI_LXOR   ? SW_LXOR
           : op == MPI_BAND   ? SW_BAND
           : op == MPI_BOR    ? SW_BOR
           : op == MPI_BXOR   ? SW_BXOR
           : op == MPI_MINLOC ? SW_MINLOC
           : op == MPI_MAXLOC ? SW_MAXLOC
                              : -1;
}

/* MPI_Reduce_local takes an int: more elements take several calls. */
static void call_user(const sw_reducer_t *r, const void *in, void *inout,
                      size_t n)
{
    const sw_operation_t *o = (const sw_operation_t *)r;
    for (size_t done = 0, part; done < n; done += part) {
        part = sw_min(n - done, (size_t)INT_MAX);
        host.Reduce_local((const char *)in + done * r->elem,
                          (char *)inout + done * r->elem, (int)part,
                          o->type->handle, o->op);
    }
}

static void call_with_gaps(const sw_reducer_t *r, const void *in, void *inout,
                           size_t n)
{
    const sw_operation_t *o = (const sw_operation_t *)r;
    for (size_t done = 0, part; done < n; done += part) {
        part = sw_min(n - done, LOOSE_MAX);
        char *to = (char *)inout + done * r->elem;
        sw_loose_t left = sw_loose(o->type, part,
                                   (const char *)in + done * r->elem);
        sw_loose_t right = sw_loose(o->type, part, to);
        host.Reduce_local(left.at, right.at, (int)part, o->type->handle, o->op);
        sw_loose_end(&left, o->type, part, NULL);
        sw_loose_end(&right, o->type, part, to);
    }
}

bool sw_operation(MPI_Op op, const sw_datatype_t *type, sw_operation_t *to)
{
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP)
        return false;
    int known = predefined_op(op);
    to->op = op;
    to->type = type;
    to->predefined = (int8_t)known;
    to->packed = false;
    to->reducer.elem = (size_t)type->extent;
    if (known >= 0) {
        if (type->kernel < 0)
            return false;
        to->reducer.commutative = true;
        to->reducer.user = NULL;
        to->reducer.kernel = sw_reduce_kernel((sw_op_t)known,
                                              (sw_type_t)type->kernel);
        return to->reducer.kernel != NULL;
    }
    int commutes = 0;
    if (!type->size || !sw_roster_has_world() ||
        host.Op_commutative(op, &commutes) != MPI_SUCCESS)
        return false;
    to->packed = !type->dense;
    to->reducer.elem = type->size;
    to->reducer.commutative = commutes;
    to->reducer.kernel = NULL;
    to->reducer.user = to->packed ? call_with_gaps : call_user;
    return true;
}

/* Holding ------------------------------------------------------------------ */

/* Where an operation is listed, or where the list ends. */
static held_t **place_of(MPI_Op op)
{
    held_t **at = &held;
    while (*at && (*at)->op != op)
        at = &(*at)->next;
    return at;
}

void sw_operation_hold_slow(const sw_operation_t *o)
{
    atomic_store(&((sw_datatype_t *)(uintptr_t)o->type)->bound, true);
    pthread_mutex_lock(&lock);
    held_t **at = place_of(o->op);
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at) {
            sw_say("out of memory for an operation of a nonblocking "
                   "collective");
            abort();
        }
        (*at)->op = o->op;
    }
    (*at)->holds++;
    pthread_mutex_unlock(&lock);
}

void sw_operation_drop_slow(const sw_operation_t *o)
{
    pthread_mutex_lock(&lock);
    held_t **at = place_of(o->op), *h = *at;
    bool last = --h->holds == 0;
    if (last)
        *at = h->next;
    pthread_mutex_unlock(&lock);
    if (!last)
        return;
    if (h->freed)
        host.Op_free(&h->op);
    free(h);
}

int sw_MPI_Op_free(MPI_Op *op)
{
    pthread_mutex_lock(&lock);
    held_t *h = op ? *place_of(*op) : NULL;
    if (h)
        h->freed = true;
    pthread_mutex_unlock(&lock);
    if (!h)
        return host.Op_free(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}
