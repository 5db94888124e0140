/*
 * mismatch.c - members call with different sizes, roots or collectives. They
 * get an error where they can see the difference. No member hangs or writes
 * beyond a buffer: a wrong program fares no worse here than under an MPI.
 */
#include "forked.h"

#define BIG 200000

/* A sender with more than the receiver has room for. */
static void too_long(member_t *m)
{
    static const size_t sizes[] = {1, 50, 104, 3000, BIG};
    for (size_t s = 1; s < sizeof sizes / sizeof *sizes; s++)
        for (int root = 0; root < m->n; root++) {
            bool short_one = m->me == (root + 1) % m->n;
            size_t bytes = sizes[s] - (short_one ? 1 : 0);
            char *p = take_buffer(m, bytes);
            int rc = sw_coll_bcast(m->seq, root, PLAIN(p), bytes);
            int want = short_one ? SW_TRUNCATED : SW_OK;
            if (rc != want && m->n <= SW_FLAT)
                fail(m, "bcast: %d, not %d", rc, want);
            release_buffers(m); /* and its guards are whole */

            /* Member root + 1 expects less than the members send. */
            sw_extent_t list[64];
            for (int i = 0; i < m->n; i++)
                list[i] = (sw_extent_t){(int64_t)((size_t)i * sizes[s]),
                                        sizes[s] - (short_one && i == root)};
            sw_blocks_t blocks = {.list = list};
            char *send = take_buffer(m, sizes[s]);
            char *recv = take_buffer(m, sizes[s] * (size_t)m->n);
            rc = sw_coll_allgather(m->seq, PLAIN(send), sizes[s], recv,
                                   &blocks);
            if (rc != want)
                fail(m, "allgather: %d, not %d", rc, want);
            release_buffers(m);
            sw_blocks_t all = {.bytes = sizes[s]};
            recv = take_buffer(m, bytes);
            send = take_buffer(m, sizes[s] * (size_t)m->n);
            rc = sw_coll_scatter(m->seq, root, send, &all, PLAIN(recv), bytes);
            if (rc != want)
                fail(m, "scatter: %d, not %d", rc, want);
            release_buffers(m);
        }
}

/* The root of a gather has less room than the members send: it gets an error,
 * and the senders leave. */
static void no_room(member_t *m)
{
    static const size_t sizes[] = {50, 104, 3000, 32768, BIG};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int root = (int)s % m->n;
        size_t less = sizes[s] / 100, bytes = m->me == root ? less : sizes[s];
        char *send = take_buffer(m, bytes);
        char *recv = take_buffer(m, less * (size_t)m->n);
        sw_blocks_t blocks = {.bytes = bytes};
        int rc = sw_coll_gather(m->seq, root, PLAIN(send), bytes, recv,
                                &blocks);
        /* A root that expects nothing does not look. */
        if (m->me == root && less && rc == SW_OK)
            fail(m, "gather of %zu into %zu went well", sizes[s], less);
        release_buffers(m);
    }
}

/* Operands of different length: every member that combines them gets an error.
 * The members then go on in step. */
static void lengths(member_t *m)
{
    static const size_t sizes[] = {1, 100, 2000, BIG};
    sw_reducer_t sum = {1, true, sw_reduce_kernel(SW_SUM, SW_UINT8), NULL};
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            if (a == b)
                continue;
            size_t n = sizes[m->me == 1 ? a : b];
            char *in = take_buffer(m, n), *out = take_buffer(m, n);
            int rc = sw_coll_allreduce(m->seq, &sum, in, out, n);
            if (rc == SW_OK)
                fail(m, "allreduce of %zu and %zu went well", sizes[a],
                     sizes[b]);
            release_buffers(m);
            in = take_buffer(m, n);
            out = take_buffer(m, n);
            rc = sw_coll_reduce(m->seq, 0, &sum, in, out, n);
            if (m->me == 0 && rc == SW_OK)
                fail(m, "reduce of %zu and %zu went well", sizes[a], sizes[b]);
            release_buffers(m);
            expect_ok(m, sw_coll_barrier(m->seq));
        }
}

/* Member 1 calls something else. Some member gets an error, unless member 1's
 * call only sends. The test leaves out what deadlocks under any MPI: a member
 * waits for member 0 to send while 0 waits to receive from it. */
#define SENDS_ONLY 8
#define FITS_SLOT 32768

static int call(member_t *m, int which, size_t bytes, char *a, char *b)
{
    sw_reducer_t sum = {1, true, sw_reduce_kernel(SW_SUM, SW_UINT8), NULL};
    sw_blocks_t blocks = {.bytes = bytes};
    switch (which) {
    case 0: return sw_coll_barrier(m->seq);
    case 1: return sw_coll_bcast(m->seq, 0, PLAIN(a), bytes);
    case 2: return sw_coll_allgather(m->seq, PLAIN(a), bytes, b, &blocks);
    case 3: return sw_coll_alltoall(m->seq, a, &blocks, b, &blocks);
    case 4: return sw_coll_allreduce(m->seq, &sum, a, b, bytes);
    case 5: return sw_coll_reduce_scatter(m->seq, &sum, a, b, NULL, bytes);
    case 6: return sw_coll_scan(m->seq, false, &sum, a, b, bytes);
    case 7: return sw_coll_scatter(m->seq, 0, a, &blocks, PLAIN(b), bytes);
    default: return sw_coll_reduce(m->seq, 0, &sum, a, b, bytes);
    }
}

static void collectives(member_t *m)
{
    static const size_t sizes[] = {8, 3000, 50000};
    for (size_t s = 0; s < 3; s++)
        for (int a = 0; a < 9; a++)
            for (int b = 0; b < 9; b++) {
                size_t bytes = sizes[s];
                if (a == b || (b == 8 && (a == 1 || a == 6 || a == 7) &&
                               bytes <= FITS_SLOT))
                    continue;
                char *x = take_buffer(m, bytes * (size_t)m->n);
                char *y = take_buffer(m, bytes * (size_t)m->n);
                int rc = call(m, m->me == 1 ? a : b, bytes, x, y);
                atomic_store(&shared_page->word[m->me], (uint64_t)rc + 1);
                expect_ok(m, sw_coll_barrier(m->seq));
                bool told = false;
                for (int i = 0; i < m->n; i++)
                    told |= atomic_load(&shared_page->word[i]) != SW_OK + 1;
                if (!told && a != SENDS_ONLY)
                    fail(m, "%d against %d: nobody was told", a, b);
                expect_ok(m, sw_coll_barrier(m->seq));
                release_buffers(m);
            }
}

int main(void)
{
    for (int w = 0; w < MAIN_WAYS; w++) {
        static const int sizes[] = {2, 3, 6};
        for (int i = 0; i < 3; i++) {
            int n = sizes[i];
            run_forked(n, &ways[w], 1, too_long);
            run_forked(n, &ways[w], 1, no_room);
            run_forked(n, &ways[w], 1, lengths);
            run_forked(n, &ways[w], 1, collectives);
        }
    }
}
