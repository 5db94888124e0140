/*
 * smpi_write.c - operations as time-independent traces, which SimGrid's SMPI
 * replays.
 *
 * OUT lists the ranks' files, OUT.rank0 and so on, a line for each action:
 *
 *     RANK init                            sizes are in bytes
 *     RANK compute FLOPS
 *     RANK send|recv|isend|irecv PEER TAG BYTES
 *     RANK wait SOURCE DESTINATION TAG
 *     RANK barrier | bcast BYTES ROOT | reduce BYTES FLOPS ROOT | ...
 *     RANK finalize
 *
 * A request is known there by its ranks and tag alone. So tags are numbers of
 * their own: messages under way at once have different ones. Replayed actions
 * know one communicator; collectives of others become messages, as do those
 * that the format lacks. Where blocks differ, all get their mean.
 */
#include "expand.h"

#include "node/base/grow.h"
#include "node/os/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 1024 /* messages of one tag under way, at most */

typedef struct {
    const char *in;
    FILE *to;
    sw_expand_t expand;
    sw_converted_t *done;
    double flops;
    uint32_t rank;
    sw_lookup_t numbers;  /* (peer, way, context, tag) -> messages so far */
    sw_lookup_t requests; /* request -> place in `waits`, and 1 */
    struct wait {
        uint32_t from, to, tag, next; /* next: of the same request, and 1 */
    } *waits;
    uint32_t wait_count, wait_room, wait_free;
} smpi_t;

static bool add_wait(smpi_t *s, uint32_t request, uint32_t from, uint32_t to,
                     uint32_t tag)
{
    uint32_t place = s->wait_free;
    if (place) {
        s->wait_free = s->waits[place - 1].next;
    } else {
        if (!sw_grow(&s->waits, s->wait_count, &s->wait_room, sizeof *s->waits))
            return s->expand.memory = false;
        place = ++s->wait_count;
    }
    uint64_t *first = sw_lookup_put(&s->requests, request);
    if (!first)
        return s->expand.memory = false;
    s->waits[place - 1] = (struct wait){from, to, tag, (uint32_t)*first};
    *first = place;
    return true;
}

static void end_request(smpi_t *s, uint32_t request)
{
    uint64_t *first = sw_lookup_get(&s->requests, request);
    for (uint32_t place = first ? (uint32_t)*first : 0; place;) {
        struct wait *w = &s->waits[place - 1];
        fprintf(s->to, "%u wait %u %u %u\n", s->rank, w->from, w->to, w->tag);
        uint32_t next = w->next;
        w->next = s->wait_free;
        s->wait_free = place;
        place = next;
    }
    sw_lookup_remove(&s->requests, request);
}

/* The tag of the next message of a way: the k-th has another than the next. */
static uint32_t next_tag(smpi_t *s, bool sends, uint32_t peer, uint32_t context,
                         uint64_t tag)
{
    uint32_t one = sw_expand_tag(&s->expand, context, tag);
    uint64_t key = ((uint64_t)one << 32 | peer) << 1 | sends;
    uint64_t *n = sw_lookup_put(&s->numbers, key);
    if (!n) {
        s->expand.memory = false;
        return 0;
    }
    return sw_expand_tag(&s->expand, UINT32_MAX >> 9,
                         (uint64_t)one * AT_ONCE + (*n)++ % AT_ONCE);
}

static void put_message(smpi_t *s, bool sends, uint32_t peer, uint32_t tag,
                        uint64_t bytes, uint32_t request)
{
    s->done->operations++;
    fprintf(s->to, "%u %s %u %u %llu\n", s->rank,
            sends     ? request ? "isend" : "send"
            : request ? "irecv"
                      : "recv",
            peer, tag, (unsigned long long)bytes);
    if (request)
        add_wait(s, request, sends ? s->rank : peer, sends ? peer : s->rank,
                 tag);
}

