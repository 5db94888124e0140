/*
 * Members of a window order their accesses to plain memory: exclusive locks
 * keep all others out, shared ones keep writers out, and posts and completes
 * hand memory over. No update of an element is lost, whether short or long.
 *
 * Members are processes first, then threads, for race detectors. A member that
 * waits too long ends the test.
 */
#include "must.h"
#include "rma/update.h"

#include "node/base/settings.h"
#include "rounds.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 5
#define ROUNDS FEWER(400)
#define VECTOR 3000
#define SLOTS 8

typedef struct {
    long one, two;          /* equal, but while a writer is at work */
    long slot[MOST][SLOTS]; /* a target's, written by one origin */
    _Alignas(8) uint64_t element[VECTOR + 1];
    double real[VECTOR];
    unsigned char odd[4 * VECTOR + 1];
    _Atomic int barrier;
} memory_t;

typedef struct {
    sw_rma_share_t share;
    memory_t *memory;
    uint64_t seed;
    pthread_t thread;
} member_t;

static uint64_t ones[VECTOR];
static double reals[VECTOR];

static void meet(member_t *m)
{
    int n = m->share.n, mine = atomic_fetch_add(&m->memory->barrier, 1);
    int all = (mine / n + 1) * n;
    while (atomic_load(&m->memory->barrier) < all)
        sw_os_yield();
}

static void write_pair(memory_t *memory)
{
    memory->one++;
    memory->two++;
}

static void locks(member_t *m)
{
    sw_rma_share_t *w = &m->share;
    int wrote = 0;
    for (int i = 0; i < ROUNDS; i++) {
        switch (random_from(&m->seed) % 5) {
        case 0:
        case 1:
            MUST(sw_rma_lock(w, 0, true, false));
            write_pair(m->memory);
            sw_rma_unlock(w, 0, true);
            wrote++;
            break;
        case 2:
            MUST(sw_rma_lock(w, 0, false, false));
            MUST(m->memory->one == m->memory->two);
            sw_rma_unlock(w, 0, false);
            break;
        case 3:
            MUST(sw_rma_lock_all(w, false));
            MUST(m->memory->one == m->memory->two);
            sw_rma_unlock_all(w);
            break;
        default:
            /* One more lock of a member that has some: in one order. */
            MUST(sw_rma_lock(w, 0, i % 2, false));
            MUST(sw_rma_lock(w, w->n - 1, i % 3, true));
            if (i % 2)
                write_pair(m->memory);
            wrote += i % 2;
            sw_rma_unlock(w, w->n - 1, i % 3);
            sw_rma_unlock(w, 0, i % 2);
        }
    }
    uint64_t all = (uint64_t)wrote;
    sw_update_t add = {SW_UPDATE_ADD, sw_reduce_kernel(SW_SUM, SW_UINT64), 8};
    sw_rma_update(w, 0, &add, &m->memory->element[VECTOR], &all, NULL, 1);
    meet(m);
    MUST(m->memory->one == m->memory->two);
    MUST((uint64_t)m->memory->one == m->memory->element[VECTOR]);
    meet(m);
}

/* A reader waits for another one, which comes after a writer. */
static void readers(member_t *m)
{
    sw_rma_share_t *w = &m->share;
    if (w->n < 3)
        return;
    for (int i = 0; i < 4; i++) {
        bool all = i % 2, all_later = i / 2;
        long *late = &m->memory->slot[0][0];
        meet(m);
        if (w->me == 1)
            MUST(all ? sw_rma_lock_all(w, false)
                     : sw_rma_lock(w, 0, false, false));
        meet(m);
        if (w->me == 0) {
            MUST(sw_rma_lock(w, 0, true, false));
            sw_rma_unlock(w, 0, true);
        } else if (w->me == 2) {
            usleep(3000);
            MUST(all_later ? sw_rma_lock_all(w, false)
                           : sw_rma_lock(w, 0, false, false));
            __atomic_store_n(late, i + 1, __ATOMIC_RELEASE);
            all_later ? sw_rma_unlock_all(w) : sw_rma_unlock(w, 0, false);
        } else if (w->me == 1) {
            while (__atomic_load_n(late, __ATOMIC_ACQUIRE) != i + 1)
                sw_os_yield();
            all ? sw_rma_unlock_all(w) : sw_rma_unlock(w, 0, false);
        }
    }
    meet(m);
}

/* Each member writes to its right neighbour, and is written to by the left. */
static void exposures(member_t *m)
{
    sw_rma_share_t *w = &m->share;
    int right = (w->me + 1) % w->n, left = (w->me + w->n - 1) % w->n;
    for (int i = 1; i <= ROUNDS; i++) {
        sw_rma_post(w, left);
        MUST(sw_rma_await_post(w, right));
        for (int k = 0; k < SLOTS; k++)
            m->memory->slot[right][k] = i * 100 + w->me;
        sw_rma_complete(w, right);
        if (i % 2)
            MUST(sw_rma_await_complete(w, 1));
        else
            while (!sw_rma_completed(w, 1))
                sw_os_yield();
        for (int k = 0; k < SLOTS; k++)
            MUST(m->memory->slot[w->me][k] == i * 100 + left);
    }
    MUST(sw_rma_await_complete(w, 0));
    meet(m);
}

