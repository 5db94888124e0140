/*
 * A board under readers: a reader that finds a key finds the ticks posted with
 * it, never others. Keys of a series lie side by side in runs.
 */
#include "profile/record/board.h"
#include "rounds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define POSTS FEWER(2000000u)
#define RECENT (2 * SW_BOARD_PLACES)
#define READERS 3

static sw_board_t board;
static _Atomic uint64_t posted;

static uint64_t ticks_of(uint64_t key)
{
    return 3 * key + 1;
}

/* As in a program, no key comes again. A place that two posts of one key had,
 * with others between them, could show the first key with another's ticks. */
static void *post(void *none)
{
    for (uint64_t key = 1; key <= POSTS; key++) {
        sw_board_post(&board, key, ticks_of(key));
        posted = key;
    }
    return none;
}

static void *look(void *which)
{
    uint64_t found = 0, random = (uintptr_t)which;
    for (uint64_t now = 0; now < POSTS || found == 0;) {
        now = posted;
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t key = now + 2 - (random >> 33) % RECENT;
        if (key - 1 >= POSTS)
            continue;
        uint64_t ticks = sw_board_look(&board, key);
        if (!ticks)
            continue;
        if (ticks != ticks_of(key)) {
            fprintf(stderr, "key %llu has ticks %llu\n",
                    (unsigned long long)key, (unsigned long long)ticks);
            exit(1);
        }
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