static bool message(smpi_t *s, const sw_vop_t *op)
{
    if (op->peer < 0 || op->tag < 0)
        return sw_convert_fail("%s: rank %u receives from any source or with "
                               "any tag, which SMPI's traces cannot say",
                               s->in, s->rank);
    bool sends = op->kind == SW_OP_SEND;
    s->done->flags += (op->flags & ~SW_SEND_GIVEN) != 0;
    uint32_t tag = next_tag(s, sends, (uint32_t)op->peer, op->context,
                            (uint64_t)op->tag);
    put_message(s, sends, (uint32_t)op->peer, tag, op->bytes, op->request);
    return true;
}

static void expanded(smpi_t *s, const sw_vop_t *op, const sw_expanded_t *call)
{
    sw_step_t step;
    uint64_t tag = SW_EXPAND_COLLECTIVE | call->nth;
    s->done->expanded++;
    for (uint32_t k = 0; sw_expand_step(&s->expand, call, k, &step); k++) {
        uint32_t request = UINT32_MAX;
        if (step.from != SW_STEP_NOBODY)
            put_message(s, false, step.from,
                        next_tag(s, false, step.from, op->context, tag),
                        step.received, request);
        if (step.to != SW_STEP_NOBODY)
            put_message(s, true, step.to,
                        next_tag(s, true, step.to, op->context, tag), step.sent,
                        request);
        end_request(s, request);
    }
}

static void collective(smpi_t *s, const sw_vop_t *op)
{
    sw_expanded_t call;
    sw_expand_call(&s->expand, s->rank, op, &call);
    unsigned long long bytes = call.call.bytes;
    unsigned root = call.call.root, n = s->expand.ranks;
    s->done->operations++;
    if (op->tag || !sw_expand_world(&s->expand, op->context)) {
        expanded(s, op, &call);
        return;
    }
    bool mean = false;
    switch (op->what) {
    case SW_COLLECTIVE_OTHER:
    case SW_COLLECTIVE_FENCE:
    case SW_COLLECTIVE_BARRIER: fprintf(s->to, "%u barrier\n", s->rank); break;
    case SW_COLLECTIVE_BCAST:
        fprintf(s->to, "%u bcast %llu %u\n", s->rank, bytes, root);
        break;
    case SW_COLLECTIVE_REDUCE:
        fprintf(s->to, "%u reduce %llu 0 %u\n", s->rank, bytes, root);
        break;
    case SW_COLLECTIVE_ALLREDUCE:
        fprintf(s->to, "%u allreduce %llu 0\n", s->rank, bytes);
        break;
    case SW_COLLECTIVE_REDUCE_SCATTER:
        mean = true;
        /* fall through */
    case SW_COLLECTIVE_REDUCE_SCATTER_BLOCK:
        fprintf(s->to, "%u reducescatter", s->rank);
        for (unsigned i = 0; i < n; i++)
            fprintf(s->to, " %llu", bytes);
        fprintf(s->to, " 0\n");
        break;
    case SW_COLLECTIVE_GATHERV:
    case SW_COLLECTIVE_SCATTERV:
        mean = true;
        /* fall through */
    case SW_COLLECTIVE_GATHER:
    case SW_COLLECTIVE_SCATTER:
        fprintf(s->to, "%u %s %llu %llu %u\n", s->rank,
                op->what == SW_COLLECTIVE_GATHER ||
                        op->what == SW_COLLECTIVE_GATHERV
                    ? "gather"
                    : "scatter",
                bytes, bytes, root);
        break;
    case SW_COLLECTIVE_ALLGATHERV:
    case SW_COLLECTIVE_ALLTOALLV:
    case SW_COLLECTIVE_ALLTOALLW:
        mean = true;
        /* fall through */
    case SW_COLLECTIVE_ALLGATHER:
    case SW_COLLECTIVE_ALLTOALL:
        fprintf(s->to, "%u %s %llu %llu\n", s->rank,
                op->what == SW_COLLECTIVE_ALLGATHER ||
                        op->what == SW_COLLECTIVE_ALLGATHERV
                    ? "allgather"
                    : "alltoall",
                bytes, bytes);
        break;
    default: expanded(s, op, &call); break;
    }
    s->done->means += mean;
}

