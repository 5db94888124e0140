/*
 * One-sided operations take the times that these tests calculate by hand, with
 *
 *   o = 10, o' = 20, L = 100, g = 5, G = 1
 *
 * or those of a table (vtime/model/accesses.h).
 *
 * The engine grants locks in the order of virtual time. random_programs.c has
 * one-sided operations at random.
 */
#include "ranks.h"

static void window(ranks_t *r, uint32_t rank, unsigned what, int peer,
                   uint64_t bytes, unsigned flags, uint32_t request)
{
    put(r, rank,
        (sw_vop_t){.kind = SW_OP_WINDOW,
                   .what = (uint8_t)what,
                   .peer = peer,
                   .bytes = bytes,
                   .context = 1,
                   .flags = (uint16_t)flags,
                   .request = request});
}

static ranks_t *some(uint32_t n)
{
    static const uint32_t backwards[] = {3, 2, 1, 0};
    ranks_t *r = ranks_linked(n);
    context(r, 1, n, backwards + 4 - n);
    for (uint32_t i = 0; i < n; i++)
        window(r, i, SW_WINDOW_MAKE, -1, 0, 0, 0);
    return r;
}

static void over(ranks_t *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        window(r, i, SW_WINDOW_FREE, -1, 0, 0, 0);
    ranks_run(r);
}

/* One operation of `bytes` and a flush; when they are over. */
static void takes(unsigned what, uint64_t bytes, unsigned flags, sw_ps_t time)
{
    ranks_t *r = some(2);
    r->model.reduce = 2;
    window(r, 0, what, 1, bytes, 0, 0);
    window(r, 0, SW_WINDOW_FLUSH, flags & 2 ? -1 : 1, 0, flags & 1, 0);
    over(r);
    ENDS(r, 0, time);
    ENDS(r, 1, 0);
    MUST(r->result.ranks[0].messages == time);
    ranks_free(r);
}

static void costs(void)
{
    for (unsigned all = 0; all < 4; all += 2) {
        takes(SW_WINDOW_PUT, 50, all, 10 + 100 + 50 + 100);
        takes(SW_WINDOW_PUT, 50, all | SW_WINDOW_LOCAL, 10 + 50);
        takes(SW_WINDOW_REDUCE, 50, all, 10 + 100 + 50 + 2 * 50 + 100);
        takes(SW_WINDOW_GET, 50, all, 10 + 100 + 100 + 50);
        takes(SW_WINDOW_GET, 50, all | SW_WINDOW_LOCAL, 10 + 100 + 100 + 50);
        takes(SW_WINDOW_FETCH, 8, all, 10 + 108 + 16 + 108);
    }
    /* Larger than a rendezvous's limit: the origin asks no target. */
    takes(SW_WINDOW_PUT, 5000, 2, 10 + 100 + 5000 + 100);

    ranks_t *r = some(3);
    window(r, 0, SW_WINDOW_FLUSH, -1, 0, 0, 0); /* nothing: no time */
    window(r, 0, SW_WINDOW_FLUSH, 1, 0, 0, 0);
    /* Two puts share the origin's port, and are known in that order. */
    window(r, 0, SW_WINDOW_PUT, 1, 100, 0, 7);
    window(r, 0, SW_WINDOW_PUT, 2, 100, 0, 0);
    wait_for(r, 0, 7);
    compute(r, 0, 1);
    window(r, 0, SW_WINDOW_FLUSH, 1, 0, 0, 0);
    /* Rank 1's own message waits for what rank 2 gets from it at 210 .. 1210:
     * it is ready at 220. */
    compute(r, 2, 100);
    window(r, 2, SW_WINDOW_GET, 1, 1000, 0, 3);
    wait_for(r, 2, 3);
    compute(r, 1, 210);
    isend(r, 1, 0, 0, 1, 1);
    wait_for(r, 1, 1);
    recv(r, 0, 1, 0);
    over(r);
    ENDS(r, 2, 210 + 1000 + 100);
    ENDS(r, 1, 220);
    ENDS(r, 0, 1210 + 100 + 1 + 20);
    ranks_free(r);
}

static void lock(ranks_t *r, uint32_t rank, int at, bool exclusive,
                 sw_ps_t holds)
{
    unsigned flags = exclusive ? SW_WINDOW_EXCLUSIVE : 0;
    window(r, rank, SW_WINDOW_LOCK, at, 0, flags, 0);
    compute(r, rank, holds);
    window(r, rank, SW_WINDOW_UNLOCK, at, 0, flags, 0);
}

