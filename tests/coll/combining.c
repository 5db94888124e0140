/*
 * combining.c - Reduce, Allreduce, Reduce_scatter, Scan and Exscan give what
 * combining the members' operands in rank order gives: with kernels and with
 * users' functions, commutative or not, in place or not, of any length.
 *
 * A sum of doubles depends on how operands are grouped: those of all members as
 * recursive doubling groups them, by every path, and those of a scan one after
 * the other. All members have the same bits, and have them again a second time.
 */
#include "everywhere.h"
#include "operators.h"

typedef struct {
    operator_t o;
    uint64_t round;
    size_t n; /* elements of a whole operand */
    bool in_place;
} job_t;

static job_t pick_job(member_t *m, int round)
{
    job_t j = {.round = (uint64_t)round};
    j.o = operator_of(below(&m->common, OPERATORS));
    size_t bytes = pick_size(m, 1);
    j.n = bytes / j.o.r.elem + draw(&m->common) % 2;
    j.in_place = below(&m->common, 2);
    return j;
}

/* My operand, in a buffer of its own or in the result's. */
static char *operands(member_t *m, const job_t *j, char *out)
{
    size_t bytes = j->n * j->o.r.elem;
    char *in = out ? out : take_buffer(m, bytes);
    operand(&j->o, in, j->n, key_of(j->round, m->me, 0));
    return in;
}

static void compare(member_t *m, const job_t *j, const char *what,
                    const char *got, const char *want, size_t count, bool near)
{
    if (!right_result(&j->o, got, want, count, near))
        fail(m, "%s of %zu elements (%s%s) is wrong", what, j->n, j->o.name,
             j->in_place ? ", in place" : "");
}

static void expect_result(member_t *m, const job_t *j, const char *what,
                          const char *got, size_t start, size_t count,
                          bool near)
{
    char *want = in_tree(&j->o, j->round, m->n, j->n);
    compare(m, j, what, got, want + start * j->o.r.elem, count, near);
    free(want);
}

/* Do the operands climb the tree of the machine? */
static bool climbs(const member_t *m, size_t bytes)
{
    return m->n > SW_FLAT && bytes <= m->seq->team->stage_max;
}

static void reduce(member_t *m, const job_t *j)
{
    int root = below(&m->common, m->n);
    bool is_root = m->me == root;
    size_t bytes = j->n * j->o.r.elem;
    char *out = is_root ? take_buffer(m, bytes) : NULL;
    char *in = operands(m, j, j->in_place ? out : NULL);
    expect_ok(m, sw_coll_reduce(m->seq, root, &j->o.r, in, out, j->n));
    if (is_root)
        expect_result(m, j, "reduce", out, 0, j->n, climbs(m, bytes));
}

static uint64_t hash(const char *p, size_t n)
{
    uint64_t h = n;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (uint8_t)p[i]) * 0x100000001b3u;
    return h;
}

static void allreduce(member_t *m, const job_t *j)
{
    size_t bytes = j->n * j->o.r.elem;
    char *out = take_buffer(m, bytes);
    char *in = operands(m, j, j->in_place ? out : NULL);
    expect_ok(m, sw_coll_allreduce(m->seq, &j->o.r, in, out, j->n));
    if (!j->in_place && j->o.exact)
        expect_data(m, in, bytes, key_of(j->round, m->me, 0),
                    "the operand after allreduce");
    expect_result(m, j, "allreduce", out, 0, j->n, climbs(m, bytes));
    uint64_t mine = hash(out, bytes), all[FORKED_MAX];
    sw_blocks_t blocks = {.bytes = 8};
    expect_ok(m, sw_coll_allgather(m->seq, PLAIN(&mine), 8, all, &blocks));
    for (int i = 0; i < m->n; i++)
        if (all[i] != mine)
            fail(m, "allreduce (%s): member %d has other bits", j->o.name, i);
    char *in2 = operands(m, j, NULL), *out2 = take_buffer(m, bytes);
    expect_ok(m, sw_coll_allreduce(m->seq, &j->o.r, in2, out2, j->n));
    if (hash(out2, bytes) != mine)
        fail(m, "allreduce (%s): other bits the second time", j->o.name);
}

static void reduce_scatter(member_t *m, job_t *j)
{
    size_t counts[64], start = 0, total = 0;
    bool listed = below(&m->common, 2);
    size_t each = j->n / (size_t)m->n;
    for (int i = 0; i < m->n; i++) {
        counts[i] = listed ? draw(&m->common) % (2 * each + 1) : each;
        if (i < m->me)
            start += counts[i];
        total += counts[i];
    }
    j->n = total;
    size_t mine = counts[m->me], elem = j->o.r.elem;
    char *out = take_buffer(m, (j->in_place ? total : mine) * elem);
    char *in = operands(m, j, j->in_place ? out : NULL);
    expect_ok(m, sw_coll_reduce_scatter(m->seq, &j->o.r, in, out,
                                        listed ? counts : NULL, each));
    expect_result(m, j, "reduce_scatter", out, start, mine, false);
}

static void scan(member_t *m, const job_t *j)
{
    bool exclusive = below(&m->common, 2);
    size_t bytes = j->n * j->o.r.elem;
    char *out = take_buffer(m, bytes);
    char *in = operands(m, j, j->in_place ? out : NULL);
    expect_ok(m, sw_coll_scan(m->seq, exclusive, &j->o.r, in, out, j->n));
    int last = m->me - exclusive;
    if (last >= 0) {
        char *want = in_line(&j->o, j->round, 0, last, j->n);
        compare(m, j, exclusive ? "exscan" : "scan", out, want, j->n, false);
        free(want);
    } else if (!j->in_place) {
        for (size_t i = 0; i < bytes; i++)
            if (out[i] != (char)0xa5)
                fail(m, "exscan has written member 0's result");
    }
}

static void body(member_t *m)
{
    int count = rounds(m->n > 9 ? 16 : 50);
    for (int round = 0; round < count; round++) {
        job_t j = pick_job(m, round);
        dawdle(m);
        switch (below(&m->common, 4)) {
        case 0: reduce(m, &j); break;
        case 1: allreduce(m, &j); break;
        case 2: reduce_scatter(m, &j); break;
        default: scan(m, &j);
        }
        release_buffers(m);
    }
}

int main(int argc, char **argv)
{
    return run_everywhere(argc, argv, body);
}
