/*
 * straightway_mpi.h - messages that cost nothing by size: give a block away
 * instead of sending what it holds.
 *
 *     #include <straightway_mpi.h>
 *
 *     double *field;                                     on one rank
 *     straightway_alloc(n * sizeof *field, (void **)&field);
 *     compute(field);
 *     straightway_give((void **)&field, n * sizeof *field, 1, 0, comm);
 *
 *     double *field;                                     on the other
 *     size_t bytes;
 *     straightway_take((void **)&field, &bytes, 0, 0, comm,
 *                      MPI_STATUS_IGNORE);
 *     use(field);
 *     free(field);
 *
 * The taker uses the giver's block itself. It may write to it, give it on,
 * realloc() it and free() it, like any block of malloc. The giver has lost it:
 * its pointer is NULL.
 *
 * The program links with nothing but MPI. Under `straightway run` the preloaded
 * library hands blocks of 4 KiB and more over between ranks of a node. Without
 * the library, and wherever it cannot, the same calls send the bytes: then
 * straightway_alloc is malloc, a give is MPI_Isend, a take is MPI_Mrecv into a
 * fresh block, and an itake is MPI_Irecv into one. The program sees the same
 * results.
 *
 * A give and a take are a send and a receive of MPI_BYTE. The MPI matches them,
 * in its order, with all others: MPI_Recv may get a block that was given (it
 * copies, and the block is freed), and straightway_take what was sent.
 *
 * All calls return MPI_SUCCESS or an error code of MPI. They raise errors by
 * the communicator's error handler, as MPI does. Any thread may call them where
 * it may call MPI. Between MPI_Init and MPI_Finalize only; but
 * straightway_alloc, and all use of a block, at any time.
 *
 * C99 or later, C++11 or later, gcc or clang, on Linux, MPI 3.0 or later.
 */
#ifndef STRAIGHTWAY_MPI_H
#define STRAIGHTWAY_MPI_H

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include <mpi.h>
#include <straightway.h>

/* For programs in other languages, which look the library's part up with
 * dlsym(RTLD_DEFAULT, ...): NULL where it is not preloaded. `comm` points to
 * an MPI_Comm, `message` to the MPI_Message of a matched probe, `status` to
 * what that has filled. They return STRAIGHTWAY_BY_VALUE where nothing has
 * happened, and the caller sends or receives the bytes. A take makes the
 * matched probe itself. It returns STRAIGHTWAY_UNMATCHED where it has not. An
 * itake posts a receive of `count` elements into *block, which a given block
 * may replace. `type` points to an MPI_Datatype, `request` to an
 * MPI_Request. */
#define STRAIGHTWAY_ALLOC_SYMBOL "straightway_library_alloc"
#define STRAIGHTWAY_GIVE_SYMBOL "straightway_library_give"
#define STRAIGHTWAY_TAKE_SYMBOL "straightway_library_take"
#define STRAIGHTWAY_MTAKE_SYMBOL "straightway_library_mtake"
#define STRAIGHTWAY_ITAKE_SYMBOL "straightway_library_itake"
#define STRAIGHTWAY_BY_VALUE (-1)
#define STRAIGHTWAY_UNMATCHED (-2)
typedef void *(*straightway_alloc_func_t)(size_t bytes);
typedef int (*straightway_give_func_t)(void **block, size_t bytes, int dest,
                                       int tag, const void *comm);
typedef int (*straightway_take_func_t)(void **block, size_t *bytes, int source,
                                       int tag, const void *comm,
                                       void *message, void *status);
typedef int (*straightway_mtake_func_t)(void **block, size_t *bytes,
                                        void *message, void *status);
typedef int (*straightway_itake_func_t)(void **block, int count,
                                        const void *type, int source, int tag,
                                        const void *comm, void *request);