static void locks(void)
{
    ranks_t *r = some(4);
    lock(r, 0, 3, true, 500); /* asked for at 110, known at 210 */
    compute(r, 1, 2);
    lock(r, 1, 3, false, 1000); /* free at 820 */
    compute(r, 2, 1);
    lock(r, 2, 3, true, 50); /* before it: 111 */
    over(r);
    ENDS(r, 0, 210 + 500 + 10);
    ENDS(r, 2, 820 + 100 + 50 + 10);
    ENDS(r, 1, 980 + 100 + 100 + 1000 + 10);
    ENDS(r, 3, 0);
    ranks_free(r);

    /* Several ranks hold a shared lock, but none overtakes a rank that waits.
     * Rank 0 has the lock of all ranks when it has the last one. */
    r = some(4);
    lock(r, 0, -1, false, 500);
    compute(r, 1, 1);
    lock(r, 1, 2, true, 10);
    compute(r, 2, 2);
    lock(r, 2, 2, false, 10);
    compute(r, 3, 3);
    lock(r, 3, 1, false, 10);
    over(r);
    ENDS(r, 0, 210 + 500 + 10);
    ENDS(r, 1, 820 + 100 + 20);
    ENDS(r, 3, 3 + 210 + 20);
    MUST(r->result.ranks[2].end > r->result.ranks[1].end);
    ranks_free(r);
}

/* A holds the lock until B has sent, and B waits for the lock. A host that
 * grants a lock only at its first use lets both go on. So must a replay of a
 * file recorded there. */
static void lazy(bool asks)
{
    ranks_t *r = some(3);
    r->asks = asks;
    window(r, 0, SW_WINDOW_LOCK, 2, 0, SW_WINDOW_EXCLUSIVE, 0);
    put(r, 0, (sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_PAUSE});
    recv(r, 0, 1, 0);
    window(r, 0, SW_WINDOW_UNLOCK, 2, 0, SW_WINDOW_EXCLUSIVE, 0);
    compute(r, 1, 1000);
    window(r, 1, SW_WINDOW_LOCK, 2, 0, SW_WINDOW_EXCLUSIVE, 0);
    put(r, 1, (sw_vop_t){.kind = SW_OP_CLOCK, .flags = SW_CLOCK_PAUSE});
    send(r, 1, 0, 0, 0);
    window(r, 1, SW_WINDOW_UNLOCK, 2, 0, SW_WINDOW_EXCLUSIVE, 0);
    /* It has what it is given, and A's is not given back by B. */
    compute(r, 2, 500);
    window(r, 2, SW_WINDOW_LOCK, 2, 0, 0, 0);
    window(r, 2, SW_WINDOW_UNLOCK, 2, 0, 0, 0);
    MUST(ranks_try(r, 0) == SW_ENGINE_DONE);
    /* A rank that puts later operations has gone on in its host: the engine
     * may force any of them. */
    MUST(r->result.forced >= 1);
    if (!asks) {
        MUST(r->result.forced == 2);
        ENDS(r, 1, 1010 + 10 + 10);
        ENDS(r, 0, 1020 + 100 + 20 + 10);
    }
    ranks_free(r);
}

/* Windows of both kinds of memory, on contexts 1 and 2, with times. */
static ranks_t *timed(uint32_t n)
{
    static const sw_access_point_t points[] = {{8, 30, 6}, {108, 130, 16}};
    ranks_t *r = ranks_linked(n);
    sw_accesses_t *a = &r->model.accesses;
    r->model.reduce = 1000; /* it is in the times */
    for (int what = SW_WINDOW_PUT; what <= SW_WINDOW_FETCH; what++)
        for (int i = 0; i < 2; i++) {
            sw_access_point_t p = points[i];
            MUST(!sw_accesses_add(a, SW_MEMORY_CREATED, what, &p));
            p.call /= 2;
            MUST(!sw_accesses_add(a, SW_MEMORY_ALLOCATED, what, &p));
        }
    a->has_locks[SW_MEMORY_CREATED] = true;
    a->lock[SW_MEMORY_CREATED] = 41;
    a->unlock[SW_MEMORY_CREATED] = 9;
    for (unsigned number = 1; number < 3; number++) {
        context(r, number, n, (uint32_t[]){0, 1, 2, 3});
        for (uint32_t i = 0; i < n; i++)
            put(r, i,
                (sw_vop_t){.kind = SW_OP_WINDOW,
                           .what = SW_WINDOW_MAKE,
                           .peer = -1,
                           .context = number,
                           .flags = number == 2 ? SW_WINDOW_ALLOCATED : 0});
    }
    return r;
}

/* `times` operations of `bytes` in a window, and a flush; when they are over.
 */
static void takes_as_measured(unsigned window_of, unsigned what, int times,
                              uint64_t bytes, unsigned flags, sw_ps_t time)
{
    ranks_t *r = timed(2);
    sw_vop_t op = {.kind = SW_OP_WINDOW,
                   .what = (uint8_t)what,
                   .peer = 1,
                   .bytes = bytes,
                   .context = window_of};
    for (int i = 0; i < times; i++)
        put(r, 0, op);
    op = (sw_vop_t){.kind = SW_OP_WINDOW,
                    .what = SW_WINDOW_FLUSH,
                    .peer = flags & 2 ? -1 : 1,
                    .context = window_of,
                    .flags = flags & 1};
    put(r, 0, op);
    put(r, 0, op); /* all is known: no time */
    ranks_run(r);
    ENDS(r, 0, time);
    ENDS(r, 1, 0);
    MUST(r->result.ranks[0].messages == time);
    MUST(r->result.messages == (unsigned)times);
    ranks_free(r);
}

