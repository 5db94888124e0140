/*
 * detour.c - see detour.h.
 */
#include "detour.h"

#include "buffer.h"
#include "device/carry.h"
#include "device/memory.h"
#include "layout/pieces.h"
#include "loose.h"
#include "node/base/copy.h"

/* A span of so many times the data's bytes is copied as a whole. */
#define SPAN_MOST 8
#define TRIES 3

/* After this there is no other way: what the driver has refused is tried
 * again. The engine leaves alone what lies in ordinary memory on both sides. */
static bool copy(const void *from, void *to, uint64_t bytes)
{
    const sw_carry_side_t source = {.at = from, .count = (int64_t)bytes};
    const sw_carry_side_t target = {.at = to, .count = (int64_t)bytes};
    for (int i = 0; i < TRIES; i++)
        if (sw_carry(&source, &target, bytes))
            return true;
    bool plain = !sw_device_holds(from) && !sw_device_holds(to);
    if (plain)
        sw_copy(to, from, bytes);
    return plain;
}

/* Runs --------------------------------------------------------------------- */

typedef struct {
    char *data;
    bool out; /* to `data` */
} runs_t;

static int take(void *context, const sw_os_piece_t *piece, int n)
{
    runs_t *r = context;
    for (int i = 0; i < n; i++) {
        void *at = (void *)(uintptr_t)piece[i].at;
        if (!(r->out ? copy(at, r->data, piece[i].bytes)
                     : copy(r->data, at, piece[i].bytes)))
            return 1;
        r->data += piece[i].bytes;
    }
    return 0;
}

static bool by_runs(const void *user, int64_t count, const sw_datatype_t *type,
                    char *data, bool out)
{
    runs_t r = {data, out};
    return sw_layout_pieces(type->layout, (uintptr_t)user, count,
                            (uint64_t)count * type->size, take, &r) == 0;
}

/* The span ----------------------------------------------------------------- */

typedef struct {
    char *user, *room;
    uint64_t bytes;
    void *in_room; /* element 0, if the room were the user's memory */
} span_t;

/* False: it is not worth while, or no device holds it all. */
static bool fetch(const void *user, int64_t count, const sw_datatype_t *type,
                  uint64_t most, span_t *s)
{
    int64_t low = 0, high = 0;
    sw_loose_span(type, count, &low, &high);
    *s = (span_t){.user = (char *)((intptr_t)user + low),
                  .bytes = (uint64_t)(high - low)};
    if (s->bytes > most || !sw_device_holds(s->user) ||
        !(s->room = sw_temporary_try(s->bytes)))
        return false;
    s->in_room = (void *)((intptr_t)s->room - low);
    if (copy(s->user, s->room, s->bytes))
        return true;
    sw_temporary_free(s->room);
    return false;
}

/* -------------------------------------------------------------------------- */

bool sw_detour_pack(const void *user, int64_t count, const sw_datatype_t *type,
                    char *data, MPI_Comm comm)
{
    span_t s;
    uint64_t bytes = (uint64_t)count * type->size;
    if (type->dense)
        return copy(user, data, bytes);
    if (!bytes)
        return true;
    if (fetch(user, count, type, type->layout ? SPAN_MOST * bytes : UINT64_MAX,
              &s)) {
        sw_pack(s.in_room, count, type, data, comm);
        sw_temporary_free(s.room);
        return true;
    }
    return type->layout && by_runs(user, count, type, data, true);
}

bool sw_detour_unpack(const char *data, void *user, int64_t count,
                      const sw_datatype_t *type, MPI_Comm comm)
{
    span_t s;
    uint64_t bytes = (uint64_t)count * type->size;
    if (type->dense)
        return copy(data, user, bytes);
    if (!bytes)
        return true;
    if (type->layout)
        return by_runs(user, count, type, (char *)(uintptr_t)data, false);
    if (!fetch(user, count, type, UINT64_MAX, &s))
        return false;
    sw_unpack(data, s.in_room, count, type, comm);
    bool done = copy(s.room, s.user, s.bytes);
    sw_temporary_free(s.room);
    return done;
}
