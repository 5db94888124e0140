/*
 * parcel.c - blocks that change hands among three processes: given on, written
 * to by all, freed and resized by strangers, they hold what their last holder
 * has written, and come back to their owner. A holder's child has copies of its
 * own. A process that ends, in any way, takes no block of another along. What a
 * program must not do ends it with a message, or is told apart.
 *
 * The processes are forked, and pass the parcels' names through pipes.
 */
#include "node/arena/arena.h"
#include "node/base/settings.h"
#include "node/parcel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                           \
    ((what)                                                                   \
         ? (void)0                                                            \
         : (printf("%d: %s:%d: not so: %s\n", me, __FILE__, __LINE__, #what), \
            fflush(stdout), _exit(1)))

#define N 3
#define HANDS 3000 /* that each process gives */
#define LARGEST 300000
#define HOARD 12 /* blocks that it keeps for later */

typedef struct {
    sw_parcel_name_t name;
    size_t bytes;
    uint64_t key;
} hand_t;

static struct page {
    sw_card_t card[N];
    _Atomic int come;
} *page;

static int queue[N][2];
static int me;

static uint64_t next(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void fill(void *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)p)[i] = (unsigned char)(key + i * 31);
}

static bool filled(const void *p, size_t n, uint64_t key)
{
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)p)[i] != (unsigned char)(key + i * 31))
            return false;
    return true;
}

static sw_parcel_kind_t look(const void *p)
{
    size_t bytes;
    return sw_parcel_look(p, &bytes);
}

/* All have come as often. */
static void meet(void)
{
    static int times;
    atomic_fetch_add(&page->come, 1);
    times++;
    while (atomic_load(&page->come) < times * N)
        usleep(200);
}

static void put(int to, const hand_t *hand)
{
    CHECK(write(queue[to][1], hand, sizeof *hand) == sizeof *hand);
}

static hand_t get(void)
{
    hand_t hand;
    CHECK(read(queue[me][0], &hand, sizeof hand) == sizeof hand);
    return hand;
}

static void begin(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sw_settings_load();
    sw_settings.arena_size = (size_t)1 << 30;
    sw_settings.pool_size = (size_t)1 << 28;
    sw_arena_start();
    CHECK(sw_arena.fd >= 0);
    CHECK(!sw_parcel_alloc(10000)); /* parcels are not allowed yet */
    sw_parcel_on = true;
    CHECK(sw_peer_card(&page->card[me]));
    meet();
    for (int i = 0; i < N; i++)
        CHECK(sw_peer_attach(&page->card[i]));
}

static void give(void *p, size_t bytes, uint64_t key, int to)
{
    const hand_t hand = {sw_parcel_give(p), bytes, key};
    CHECK(look(p) == SW_PARCEL_GONE);
    put(to, &hand);
}

static void *take(hand_t *hand)
{
    *hand = get();
    CHECK(filled(sw_parcel_find(&hand->name), hand->bytes, hand->key));
    void *p = sw_parcel_accept(&hand->name);
    CHECK(p && p == sw_parcel_find(&hand->name));
    CHECK(look(p) == SW_PARCEL_HELD);
    CHECK(sw_parcel_bytes(p) >= hand->bytes);
    return p;
}

/* Each gives as often as it takes: no pipe overflows. */
static void hand_around(void)
{
    struct {
        void *p;
        size_t bytes;
        uint64_t key;
    } hoard[HOARD] = {0};
    uint64_t state = (uint64_t)me;
    for (int i = 0; i < HANDS; i++) {
        int k = (int)(next(&state) % HOARD);
        if (!hoard[k].p) {
            hoard[k].bytes = next(&state) % LARGEST + 1;
            hoard[k].p = sw_parcel_alloc(hoard[k].bytes);
            CHECK(hoard[k].p);
            hoard[k].key = next(&state);
            fill(hoard[k].p, hoard[k].bytes, hoard[k].key);
        }
        give(hoard[k].p, hoard[k].bytes, hoard[k].key,
             (me + 1 + (int)(i % 2)) % N);
        hoard[k].p = NULL;
        hand_t hand;
        void *p = take(&hand);
        uint64_t what = next(&state) % 8;
        if (what == 0) { /* resized, larger or smaller */
            size_t bytes = next(&state) % (2 * hand.bytes) + 1;
            void *to;
            CHECK(sw_parcel_resize(p, bytes, &to) && to);
            CHECK(filled(to, sw_min(bytes, hand.bytes), hand.key));
            p = to;
            hand.bytes = bytes;
        }
        if (what < 4) { /* ... written to, to be given on */
            k = (int)(next(&state) % HOARD);
            if (hoard[k].p) {
                CHECK(filled(hoard[k].p, hoard[k].bytes, hoard[k].key));
                CHECK(sw_parcel_free(hoard[k].p));
            }
            hoard[k].p = p;
            hoard[k].bytes = hand.bytes;
            hoard[k].key = next(&state);
            fill(p, hand.bytes, hoard[k].key);
        } else if (what == 4) {
            const sw_parcel_name_t name = sw_parcel_give(p);
            sw_parcel_drop(&name); /* a receive that copies */
        } else {
            CHECK(sw_parcel_free(p));
        }
    }
    for (int k = 0; k < HOARD; k++)
        if (hoard[k].p) {
            CHECK(filled(hoard[k].p, hoard[k].bytes, hoard[k].key));
            CHECK(sw_parcel_free(hoard[k].p));
        }
}