static void measured(void)
{
    for (unsigned all = 0; all < 4; all += 2)
        for (unsigned what = SW_WINDOW_PUT; what <= SW_WINDOW_FETCH; what++) {
            bool gets = what >= SW_WINDOW_GET;
            takes_as_measured(1, what, 1, 8, all, 30 + 6);
            takes_as_measured(1, what, 1, 0, all, 30 + 6);
            takes_as_measured(1, what, 3, 8, all, 3 * 30 + 6);
            takes_as_measured(1, what, 1, 58, all, 80 + 11);
            takes_as_measured(1, what, 1, 208, all, 230 + 26);
            takes_as_measured(2, what, 2, 8, all, 2 * 15 + 6);
            takes_as_measured(1, what, 1, 8, all | SW_WINDOW_LOCAL,
                              30 + (gets ? 6 : 0));
        }

    /* With a request: a get's is over when its bytes are there. */
    ranks_t *r = timed(2);
    window(r, 0, SW_WINDOW_PUT, 1, 8, 0, 7);
    wait_for(r, 0, 7);
    window(r, 0, SW_WINDOW_GET, 1, 8, 0, 7);
    wait_for(r, 0, 7);
    window(r, 1, SW_WINDOW_FETCH, 1, 8, 0, 0); /* at itself */
    window(r, 1, SW_WINDOW_FLUSH, 1, 0, 0, 0);
    ranks_run(r);
    ENDS(r, 0, 30 + 30 + 6);
    ENDS(r, 1, 30 + 6);
    ranks_free(r);

    /* The second waits for the first one's unlock, and hears of it after half
     * of a lock's time. In the other window locks are messages. */
    r = timed(3);
    lock(r, 0, 2, true, 500);
    compute(r, 1, 1);
    lock(r, 1, 2, true, 100);
    put(r, 2,
        (sw_vop_t){.kind = SW_OP_WINDOW,
                   .what = SW_WINDOW_LOCK,
                   .peer = 0,
                   .context = 2});
    ranks_run(r);
    ENDS(r, 0, 41 + 500 + 9);
    ENDS(r, 1, 550 + 21 + 100 + 9);
    ENDS(r, 2, 10 + 100 + 100);
    ranks_free(r);

    /* To another node they are messages, a fence is a collective. */
    r = timed(4);
    r->model.places.per_node = 2;
    window(r, 0, SW_WINDOW_PUT, 2, 50, 0, 0);
    window(r, 0, SW_WINDOW_FLUSH, 2, 0, 0, 0);
    lock(r, 1, 3, true, 0);
    ranks_run(r);
    ENDS(r, 0, 10 + 100 + 50 + 100);
    ENDS(r, 1, 10 + 100 + 100 + 10);
    ranks_free(r);
}

static void wrong(void)
{
    char text[200];
    ranks_t *r = some(2);
    window(r, 0, SW_WINDOW_PUT, 1, 8, 0, 0);
    put(r, 0,
        (sw_vop_t){.kind = SW_OP_WINDOW,
                   .what = SW_WINDOW_PUT,
                   .peer = 1}); /* the world is none */
    MUST(ranks_try(r, 0) == SW_ENGINE_WRONG);
    sw_engine_stuck(r->engine, 0, text, sizeof text);
    MUST(strstr(text, "no window"));
    ranks_free(r);

    r = some(2); /* it is never given back */
    window(r, 0, SW_WINDOW_LOCK, 0, 0, SW_WINDOW_EXCLUSIVE, 0);
    compute(r, 1, 1000);
    window(r, 1, SW_WINDOW_LOCK, 0, 0, 0, 0);
    MUST(ranks_try(r, 0) == SW_ENGINE_DEADLOCK);
    sw_engine_stuck(r->engine, 1, text, sizeof text);
    MUST(!strcmp(text, "lock of the window of 0"));
    ranks_free(r);

    r = some(2); /* no rank posts */
    put(r, 0,
        (sw_vop_t){.kind = SW_OP_RECV,
                   .peer = 1,
                   .context = 1,
                   .tag = SW_WINDOW_POSTED});
    put(r, 1,
        (sw_vop_t){.kind = SW_OP_RECV,
                   .peer = 0,
                   .context = 1,
                   .tag = SW_WINDOW_COMPLETED});
    MUST(ranks_try(r, 0) == SW_ENGINE_DEADLOCK);
    sw_engine_stuck(r->engine, 0, text, sizeof text);
    MUST(!strcmp(text, "post of a window by 1"));
    sw_engine_stuck(r->engine, 1, text, sizeof text);
    MUST(!strcmp(text, "complete of a window by 0"));
    ranks_free(r);
}

int main(void)
{
    costs();
    locks();
    lazy(false);
    lazy(true);
    measured();
    wrong();
    return 0;
}
