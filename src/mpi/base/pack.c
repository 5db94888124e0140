/*
 * pack.c - see pack.h.
 *
 * Packed data are the bytes of the elements in their order and nothing else,
 * in every host that we serve and on every communicator: what either of us has
 * packed, the other unpacks. Where a host is known to err (decode.c), the host
 * does both, so that packing and unpacking agree.
 */
#include "pack.h"

#include "buffer.h"
#include "node/base/settings.h"
#include "node/control.h"
#include "datatype.h"
#include "comm.h"
#include "host.h"
#include "reach.h"

/* May a device hold buffers, and may we pack them? The host may not know it. */
static bool drives(void)
{
    return sw_device_possible() && sw_settings.gpu;
}

/* Looked up in the cache. Of types that are not there one call in some is
 * enough: those that live are met soon, and those made for one call pay
 * little. */
static const sw_datatype_t *known(MPI_Datatype type, MPI_Comm comm)
{
    enum { SOME = 64 };
    static _Thread_local unsigned strangers;
    const sw_datatype_t *d = sw_datatype_cached(type);
    int code;
    if (sw_likely(d) || type == MPI_DATATYPE_NULL ||
        (++strangers % SOME && !drives()))
        return d;
    return sw_datatype(type, comm, &code);
}

/* The type, if `count` elements at `user` and as many bytes at `data`, which
 * has `room` from byte `at` on, are for us; *bytes of them. NULL: the host is
 * to judge. */
static const sw_datatype_t *packs(const void *user, int64_t count,
                                  MPI_Datatype type, const void *data,
                                  int64_t room, int64_t at, MPI_Comm comm,
                                  int64_t *bytes)
{
    const sw_datatype_t *d = NULL;
    if (sw_control_accelerating() && user && user != MPI_IN_PLACE && data &&
        at >= 0)
        d = known(type, comm);
    if (!d || !d->packs || count <= 0 ||
        __builtin_mul_overflow(count, (int64_t)d->size, bytes) ||
        *bytes > room - at || !sw_comm_state(comm))
        return NULL;
    return d;
}

/* Are the elements, or the packed bytes, in a device's memory? */
static bool is_devices(const void *user, const sw_datatype_t *d,
                       const void *data)
{
    return sw_out_of_reach(user, d) || sw_device_holds(data);
}

/* Does a device pack what one holds? False: the host does. */
static bool carry(bool known, const sw_carry_side_t *from,
                  const sw_carry_side_t *to, int64_t bytes)
{
    return sw_settings.gpu && known && sw_carry(from, to, (uint64_t)bytes);
}

bool sw_pack_into(const void *inbuf, int64_t incount, MPI_Datatype datatype,
                  void *outbuf, int64_t outsize, int64_t *position,
                  MPI_Comm comm)
{
    int64_t bytes;
    const sw_datatype_t *d = packs(inbuf, incount, datatype, outbuf, outsize,
                                   *position, comm, &bytes);
    if (!d)
        return false;
    char *to = (char *)outbuf + *position;
    if (sw_unlikely(is_devices(inbuf, d, to))) {
        sw_carry_side_t in, out = sw_reach_packed(to, (size_t)bytes);
        if (!carry(sw_reach_side(inbuf, incount, d, &in), &in, &out, bytes))
            return false;
    } else {
        sw_pack(inbuf, incount, d, to, comm);
    }
    *position += bytes;
    return true;
}

bool sw_pack_from(const void *inbuf, int64_t insize, int64_t *position,
                  void *outbuf, int64_t outcount, MPI_Datatype datatype,
                  MPI_Comm comm)
{
    int64_t bytes;
    const sw_datatype_t *d = packs(outbuf, outcount, datatype, inbuf, insize,
                                   *position, comm, &bytes);
    if (!d)
        return false;
    const char *from = (const char *)inbuf + *position;
    if (sw_unlikely(is_devices(outbuf, d, from))) {
        sw_carry_side_t in = sw_reach_packed(from, (size_t)bytes), out;
        if (!carry(sw_reach_side(outbuf, outcount, d, &out), &in, &out, bytes))
            return false;
    } else {
        sw_unpack(from, outbuf, outcount, d, comm);
    }
    *position += bytes;
    return true;
}