/* Integers, reals, and bytes that lie anywhere: short and long updates. Of
 * threads, two are one member. */
static void updates(member_t *m)
{
    sw_rma_share_t share = m->share, *w = &share;
    share.me /= share.threads ? 2 : 1;
    sw_update_t add = {SW_UPDATE_ADD, sw_reduce_kernel(SW_SUM, SW_UINT64), 8};
    sw_update_t sum = {SW_UPDATE_COMBINE, sw_reduce_kernel(SW_SUM, SW_DOUBLE),
                       8};
    sw_update_t odd = {SW_UPDATE_COMBINE, sw_reduce_kernel(SW_SUM, SW_INT32),
                       4};
    sw_update_t get = {SW_UPDATE_NOTHING, NULL, 8};
    sw_update_t put = {SW_UPDATE_REPLACE, NULL, 8};
    int one = 1;
    uint64_t old[4], last = 0;
    meet(m);
    if (m->share.me == 0)
        memset(m->memory->element, 0, sizeof m->memory->element);
    meet(m);
    for (int i = 0; i < ROUNDS; i++) {
        size_t at = random_from(&m->seed) % (VECTOR - 4);
        if (i % 4 == 0) {
            sw_rma_update(w, 0, &add, m->memory->element, ones, NULL, VECTOR);
            sw_rma_update(w, 0, &sum, m->memory->real, reals, NULL, VECTOR);
        }
        sw_rma_update(w, 0, &add, &m->memory->element[7], ones, old, 1);
        MUST(old[0] >= last);
        last = old[0];
        sw_rma_update(w, 0, &sum, &m->memory->real[9], reals, old, 1);
        sw_rma_update(w, 0, &odd, m->memory->odd + 1, &one, NULL, 1);
        sw_rma_update(w, 0, &get, &m->memory->element[at], NULL, old,
                      1 + (size_t)i % 4);
        /* A lock: 0 is free. */
        uint64_t none = 0, mine = (uint64_t)m->share.me + 1, was = 1;
        while (was)
            sw_rma_swap(w, 0, 8, &m->memory->element[VECTOR], &mine, &none,
                        &was);
        write_pair(m->memory);
        sw_rma_update(w, 0, &put, &m->memory->element[VECTOR], &none, &was, 1);
        MUST(was == mine);
    }
    meet(m);
    uint64_t every = (uint64_t)w->n * (ROUNDS / 4);
    int32_t odds;
    memcpy(&odds, m->memory->odd + 1, 4);
    MUST(odds == w->n * ROUNDS);
    for (int i = 0; i < VECTOR; i++) {
        uint64_t more = (uint64_t)w->n * ROUNDS;
        MUST(m->memory->element[i] == every + (i == 7 ? more : 0));
        MUST(m->memory->real[i] == (double)(every + (i == 9 ? more : 0)));
    }
    MUST(m->memory->one == m->memory->two);
    meet(m);
}

static void *body(void *arg)
{
    member_t *m = arg;
    locks(m);
    readers(m);
    if (m->share.me == 0)
        m->memory->element[VECTOR] = 0;
    exposures(m);
    updates(m);
    return NULL;
}

static void *shared_room(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(p != MAP_FAILED);
    return p;
}

static void run(int n, bool threads)
{
    static member_t m[MOST];
    sw_rma_block_t *block = shared_room(sw_rma_block_bytes(n));
    memory_t *memory = shared_room(sizeof *memory);
    pid_t child[MOST];
    sw_wait_crowd(n / 2.0);
    fflush(NULL);
    for (int i = 0; i < n; i++) {
        m[i] = (member_t){
            {block, n, i, threads}, memory, (uint64_t)i * 77 + 5, 0};
        if (threads)
            MUST(!pthread_create(&m[i].thread, NULL, body, &m[i]));
        else if ((child[i] = fork()) == 0) {
            alarm(60);
            body(&m[i]);
            _exit(0);
        }
    }
    for (int i = 0; i < n; i++) {
        int status = 0;
        if (threads)
            MUST(!pthread_join(m[i].thread, NULL));
        else
            MUST(waitpid(child[i], &status, 0) == child[i] && status == 0);
    }
    munmap(memory, sizeof *memory);
    munmap(block, sw_rma_block_bytes(n));
}

int main(void)
{
    alarm(100);
    for (int i = 0; i < VECTOR; i++)
        reals[i] = (double)(ones[i] = 1);
    run(2, false);
    run(MOST, false);
    run(3, true);
    sw_settings.refuse = "futex";
    run(3, false);
    return 0;
}
