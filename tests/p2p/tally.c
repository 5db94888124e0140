/*
 * tally.c - messages of a hundred thousand tags are counted one by one, and no
 * count takes more steps the more tags there are.
 */
#include "must.h"
#include "p2p/tally.h"

#define TAGS 100000
#define STEPS 8 /* on average */

static uint64_t state = 7;

int main(void)
{
    static int tags[TAGS];
    sw_tally_t t = SW_TALLY(SW_TALLY_LIMIT), small = SW_TALLY(64);
    for (int i = 0; i < TAGS; i++)
        tags[i] = i % 2 ? i : (int)(random_from(&state) >> 34) * 2;
    for (uint64_t round = 1; round <= 3; round++)
        for (int i = 0; i < TAGS; i++)
            MUST(sw_tally_next(&t, i % 3, i / 1000, tags[i]) == round);
    for (int i = 0; i < TAGS; i++) {
        MUST(sw_tally_of(&t, i % 3, i / 1000, tags[i]) == 3);
        MUST(!sw_tally_of(&t, 3, i / 1000, tags[i]));
    }
    MUST(t.steps < (uint64_t)STEPS * 5 * TAGS);
    sw_tally_clear(&t);
    MUST(sw_tally_next(&t, 0, 0, tags[0]) == 1);
    sw_tally_clear(&t);

    /* One that is full counts on, but nothing new. */
    for (int i = 0; i < TAGS; i++)
        MUST(sw_tally_next(&small, 1, 1, i) == (i < 32));
    MUST(sw_tally_next(&small, 1, 1, 31) == 2);
    sw_tally_clear(&small);
    return 0;
}
