/*
 * synthetic.c - regular programs, as operations: for tests, and to see how
 * large a machine can be replayed.
 *
 *     halo2d      a grid of ranks, as square as it can be, that wraps around:
 *                 in each iteration four receives and four sends of BYTES to
 *                 the neighbours, a wait for each, then the computation
 *     ring        a receive from the one before and a send to the next
 *     pingpong    pairs of ranks send BYTES to and fro
 *     NAME        of a collective (op.h): that one among all, with blocks of
 *                 BYTES, root 0; then the computation
 */
#include "extrapolate.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    sw_op_writer_t *writer;
    sw_converted_t *done;
    uint32_t ranks, rank, columns;
    uint64_t iterations, bytes;
    sw_ps_t compute;
    bool good;
} program_t;

static void put(program_t *p, const sw_vop_t *op)
{
    p->done->operations++;
    p->good &= sw_op_write(p->writer, p->rank, op);
}

static void compute(program_t *p)
{
    sw_vop_t op = {.kind = SW_OP_COMPUTE, .time = p->compute};
    if (p->compute)
        put(p, &op);
}

static void message(program_t *p, bool sends, uint32_t peer, int32_t tag,
                    uint32_t request)
{
    sw_vop_t op = {.kind = sends ? SW_OP_SEND : SW_OP_RECV,
                   .peer = (int32_t)peer,
                   .tag = tag,
                   .bytes = p->bytes,
                   .request = request};
    put(p, &op);
}

static void wait_for(program_t *p, uint32_t request)
{
    sw_vop_t op = {.kind = SW_OP_WAIT, .request = request};
    put(p, &op);
}

static void halo2d(program_t *p)
{
    uint32_t columns = p->columns, rows = p->ranks / columns;
    uint32_t row = p->rank / columns, column = p->rank % columns;
    uint32_t near[4] = {row * columns + (column + columns - 1) % columns,
                        row * columns + (column + 1) % columns,
                        (row + rows - 1) % rows * columns + column,
                        (row + 1) % rows * columns + column};
    /* What goes to the left comes from the right. */
    for (uint32_t i = 0; i < 4; i++)
        message(p, false, near[i], (int32_t)(i ^ 1), i + 1);
    for (uint32_t i = 0; i < 4; i++)
        message(p, true, near[i], (int32_t)i, i + 5);
    for (uint32_t i = 0; i < 8; i++)
        wait_for(p, i + 1);
}

static void ring(program_t *p)
{
    message(p, false, (p->rank + p->ranks - 1) % p->ranks, 0, 1);
    message(p, true, (p->rank + 1) % p->ranks, 0, 0);
    wait_for(p, 1);
}

static void pingpong(program_t *p)
{
    uint32_t peer = p->rank ^ 1;
    if (peer >= p->ranks)
        return;
    message(p, p->rank < peer, peer, 0, 0);
    message(p, p->rank > peer, peer, 0, 0);
}

static void collective(program_t *p, unsigned what)
{
    sw_waits_t waits = sw_collective_waits[what];
    bool rooted = waits == SW_WAITS_ROOT || waits == SW_WAITS_AT_ROOT;
    bool many = strstr(sw_collective_names[what], "alltoall") != NULL;
    sw_vop_t op = {.kind = SW_OP_COLLECTIVE,
                   .what = (uint8_t)what,
                   .peer = rooted ? 0 : -1};
    if (what != SW_COLLECTIVE_BARRIER) {
        op.bytes = p->bytes;
        op.sent = op.received = many ? p->bytes * p->ranks : p->bytes;
    }
    put(p, &op);
}

static void (*pattern_named(const char *name))(program_t *)
{
    return !strcmp(name, "halo2d")     ? halo2d
           : !strcmp(name, "ring")     ? ring
           : !strcmp(name, "pingpong") ? pingpong
                                       : NULL;
}

static void write_all(program_t *p, void (*pattern)(program_t *), unsigned what)
{
    for (p->rank = 0; p->good && p->rank < p->ranks; p->rank++)
        for (uint64_t i = 0; p->good && i < p->iterations; i++) {
            if (pattern)
                pattern(p);
            else
                collective(p, what);
            compute(p);
        }
}

bool sw_synthetic_ops(char **argv, sw_converted_t *done)
{
    int words = 0;
    uint64_t ranks, compute_ns;
    program_t p = {.done = done, .good = true, .columns = 1};
    while (argv[words])
        words++;
    if (words != 6 || !sw_convert_number(argv[1], "", INT32_MAX, &ranks) ||
        !ranks || !sw_convert_number(argv[2], "", UINT32_MAX, &p.iterations) ||
        !sw_convert_number(argv[3], "", (uint64_t)1 << 40, &p.bytes) ||
        !sw_convert_number(argv[4], "", 1000000000000, &compute_ns))
        return sw_convert_fail("--synthetic PATTERN RANKS ITERATIONS BYTES "
                               "COMPUTE_NS OUT");
    unsigned what = 0;
    void (*pattern)(program_t *) = pattern_named(argv[0]);
    while (!pattern && what < SW_COLLECTIVE_COUNT &&
           strcmp(sw_collective_names[what], argv[0]))
        what++;
    if (what == SW_COLLECTIVE_COUNT)
        return sw_convert_fail("there is no pattern %s; there are halo2d, "
                               "ring, pingpong, and collectives by their "
                               "names (allreduce)",
                               argv[0]);
    p.ranks = (uint32_t)ranks;
    for (uint32_t i = 1; (uint64_t)i * i <= ranks; i++)
        if (ranks % i == 0)
            p.columns = i;
    p.compute = (sw_ps_t)compute_ns * SW_PS_PER_NS;
    char note[256];
    snprintf(note, sizeof note,
             "synthetic %.40s of %llu iterations, %llu "
             "bytes",
             argv[0], (unsigned long long)p.iterations,
             (unsigned long long)p.bytes);
    p.writer = sw_convert_writer(argv[5], p.ranks, note);
    if (!p.writer)
        return false;
    write_all(&p, pattern, what);
    return sw_convert_close(p.writer, true, argv[5]);
}
