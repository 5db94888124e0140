/*
 * recv_buffer.h - the buffer of a receive, and what it shows of its message.
 */
#ifndef SW_MPI_BASE_RECV_BUFFER_H
#define SW_MPI_BASE_RECV_BUFFER_H

#include "datatype.h"
#include "link.h"

/* Where a message goes. Open MPI receives into the program's buffer,
 * whatever its type. MPICH and its kin refuse some messages that end within an
 * element, as a descriptor may: of elements with gaps they are given `block`
 * and as many MPI_PACKED, and our layout distributes what comes. (Not of those
 * that are too small for a descriptor, unless by mistake.) */
typedef struct {
    void *buffer;
    int64_t count;
    const sw_datatype_t *type;
    char *block;            /* to be freed by sw_temporary_free; NULL: the host
                             * has got the buffer */
    bool away;              /* a device's memory: the host touches it alone */
} sw_recv_buffer_t;

/* Bytes of data that it has room for. */
static inline size_t sw_recv_buffer_room(const sw_recv_buffer_t *in)
{
    return (size_t)in->count * in->type->size;
}

/* Does the buffer show at a glance what has come? */
static inline bool sw_recv_buffer_shows(const sw_recv_buffer_t *in)
{
    return in->type->dense && in->buffer && !in->away;
}

/* Nobody sends messages as long as a descriptor, and a dense buffer does not
 * begin with the cookie: then no descriptor has come, whatever the status. */
static inline bool sw_plainly_none(const sw_recv_buffer_t *in)
{
    return sw_recv_buffer_shows(in) && !sw_slots_warned() &&
           !sw_descriptor_begins(in->buffer, &sw_link_cookie);
}

#endif
