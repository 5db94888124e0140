/*
 * straightway_mpi_inline.h - the functions of straightway_mpi.h. That header
 * includes this one, and no program does.
 *
 * Each call asks the preloaded library, and sends or receives the bytes by MPI
 * where there is none. Names that end in _ are no part of the interface.
 */
#ifndef STRAIGHTWAY_MPI_INLINE_H
#define STRAIGHTWAY_MPI_INLINE_H

#include <limits.h>
#include <stdlib.h>

#include <straightway_mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A block on its way by value, until its send is complete. */
typedef struct straightway_going_ {
    MPI_Request request;
    void *block;
    struct straightway_going_ *next;
} straightway_going_t_;

typedef struct {
    straightway_going_t_ *first;
    char locked, known;
} straightway_list_t_;

static inline straightway_list_t_ *straightway_list_(void)
{
    static straightway_list_t_ list;
    return &list;
}

static inline void straightway_lock_(void)
{
    while (
        __atomic_test_and_set(&straightway_list_()->locked, __ATOMIC_ACQUIRE))
        ;
}

static inline void straightway_unlock_(void)
{
    __atomic_clear(&straightway_list_()->locked, __ATOMIC_RELEASE);
}

static inline void straightway_keep_(straightway_going_t_ *first,
                                     straightway_going_t_ *last)
{
    straightway_list_t_ *list = straightway_list_();
    straightway_lock_();
    last->next = list->first;
    list->first = first;
    straightway_unlock_();
}

/* Free the blocks whose sends are complete; `all`: wait for all. */
static inline int straightway_gone_(int all)
{
    straightway_list_t_ *list = straightway_list_();
    straightway_going_t_ *at, *next, *left = NULL, *last = NULL;
    int rc = MPI_SUCCESS;
    straightway_lock_();
    at = list->first;
    list->first = NULL;
    straightway_unlock_();
    for (; at; at = next) {
        int done = 1, one;
        next = at->next;
        one = all ? MPI_Wait(&at->request, MPI_STATUS_IGNORE)
                  : MPI_Test(&at->request, &done, MPI_STATUS_IGNORE);
        if (one != MPI_SUCCESS) {
            rc = one;
            done = 1;
        }
        if (done) {
            free(at->block);
            free(at);
        } else {
            at->next = left;
            left = at;
            last = last ? last : at;
        }
    }
    if (left)
        straightway_keep_(left, last);
    return rc;
}

/* In MPI_Finalize, which deletes the attributes of MPI_COMM_SELF first. */
static inline int straightway_end_(MPI_Comm comm, int key, void *value,
                                   void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return straightway_gone_(1);
}

static inline void straightway_begin_(void)
{
    straightway_list_t_ *list = straightway_list_();
    int key;
    if (__atomic_exchange_n(&list->known, 1, __ATOMIC_RELAXED))
        return;
    if (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, straightway_end_, &key,
                               NULL) == MPI_SUCCESS) {
        MPI_Comm_set_attr(MPI_COMM_SELF, key, list);
        MPI_Comm_free_keyval(&key);
    }
}

/* `bytes` bytes as one element of a type, where an int cannot count them. */
static inline int straightway_type_(size_t bytes, MPI_Datatype *type)
{
    const int piece = 1 << 30;
    int lengths[2], rc;
    MPI_Aint at[2] = {0, 0};
    MPI_Datatype types[2];
    types[1] = MPI_BYTE;
    lengths[0] = (int)(bytes / (size_t)piece);
    lengths[1] = (int)(bytes % (size_t)piece);
    at[1] = (MPI_Aint)(bytes - (size_t)lengths[1]);
    rc = MPI_Type_contiguous(piece, MPI_BYTE, &types[0]);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = MPI_Type_create_struct(2, lengths, at, types, type);
    MPI_Type_free(&types[0]);
    return rc == MPI_SUCCESS ? MPI_Type_commit(type) : rc;
}

