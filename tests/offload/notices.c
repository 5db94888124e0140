/*
 * notices.c - a leader puts up thousands of blocks, and the other members find
 * them. They come and go in any order, and no step costs more the more of them
 * there are. What all have left is taken back.
 */
#include "offload/notices.h"
#include "schedules.h"

#define BLOCKS 5000
#define STEPS 8 /* for a put, a look and a leave, on average */

typedef struct {
    char *block[BLOCKS];
} held_t;

static uint64_t name_of(const member_t *m, uint64_t round, int i)
{
    return key_of(m->seed << 8 | round, i, 0) | 1;
}

/* The member is a process: the counts are its own, and it has an arena. */
static bool alone(const member_t *m)
{
    return strcmp(m->way, "threads") != 0;
}

static uint64_t steps(void)
{
    return atomic_load(&sw_notice_steps);
}

static void few_since(member_t *m, uint64_t before, uint64_t calls,
                      const char *what)
{
    uint64_t taken = steps() - before;
    if (taken > STEPS * calls)
        fail(m, "%llu %s take %llu steps", (unsigned long long)calls, what,
             (unsigned long long)taken);
}

static char *put_up(const member_t *m, uint64_t name, bool anywhere)
{
    const sw_notice_want_t want = {.name = name,
                                   .n = m->n,
                                   .bytes = 64,
                                   .zeroed = 64,
                                   .note = (uint32_t)name,
                                   .anywhere = anywhere};
    return sw_notice_put(&want);
}

/* NULL: there is none yet. None is refused. */
static char *look(member_t *m, uint64_t name)
{
    uint32_t note;
    bool refused;
    char *block = sw_notice_find(m->seq->team->peer[0], name, &note, &refused);
    if (refused || (block && note != (uint32_t)name))
        fail(m, refused ? "a notice is refused" : "another block's note");
    return block;
}

/* The leader puts a block up, and writes its name there. */
static void put(member_t *m, held_t *h, uint64_t round, int i)
{
    h->block[i] = put_up(m, name_of(m, round, i), !alone(m));
    uint64_t key = name_of(m, round, i);
    memcpy(h->block[i], &key, sizeof key);
}

static void find(member_t *m, held_t *h, uint64_t round, int i)
{
    uint64_t there, name = name_of(m, round, i);
    h->block[i] = look(m, name);
    if (!h->block[i])
        fail(m, "notice %d is not up", i);
    memcpy(&there, h->block[i], sizeof there);
    if (there != name)
        fail(m, "notice %d leads to another block", i);
}

static void leave_all(member_t *m, held_t *h)
{
    for (int left = BLOCKS; left--;) {
        int i = below(&m->own, left + 1);
        sw_notice_leave(h->block[i]);
        h->block[i] = h->block[left];
    }
}

/* A name that the leader has not put up is not found; a look for it is
 * short. */
static void in_vain(member_t *m, uint64_t round)
{
    uint64_t before = steps();
    for (int i = 0; i < BLOCKS; i++)
        if (look(m, name_of(m, round + 100, i)))
            fail(m, "a notice that nobody has put up");
    few_since(m, before, BLOCKS, "looks in vain");
}

static void body(member_t *m)
{
    static _Thread_local held_t h;
    if (!m->seq->team->arena)
        return;
    for (uint64_t round = 0; round < (uint64_t)rounds(3); round++) {
        uint64_t before = steps();
        for (int i = 0; i < BLOCKS && m->me == 0; i++)
            put(m, &h, round, i);
        expect_ok(m, sw_coll_barrier(m->seq));
        for (int i = 0; i < BLOCKS && m->me; i++)
            find(m, &h, round, i);
        if (m->me && alone(m))
            in_vain(m, round);
        leave_all(m, &h);
        expect_ok(m, sw_coll_barrier(m->seq));
        if (alone(m))
            few_since(m, before, 4 * BLOCKS, "notices");
    }
    if (m->me || !alone(m))
        return;
    /* One more, and the memory of all the others is free. */
    sw_arena_stats_t now;
    put(m, &h, 1000, 0);
    sw_arena_stats(&now);
    if (now.in_use > now.in_use_peak / 4)
        fail(m, "%zu bytes are in use, of %zu", now.in_use, now.in_use_peak);
}

/* Members look for what is put up, taken down and moved meanwhile. */
static void meanwhile(member_t *m)
{
    if (!m->seq->team->arena)
        return;
    for (int i = 0; i < rounds(2000); i++) {
        uint64_t there, name = name_of(m, 2000, i);
        unsigned turns = 0;
        char *block = m->me == 0 ? put_up(m, name, i % 3 == 0 || !alone(m))
                                 : NULL;
        if (m->me == 0)
            atomic_store((_Atomic uint64_t *)(void *)block, name);
        while (!block && !(block = look(m, name)))
            sw_wait_turn(&turns);
        while (!(there = atomic_load((_Atomic uint64_t *)(void *)block)))
            sw_wait_turn(&turns);
        if (there != name)
            fail(m, "a look leads to another block");
        sw_notice_leave(block);
    }
    expect_ok(m, sw_coll_barrier(m->seq));
}

static void both(member_t *m)
{
    body(m);
    meanwhile(m);
}

int main(void)
{
    for (int n = 2; n <= 3 && !THREAD_SANITIZED; n++)
        run_forked(n, &ways[0], (uint64_t)n, both);
    run_threads(3, 1, both);
    return 0;
}
