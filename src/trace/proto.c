/*
 * proto.c - see proto.h.
 */
#include "proto.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define MUCH ((size_t)1 << 20)

bool sw_proto_grow(sw_proto_t *p, size_t n)
{
    size_t room = sw_max(2 * p->room, p->size + n + MUCH);
    unsigned char *to = p->error ? NULL : realloc(p->at, room);
    if (!to) {
        sw_proto_lost(p);
        return false;
    }
    p->at = to;
    p->room = room;
    return true;
}

void sw_proto_lost(sw_proto_t *p)
{
    p->error = p->error ? p->error : ENOMEM;
}

void sw_proto_flush(sw_proto_t *p, bool all)
{
    if (sw_likely(p->size < MUCH && !all))
        return;
    for (size_t done = 0; done < p->size && !p->error;) {
        ssize_t n = write(p->fd, p->at + done, p->size - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            p->error = errno;
    }
    p->written += p->size;
    p->size = 0;
}

void sw_proto_free(sw_proto_t *p)
{
    free(p->at);
    *p = (sw_proto_t){.fd = -1};
}

void sw_proto_close_long(sw_proto_t *p, size_t from)
{
    size_t n = p->size - from, more = 0;
    for (size_t rest = n; rest >= 0x80; rest >>= 7)
        more++;
    if (!sw_proto_room(p, more))
        return;
    memmove(p->at + from + more, p->at + from, n);
    p->size = from - 1;
    sw_proto_varint(p, n);
    p->size += n;
}
