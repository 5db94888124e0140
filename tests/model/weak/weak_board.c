/* profile/record/board.h: a look that finds a key finds its ticks. */
#include "weak.h"

#include "profile/record/board.h"

static sw_board_t board;
#define KEY(n) ((uint64_t)(n) * SW_BOARD_PLACES) /* all in one place */

static void *owner(void *unused)
{
    sw_board_post(&board, KEY(1), 1);
    sw_board_post(&board, KEY(2), 2);
    return unused;
}

static void *partner(void *unused)
{
    uint64_t ticks = sw_board_look(&board, KEY(1));
    assert(ticks == 0 || ticks == 1);
    return unused;
}

int main(void)
{
    run(owner, partner);
}
