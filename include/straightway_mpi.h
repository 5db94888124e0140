/*
 * straightway_mpi.h - messages whose cost does not grow with their size: a rank
 * gives a block away instead of sending its bytes.
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
 * The taker uses the giver's block itself. The taker may write to the block,
 * give it on, realloc() it and free() it, like any block of malloc. The giver
 * has lost the block: its pointer is NULL.
 *
 * The program links with nothing but MPI. Under `straightway run` the preloaded
 * library hands blocks of 4 KiB and more over between ranks of a node. Without
 * the library, and where it cannot hand a block over, the same calls send the
 * bytes: then straightway_alloc is malloc, a give is MPI_Isend, a take is
 * MPI_Mrecv into a fresh block, and an itake is MPI_Irecv into one. The program
 * sees the same results.
 *
 * A give and a take are a send and a receive of MPI_BYTE. The MPI matches them,
 * in its order, with all others: MPI_Recv may get a given block (the library
 * copies the bytes and frees the block), and straightway_take a message that
 * was sent.
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

#include <stddef.h>

#include <mpi.h>
#include <straightway.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * straightway_alloc(bytes, &block) allocates a block that can be given away,
 * with undefined contents. It returns MPI_ERR_NO_MEM, raises nothing and sets
 * the block to NULL if there is no memory. A block of 0 bytes is one, too.
 */
static inline int straightway_alloc(size_t bytes, void **block);

/*
 * straightway_give(&block, bytes, dest, tag, comm) gives the block away, whose
 * first `bytes` bytes the taker gets, and sets it to NULL. The giver never
 * waits for the taker. By value, it frees the block in a later give, or in
 * MPI_Finalize: until then, the memory is taken twice.
 *
 * `block` comes from straightway_alloc or straightway_take. One of malloc goes
 * by value. On an error the block stays the giver's. MPI_ERR_BUFFER: the
 * pointer is to the middle of a block, or the block was given away before.
 * MPI_ERR_COUNT: the block has fewer bytes. (Without the library no call
 * finds these.)
 *
 * This call does not block. straightway_igive is for programs that put all they
 * do into one array of requests.
 */
static inline int straightway_give(void **block, size_t bytes, int dest,
                                   int tag, MPI_Comm comm);

/*
 * straightway_igive(&block, bytes, dest, tag, comm, &request) is the same, with
 * a request that is complete from the beginning. It cannot be cancelled.
 */
static inline int straightway_igive(void **block, size_t bytes, int dest,
                                    int tag, MPI_Comm comm,
                                    MPI_Request *request);

/*
 * straightway_take(&block, &bytes, source, tag, comm, &status) waits for a
 * message, given or sent. `block` becomes a block with its bytes, which is the
 * program's to free. MPI_ANY_SOURCE and MPI_ANY_TAG are as with MPI_Recv;
 * from MPI_PROC_NULL comes a block of 0 bytes. `status` may be
 * MPI_STATUS_IGNORE.
 */
static inline int straightway_take(void **block, size_t *bytes, int source,
                                   int tag, MPI_Comm comm, MPI_Status *status);

/*
 * straightway_mtake(&block, &bytes, &message, &status) takes a message that
 * MPI_Mprobe or MPI_Improbe has matched. `status` is what that has filled, and
 * not MPI_STATUS_IGNORE. MPI_Improbe and this call take a block of any length
 * without waiting.
 */
static inline int straightway_mtake(void **block, size_t *bytes,
                                    MPI_Message *message, MPI_Status *status);

/*
 * straightway_itake(&block, most, source, tag, comm, &request) receives a
 * message of at most `most` bytes, given or sent. `block` becomes a block of
 * `most` bytes at once, and the call replaces it by the block that is given.
 * The variable must stay until the request has completed. Until then the
 * program uses neither it nor the block. After that the block is the program's
 * to free: with a message, with an error, and after MPI_Cancel.
 * MPI_Get_elements_x tells from the status, with MPI_BYTE, how many bytes have
 * come. MPI_ERR_TRUNCATE: more than `most`.
 *
 * The request is a receive's, for every procedure that takes one. After
 * MPI_Request_free the message comes into the first block. `most` costs
 * addresses, and no memory that no message has reached. On an error of this
 * call the block is NULL.
 */
static inline int straightway_itake(void **block, size_t most, int source,
                                    int tag, MPI_Comm comm,
                                    MPI_Request *request);

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
                                       int tag, const void *comm, void *message,
                                       void *status);
typedef int (*straightway_mtake_func_t)(void **block, size_t *bytes,
                                        void *message, void *status);
typedef int (*straightway_itake_func_t)(void **block, int count,
                                        const void *type, int source, int tag,
                                        const void *comm, void *request);

#ifdef __cplusplus
}
#endif

#include <straightway_mpi_inline.h>

#endif