/* By value. */
static inline int straightway_send_(void **block, size_t bytes, int dest,
                                    int tag, MPI_Comm comm)
{
    MPI_Datatype type = MPI_BYTE;
    int n = (int)bytes, rc = MPI_SUCCESS;
    straightway_going_t_ *going = (straightway_going_t_ *)malloc(sizeof *going);
    if (!going) {
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    if (bytes > INT_MAX) {
        n = 1;
        rc = straightway_type_(bytes, &type);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Isend(*block, n, type, dest, tag, comm, &going->request);
    if (bytes > INT_MAX && type != MPI_BYTE)
        MPI_Type_free(&type);
    if (rc != MPI_SUCCESS) {
        free(going);
        return rc;
    }
    straightway_begin_();
    going->block = *block;
    *block = NULL;
    straightway_keep_(going, going);
    return straightway_gone_(0);
}

static inline int straightway_alloc(size_t bytes, void **block)
{
    void *(*found)(size_t);
    STRAIGHTWAY_FIND_(found, library_alloc);
    *block = found ? found(bytes) : malloc(bytes ? bytes : 1);
    return *block ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* A block for so many bytes, as *count elements of *type. */
static inline int straightway_room_(size_t bytes, void **block, int *count,
                                    MPI_Datatype *type)
{
    int rc = straightway_alloc(bytes, block);
    *type = MPI_BYTE;
    *count = bytes > INT_MAX ? 1 : (int)bytes;
    return rc == MPI_SUCCESS && bytes > INT_MAX ? straightway_type_(bytes, type)
                                                : rc;
}

/* A matched message, into a fresh block. */
static inline int straightway_copy_(void **block, size_t *bytes,
                                    MPI_Message *message, MPI_Status *status)
{
    MPI_Datatype type = MPI_BYTE;
    MPI_Count length = 0;
    int n, rc = MPI_Get_elements_x(status, MPI_BYTE, &length);
    *bytes = (size_t)length;
    if (rc == MPI_SUCCESS)
        rc = straightway_room_(*bytes, block, &n, &type);
    if (rc == MPI_SUCCESS)
        rc = MPI_Mrecv(*block, n, type, message, status);
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
    return rc;
}

static inline int straightway_give(void **block, size_t bytes, int dest,
                                   int tag, MPI_Comm comm)
{
    int (*found)(void **, size_t, int, int, const void *);
    int rc;
    STRAIGHTWAY_FIND_(found, library_give);
    rc = found ? found(block, bytes, dest, tag, &comm) : STRAIGHTWAY_BY_VALUE;
    return rc == STRAIGHTWAY_BY_VALUE
               ? straightway_send_(block, bytes, dest, tag, comm)
               : rc;
}

static inline int straightway_igive(void **block, size_t bytes, int dest,
                                    int tag, MPI_Comm comm,
                                    MPI_Request *request)
{
    int rc = straightway_give(block, bytes, dest, tag, comm);
    return rc == MPI_SUCCESS
               ? MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, request)
               : rc;
}

static inline int straightway_mtake(void **block, size_t *bytes,
                                    MPI_Message *message, MPI_Status *status)
{
    int (*found)(void **, size_t *, void *, void *);
    int rc;
    STRAIGHTWAY_FIND_(found, library_mtake);
    rc = found ? found(block, bytes, message, status) : STRAIGHTWAY_BY_VALUE;
    return rc == STRAIGHTWAY_BY_VALUE
               ? straightway_copy_(block, bytes, message, status)
               : rc;
}

static inline int straightway_take(void **block, size_t *bytes, int source,
                                   int tag, MPI_Comm comm, MPI_Status *status)
{
    int (*found)(void **, size_t *, int, int, const void *, void *, void *);
    MPI_Status mine, *to = status == MPI_STATUS_IGNORE ? &mine : status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int rc;
    STRAIGHTWAY_FIND_(found, library_take);
    rc = found ? found(block, bytes, source, tag, &comm, &message, to)
               : STRAIGHTWAY_UNMATCHED;
    if (rc == STRAIGHTWAY_UNMATCHED) {
        rc = MPI_Mprobe(source, tag, comm, &message, to);
        rc = rc == MPI_SUCCESS ? STRAIGHTWAY_BY_VALUE : rc;
    }
    return rc == STRAIGHTWAY_BY_VALUE
               ? straightway_copy_(block, bytes, &message, to)
               : rc;
}

static inline int straightway_itake(void **block, size_t most, int source,
                                    int tag, MPI_Comm comm,
                                    MPI_Request *request)
{
    int (*found)(void **, int, const void *, int, int, const void *, void *);
    MPI_Datatype type;
    int n, rc = straightway_room_(most, block, &n, &type);
    if (!*block)
        MPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    STRAIGHTWAY_FIND_(found, library_itake);
    if (rc == MPI_SUCCESS)
        rc = found ? found(block, n, &type, source, tag, &comm, request)
                   : STRAIGHTWAY_BY_VALUE;
    if (rc == STRAIGHTWAY_BY_VALUE)
        rc = MPI_Irecv(*block, n, type, source, tag, comm, request);
    if (type != MPI_BYTE)
        MPI_Type_free(&type);
    if (rc != MPI_SUCCESS) {
        free(*block);
        *block = NULL;
    }
    return rc;
}

#ifdef __cplusplus
}
#endif

#endif