static size_t in_use(void)
{
    sw_arena_stats_t s;
    sw_arena_stats(&s);
    return s.in_use;
}

/* The first alone has made them; the others free them; it can have as many
 * anew, without an end. */
static void without_growth(void)
{
    enum { ROUNDS = 400, BYTES = 1 << 20 };
    size_t most = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (me == 0) {
            for (int to = 1; to < N; to++) {
                void *p = sw_parcel_alloc(BYTES);
                CHECK(p);
                give(p, 0, 0, to);
            }
            for (int to = 1; to < N; to++)
                get();
            most = sw_max(most, in_use());
            continue;
        }
        hand_t hand = get();
        CHECK(sw_parcel_free(sw_parcel_accept(&hand.name)));
        put(0, &hand);
    }
    CHECK(me != 0 || most < 16 * BYTES);
    CHECK(me != 0 || sw_parcel_returns() >= 2 * (ROUNDS - 1));
}

static int wait_for(pid_t pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

/* What a holder's child sees is a copy: no other process sees it write, it may
 * do as it likes, and what it frees is freed in it alone. */
static void a_child_has_its_own(void)
{
    enum { BYTES = 70000 };
    hand_t hand;
    if (me == 0) {
        for (int to = 1; to < N; to++) {
            void *p = sw_parcel_alloc(BYTES);
            fill(p, BYTES, (uint64_t)to);
            give(p, BYTES, (uint64_t)to, to);
        }
        meet();
        meet();
        return;
    }
    unsigned char *p = take(&hand), *own = sw_parcel_alloc(BYTES);
    int go[2];
    CHECK(pipe(go) == 0);
    fill(own, BYTES, 77);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        char byte;
        CHECK(read(go[0], &byte, 1) == 1); /* the parent has written */
        CHECK(filled(p, BYTES, (uint64_t)me) && filled(own, BYTES, 77));
        memset(p, 1, BYTES);
        memset(own, 1, BYTES);
        void *to, *other = sw_parcel_alloc(BYTES);
        CHECK(sw_parcel_resize(p, 2 * BYTES, &to) && to);
        CHECK(((unsigned char *)to)[BYTES - 1] == 1);
        CHECK(sw_parcel_free(own));
        if (other)
            CHECK(sw_parcel_free(other));
        _exit(0);
    }
    memset(p, 2, BYTES);
    CHECK(write(go[1], "x", 1) == 1);
    CHECK(wait_for(pid) == 0);
    for (int i = 0; i < BYTES; i++)
        CHECK(p[i] == 2);
    CHECK(filled(own, BYTES, 77) && look(p) == SW_PARCEL_HELD);
    meet();
    CHECK(sw_parcel_free(p) && sw_parcel_free(own));
    meet();
}