#ifdef __cplusplus
extern "C" {
#endif

/* What follows with a name that ends in _ is this header's own. */

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
    while (__atomic_test_and_set(&straightway_list_()->locked,
                                 __ATOMIC_ACQUIRE))
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
    straightway_going_t_ *going =
        (straightway_going_t_ *)malloc(sizeof *going);
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

/* A matched message, into a fresh block. */
static inline int straightway_copy_(void **block, size_t *bytes,
                                    MPI_Message *message, MPI_Status *status);

/*
 * straightway_alloc(bytes, &block) allocates a block that can be given away,
 * with undefined contents. It returns MPI_ERR_NO_MEM, raises nothing and sets
 * the block to NULL if there is no memory. A block of 0 bytes is one, too.
 */
static inline int straightway_alloc(size_t bytes, void **block)
{
    void *(*found)(size_t);
    STRAIGHTWAY_FIND_(found, library_alloc);
    *block = found ? found(bytes) : malloc(bytes ? bytes : 1);
    return *block ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/*
 * straightway_give(&block, bytes, dest, tag, comm) gives the block away, whose
 * first `bytes` bytes the taker gets, and sets it to NULL. The giver never
 * waits for the taker. By value, it frees the block in a later give, or in
 * MPI_Finalize: until then, the memory is taken twice.
 *
 * `block` comes from straightway_alloc or straightway_take. One of malloc goes
 * by value. On an error the block stays the giver's. MPI_ERR_BUFFER: the
 * pointer is to the middle of a block, or the block was given away before.
 * MPI_ERR_COUNT: the block has fewer bytes. (Without the library nobody finds
 * these.)
 *
 * This call does not block. straightway_igive is for programs that put all they
 * do into one array of requests.
 */
static inline int straightway_give(void **block, size_t bytes, int dest,
                                   int tag, MPI_Comm comm)
{
    int (*found)(void **, size_t, int, int, const void *);
    int rc;
    STRAIGHTWAY_FIND_(found, library_give);
    rc = found ? found(block, bytes, dest, tag, &comm) : STRAIGHTWAY_BY_VALUE;
    return rc == STRAIGHTWAY_BY_VALUE
        ? straightway_send_(block, bytes, dest, tag, comm) : rc;
}

/*
 * straightway_igive(&block, bytes, dest, tag, comm, &request) is the same, with
 * a request that is complete from the beginning. It cannot be cancelled.
 */
static inline int straightway_igive(void **block, size_t bytes, int dest,
                                    int tag, MPI_Comm comm,
                                    MPI_Request *request)
{
    int rc = straightway_give(block, bytes, dest, tag, comm);
    return rc == MPI_SUCCESS
        ? MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, request) : rc;
}

/*
 * straightway_mtake(&block, &bytes, &message, &status) takes a message that
 * MPI_Mprobe or MPI_Improbe has matched. `status` is what that has filled, and
 * not MPI_STATUS_IGNORE. MPI_Improbe and this call take a block of any length
 * without waiting.
 */
static inline int straightway_mtake(void **block, size_t *bytes,
                                    MPI_Message *message, MPI_Status *status)
{
    int (*found)(void **, size_t *, void *, void *);
    int rc;
    STRAIGHTWAY_FIND_(found, library_mtake);
    rc = found ? found(block, bytes, message, status) : STRAIGHTWAY_BY_VALUE;
    return rc == STRAIGHTWAY_BY_VALUE
        ? straightway_copy_(block, bytes, message, status) : rc;
}

/*
 * straightway_take(&block, &bytes, source, tag, comm, &status) waits for a
 * message, given or sent. `block` becomes a block with its bytes, which is the
 * program's to free. MPI_ANY_SOURCE and MPI_ANY_TAG are as with MPI_Recv;
 * from MPI_PROC_NULL comes a block of 0 bytes. `status` may be
 * MPI_STATUS_IGNORE.
 */
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
        ? straightway_copy_(block, bytes, &message, to) : rc;
}

/* A block for so many bytes, as *count elements of *type. */
static inline int straightway_room_(size_t bytes, void **block, int *count,
                                    MPI_Datatype *type)
{
    int rc = straightway_alloc(bytes, block);
    *type = MPI_BYTE;
    *count = bytes > INT_MAX ? 1 : (int)bytes;
    return rc == MPI_SUCCESS && bytes > INT_MAX
        ? straightway_type_(bytes, type) : rc;
}

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

/*
 * straightway_itake(&block, most, source, tag, comm, &request) receives a
 * message of at most `most` bytes, given or sent. `block` becomes a block of
 * `most` bytes at once, and the call replaces it by the block that is given.
 * The variable must stay, and nobody may use it or the block, until the request
 * has completed. After that the block is the program's to free: with a message,
 * with an error, and after MPI_Cancel. MPI_Get_elements_x tells from the
 * status, with MPI_BYTE, how many bytes have come. MPI_ERR_TRUNCATE: more than
 * `most`.
 *
 * The request is a receive's, for every procedure that takes one. After
 * MPI_Request_free the message comes into the first block. `most` costs
 * addresses, and no memory that no message has reached. On an error of this
 * call the block is NULL.
 */
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