static bool put_op(smpi_t *s, const sw_vop_t *op)
{
    switch (op->kind) {
    case SW_OP_COMPUTE:
        s->done->operations++;
        fprintf(s->to, "%u compute %.17g\n", s->rank,
                (double)op->time * 1e-12 * s->flops);
        return true;
    case SW_OP_SEND:
    case SW_OP_RECV: return message(s, op);
    case SW_OP_COLLECTIVE: collective(s, op); return true;
    case SW_OP_WAIT:
    case SW_OP_DROP: end_request(s, op->request); return true;
    case SW_OP_WINDOW: s->done->unmodelled++; return true;
    case SW_OP_SECTION: s->done->sections++; return true;
    default: return true;
    }
}

static bool put_rank(smpi_t *s, sw_op_file_t *ops, FILE *list, const char *out)
{
    sw_op_source_t source;
    sw_vop_t op;
    size_t n = strlen(out) + 32;
    char *path = malloc(n);
    if (!path)
        return sw_convert_fail("%s: no memory", s->in);
    snprintf(path, n, "%s.rank%u", out, s->rank);
    const char *slash = strrchr(path, '/');
    fprintf(list, "%s\n", slash ? slash + 1 : path);
    int fd = sw_os_open_new(path);
    s->to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!s->to) {
        sw_convert_fail("%s: %s", path, strerror(errno));
        free(path);
        return false;
    }
    sw_op_source(ops, &source);
    sw_lookup_clear(&s->numbers);
    sw_lookup_clear(&s->requests);
    s->wait_count = s->wait_free = 0;
    fprintf(s->to, "%u init\n", s->rank);
    bool good = true;
    while (good && s->expand.memory &&
           source.next(source.of, s->rank, &op) == SW_SOURCE_OP)
        good = put_op(s, &op);
    fprintf(s->to, "%u finalize\n", s->rank);
    bool written = !ferror(s->to);
    written &= !fclose(s->to);
    if (good && !written)
        good = sw_convert_fail("%s: %s", path, strerror(errno));
    free(path);
    return good &&
           (s->expand.memory || sw_convert_fail("%s: no memory", s->in));
}

static void remove_all(const char *out, uint32_t ranks)
{
    size_t n = strlen(out) + 32;
    char *path = malloc(n);
    for (uint32_t i = 0; path && i < ranks; i++) {
        snprintf(path, n, "%s.rank%u", out, i);
        remove(path);
    }
    remove(out);
    free(path);
}

bool sw_ops_to_smpi(const char *in, const char *out, const sw_convert_t *how,
                    sw_converted_t *done)
{
    char why[1024];
    smpi_t s = {.in = in, .done = done, .flops = how->flops};
    sw_op_file_t *ops = sw_op_open(in, why, sizeof why);
    if (!ops)
        return sw_convert_fail("%s", why);
    FILE *list = NULL;
    bool good = sw_expand_begin(&s.expand, ops, how, in);
    if (good && s.expand.graph)
        good = sw_convert_fail("%s: what comes first there depends on which "
                               "message is earlier, or a rank has several "
                               "processors; SMPI's traces are sequences. From "
                               "GOAL, take the file's order (--file-order)",
                               in);
    good = good && (list = sw_convert_open_text(out));
    for (s.rank = 0; good && s.rank < sw_op_ranks(ops); s.rank++)
        good = put_rank(&s, ops, list, out);
    if (list)
        good = sw_convert_close_text(list, true, out) && good;
    if (list && !good)
        remove_all(out, s.rank);
    done->damaged = sw_op_damaged(ops);
    free(s.waits);
    sw_lookup_free(&s.numbers);
    sw_lookup_free(&s.requests);
    sw_expand_end(&s.expand);
    sw_op_close(ops);
    return good;
}