/* It ends with a message if `what` is done. */
static void ends(void (*what)(void *p), void *p)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGABRT, SIG_DFL);
        fclose(stderr);
        what(p);
        _exit(0);
    }
    int status = wait_for(pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void do_free(void *p)
{
    if (!sw_parcel_free(p))
        sw_arena_free(p);
}

static void do_resize(void *p)
{
    void *to;
    if (!sw_parcel_resize(p, 10, &to))
        sw_arena_resize(p, 10);
}

static void errors(void)
{
    enum { BYTES = 20000 };
    hand_t hand;
    char *p = sw_parcel_alloc(BYTES), *plain = sw_arena_alloc(BYTES, 64);
    char *on_heap = malloc(100), *common = sw_arena_alloc_shared(BYTES, 64);
    CHECK(look(NULL) == SW_PARCEL_NONE && !sw_parcel_free(NULL));
    CHECK(look(&hand) == SW_PARCEL_NONE);
    CHECK(look(on_heap) == SW_PARCEL_NONE);
    CHECK(look(plain) == SW_PARCEL_NONE && !sw_parcel_free(plain));
    CHECK(look(common) == SW_PARCEL_NONE && !sw_parcel_bytes(common));
    for (int at = 1; at < BYTES; at++)
        CHECK(look(p + at) == SW_PARCEL_INSIDE &&
              look(plain + at) == SW_PARCEL_INSIDE);
    void *q = sw_parcel_alloc(BYTES);
    CHECK(sw_parcel_free(q));
    ends(do_free, q);
    give(p, 0, 0, (me + 1) % N);
    CHECK(look(p) == SW_PARCEL_GONE);
    ends(do_free, p);
    ends(do_resize, p);
    char *taken = take(&hand);
    for (int at = 1; at < BYTES; at++)
        CHECK(look(taken + at) == SW_PARCEL_INSIDE);
    ends(do_free, taken + 64);
    const sw_parcel_name_t name = sw_parcel_give(taken);
    CHECK(look(taken) == SW_PARCEL_GONE);
    ends(do_free, taken);
    CHECK(sw_parcel_accept(&name) == taken);
    CHECK(look(taken) == SW_PARCEL_HELD);
    CHECK(sw_parcel_free(taken));
    sw_parcel_name_t wrong = name;
    wrong.owner.word[0] ^= 1;
    CHECK(!sw_parcel_find(&wrong) && !sw_parcel_accept(&wrong));
    wrong = name;
    wrong.at = UINT64_MAX - 63;
    CHECK(!sw_parcel_find(&wrong));
    free(on_heap);
    sw_arena_free(plain);
    sw_arena_free(common);
    meet();
}

/* Process 0 is killed when it has given; process 1 ends in peace, having taken.
 * The last one reads, writes and frees. */
static void nobody_takes_anything_along(void)
{
    enum { BYTES = 3 << 20 };
    hand_t hand;
    void *p;
    if (me == 0) {
        p = sw_parcel_alloc(BYTES);
        fill(p, BYTES, 5);
        give(p, BYTES, 5, 1);
        p = sw_parcel_alloc(BYTES);
        fill(p, BYTES, 6);
        give(p, BYTES, 6, 2);
        meet();
        raise(SIGKILL);
    }
    if (me == 1) {
        p = take(&hand);
        give(p, BYTES, 5, 2);
        p = sw_parcel_alloc(BYTES);
        fill(p, BYTES, 7);
        give(p, BYTES, 7, 2);
        meet();
        _exit(0);
    }
    meet();
    while (!sw_peer_gone(sw_peer_known(&page->card[0].token)) ||
           !sw_peer_gone(sw_peer_known(&page->card[1].token)))
        usleep(1000);
    for (int i = 0; i < 3; i++) {
        p = take(&hand);
        fill(p, BYTES, 99);
        CHECK(filled(p, BYTES, 99));
        void *to;
        CHECK(sw_parcel_resize(p, 2 * BYTES, &to) && to != p);
        CHECK(filled(to, BYTES, 99) && sw_parcel_free(to));
    }
}

static int life(void)
{
    begin();
    hand_around();
    meet();
    /* Only what is on the stacks of freed ones is in use yet. */
    void *p = sw_parcel_alloc(LARGEST);
    CHECK(p && sw_parcel_free(p));
    CHECK(in_use() < (size_t)1 << 20);
    without_growth();
    meet();
    a_child_has_its_own();
    errors();
    nobody_takes_anything_along();
    return 0;
}

int main(void)
{
    pid_t pid[N];
    page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED);
    for (int i = 0; i < N; i++)
        CHECK(pipe(queue[i]) == 0);
    for (me = 0; me < N; me++)
        if ((pid[me] = fork()) == 0)
            return life();
    for (int i = 0; i < N; i++) {
        int status;
        pid_t which = wait(&status);
        bool well = which == pid[0]
                        ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                        : status == 0;
        if (!well) {
            printf("status %x\n", (unsigned)status);
            for (int k = 0; k < N; k++)
                kill(pid[k], SIGKILL);
            return 1;
        }
    }
    puts("ok");
    return 0;
}
