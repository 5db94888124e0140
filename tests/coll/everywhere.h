/*
 * everywhere.h - runs one body in teams of every size and in every way:
 * processes with arena, CMA or both, and threads.
 *
 *   test [way [n [seed]]]     all, or only one: to repeat a failure
 */
#ifndef SW_TEST_COLL_EVERYWHERE_H
#define SW_TEST_COLL_EVERYWHERE_H

#include "forked.h"
#include "sanitized.h"
#include "threads.h"

static inline void announce(const char *way, int n)
{
    if (getenv("STRAIGHTWAY_TEST_TRACE"))
        fprintf(stderr, "%s, %d members\n", way, n);
}

static inline int run_everywhere(int argc, char **argv, member_func_t body)
{
    static const int sizes[] = {2, 3, 4, 5, 6, 7, 8, 9, 17, 20, 33};
    const char *only_way = argc > 1 ? argv[1] : NULL;
    int only_n = argc > 2 ? atoi(argv[2]) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    int count = sizeof sizes / sizeof *sizes;
    for (int w = 0; w < WAYS; w++) {
        /* The thread sanitizer sees the threads of one process only. */
        if (only_way ? strcmp(only_way, ways[w].name) : THREAD_SANITIZED)
            continue;
        for (int i = 0; i < count; i++) {
            int n = sizes[i];
            /* Each size meets one of the main ways, 2, 4 and 17 all. */
            bool full = is_deep() ||
                        (!ADDRESS_SANITIZED && (n == 2 || n == 4 || n == 17));
            if (only_n          ? n != only_n
                : w < MAIN_WAYS ? !full && (n + w) % 3 != 0
                                : n != 3 && n != 20)
                continue;
            announce(ways[w].name, n);
            run_forked(n, &ways[w], seed + (uint64_t)n, body);
        }
    }
    if (only_way && strcmp(only_way, "threads"))
        return 0;
    for (int i = 0; i < count; i++) {
        int n = sizes[i];
        if (only_n ? n != only_n : n != 2 && n != 3 && n != 7 && n != 17)
            continue;
        announce("threads", n);
        run_threads(n, seed + (uint64_t)n, body);
    }
    return 0;
}

#endif
