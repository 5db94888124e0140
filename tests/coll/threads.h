/*
 * threads.h - a team whose members are threads of one process.
 *
 * Between processes a race detector sees nothing: each knows its own memory
 * accesses only. So threads run the same collectives here, over a block from
 * this process's segment. The "arena" of their hand-made peers is the whole
 * address space. So plain loads and stores read and write every payload,
 * wherever it lies. ThreadSanitizer judges them against the protocol's acquires
 * and releases.
 */
#ifndef SW_TEST_COLL_THREADS_H
#define SW_TEST_COLL_THREADS_H

#include "members.h"
#include "node/segment.h"

#include <pthread.h>

#define THREADS_MAX 64

typedef struct {
    member_t m;
    member_func_t body;
    pthread_t thread;
} threaded_t;

static inline void *thread_main(void *arg)
{
    threaded_t *t = arg;
    run_member(&t->m, t->body);
    return NULL;
}

static inline void run_threads(int n, uint64_t seed, member_func_t body)
{
    static sw_introduction_t all[THREADS_MAX];
    static sw_agreement_t answer[THREADS_MAX];
    static sw_peer_t self;
    static threaded_t t[THREADS_MAX];
    char *const low = (char *)SW_PAGE;

    sw_settings.pool_size = (size_t)1 << 28;
    const sw_segment_t *segment = sw_segment();
    uint64_t offset = sw_sequence_reserve(n);
    if (!segment || !offset) {
        fprintf(stderr, "no block for %d threads\n", n);
        exit(1);
    }
    /* No blocks, and everything else. */
    sw_arena.count = 2;
    sw_arena.range[0] = (sw_arena_range_t){low, 0, 0};
    sw_arena.range[1] = (sw_arena_range_t){low, SIZE_MAX / 2, 0};
    self = (sw_peer_t){.self = true,
                       .arena = low,
                       .control = segment->base,
                       .card.arena_span = SIZE_MAX / 2,
                       .card.pid = getpid()};
    /* Or it counts as dead, and no thread waits for another one that is slow.
     */
    sw_os_process_start(self.card.pid, &self.start);
    memset(answer, 0, sizeof answer);
    all[0].eager = sw_settings.eager_max;
    all[0].slice = sw_settings.slice_min;
    for (int i = 0; i < n; i++) {
        sw_peer_t **peer = malloc((size_t)n * sizeof *peer);
        const char *why;
        for (int k = 0; k < n; k++)
            peer[k] = &self;
        answer[i] = (sw_agreement_t){.offset = i ? 0 : offset,
                                     .ok = SW_AGREE_NODE | SW_AGREE_ARENA |
                                           SW_AGREE_BLOCK};
        for (int k = i + 1; k < n; k++)
            answer[k].ok = answer[i].ok;
        t[i].body = body;
        t[i].m = (member_t){.n = n, .me = i, .way = "threads", .seed = seed};
        t[i].m.seq = sw_agreement_open(all, answer, n, i, peer, &why);
        if (!t[i].m.seq) {
            fprintf(stderr, "no sequence of threads: %s\n", why);
            exit(1);
        }
    }
    sw_wait_crowd(n / 2.0);
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i].thread, NULL, thread_main, &t[i])) {
            perror("pthread_create");
            exit(1);
        }
    for (int i = 0; i < n; i++)
        pthread_join(t[i].thread, NULL);
    for (int i = 0; i < n; i++)
        sw_sequence_close(t[i].m.seq);
    sw_arena.count = 0;
}

#endif
