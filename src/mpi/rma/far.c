/*
 * far.c - see far.h.
 */
#include "far.h"

#include "layout/pieces.h"
#include "mpi/base/buffer.h"

#include <errno.h>

typedef struct {
    pid_t pid;
    bool put;
    char *data; /* the next byte */
} mover_t;

static int move(void *context, const sw_os_piece_t *piece, int n)
{
    mover_t *m = context;
    int result = sw_os_cma_pieces(m->pid, m->put, m->data, piece, n);
    for (int i = 0; i < n; i++)
        m->data += piece[i].bytes;
    return result;
}

/* Bytes of which something becomes not zero, when the host unpacks ones over
 * zeros, are the data's. */
static int move_marks(mover_t *m, const sw_access_t *a, size_t bytes,
                      char *image, char *marks, char *packed)
{
    MPI_Comm comm = sw_datatype_comm(MPI_COMM_WORLD);
    char *data = m->data;
    int result = 0;
    memset(packed, 0, a->bytes);
    memset(packed, 0xff, bytes);
    memset(marks, 0, a->span);
    sw_unpack(packed, marks + a->before, a->count, a->type, comm);
    if (m->put) {
        sw_copy(packed, data, bytes);
        sw_unpack(packed, image + a->before, a->count, a->type, comm);
    }
    for (size_t end, i = 0; i < a->span && result == 0; i = end) {
        for (end = i; end < a->span && !marks[end] == !marks[i]; end++)
            ;
        sw_os_piece_t piece = {(uintptr_t)a->at - a->before + i, end - i};
        m->data = image + i;
        if (marks[i])
            result = move(m, &piece, 1);
    }
    if (!m->put && result == 0) {
        sw_pack(image + a->before, a->count, a->type, packed, comm);
        sw_copy(data, packed, bytes);
    }
    return result;
}

/* A type that the host alone understands. */
static int move_marked(mover_t *m, const sw_access_t *a, size_t bytes)
{
    char *image = sw_temporary_try(a->span), *marks = sw_temporary_try(a->span);
    char *packed = sw_temporary_try(a->bytes);
    int result = -1;
    if (image && marks && packed)
        result = move_marks(m, a, bytes, image, marks, packed);
    else
        errno = ENOMEM;
    sw_temporary_free(image);
    sw_temporary_free(marks);
    sw_temporary_free(packed);
    return result;
}

static int move_all(mover_t *m, const sw_access_t *a, size_t bytes)
{
    sw_os_piece_t whole = {(uintptr_t)a->at, bytes};
    int saved = errno;
    int result = a->type->dense    ? move(m, &whole, 1)
                 : a->type->layout ? sw_layout_pieces(a->type->layout, whole.at,
                                                      a->count, bytes, move, m)
                                   : move_marked(m, a, bytes);
    int error = result == 0       ? MPI_SUCCESS
                : errno == EFAULT ? MPI_ERR_RMA_RANGE
                : errno == ENOMEM ? MPI_ERR_NO_MEM
                                  : MPI_ERR_OTHER;
    errno = saved;
    return error;
}

int sw_far_put(const sw_access_t *to, const void *data, size_t bytes)
{
    mover_t m = {to->far->card.pid, true, (char *)(uintptr_t)data};
    return move_all(&m, to, bytes);
}

int sw_far_get(const sw_access_t *from, void *data, size_t bytes)
{
    mover_t m = {from->far->card.pid, false, data};
    return move_all(&m, from, bytes);
}
