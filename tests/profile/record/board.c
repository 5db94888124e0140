/*
 * A board under readers: a reader that finds a key finds the ticks posted with
 * it, never others. Keys of a series lie side by side in runs.
 */
#include "profile/record/board.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define POSTS 2000000u
#define KEYS 16384u /* four for each place */
#define READERS 3

static sw_board_t board;
static _Atomic bool over;

/* All keys of a place have different ticks, and so has a key of each turn. */
static void *post(void *none)
{
    for (uint64_t i = 1; i <= POSTS; i++) {
        uint64_t key = i % KEYS + 1;
        sw_board_post(&board, key, i * KEYS + key);
    }
    over = true;
    return none;
}

static void *look(void *which)
{
    uint64_t found = 0, last[KEYS + 1] = {0};
    uint64_t key = (uintptr_t)which;
    while (!over || found == 0) {
        key = key * 25214903917u % KEYS + 1;
        uint64_t ticks = sw_board_look(&board, key);
        if (!ticks)
            continue;
        if (ticks % KEYS != key % KEYS || ticks < last[key]) {
            fprintf(stderr, "key %llu has ticks %llu\n",
                    (unsigned long long)key, (unsigned long long)ticks);
            exit(1);
        }
        last[key] = ticks;
        found++;
    }
    return NULL;
}

static void runs(void)
{
    for (uint64_t n = 0; n < 100000; n++) {
        uint64_t a = sw_board_nth(7, n), b = sw_board_nth(7, n + 1);
        bool beside = b % SW_BOARD_PLACES == a % SW_BOARD_PLACES + 1;
        bool run_ends = (n + 1) % SW_BOARD_RUN == 0;
        bool alike = a == b || a == sw_board_nth(8, n);
        if (!a || alike || (!beside && !run_ends)) {
            fprintf(stderr, "number %llu\n", (unsigned long long)n);
            exit(1);
        }
    }
}

int main(void)
{
    runs();
    pthread_t threads[1 + READERS];
    pthread_create(&threads[0], NULL, post, NULL);
    for (uintptr_t i = 1; i <= READERS; i++)
        pthread_create(&threads[i], NULL, look, (void *)i);
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
