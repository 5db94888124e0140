/*
 * memory.c - see memory.h.
 */
#include "memory.h"

#include "node/os/os.h"

#include <pthread.h>

#define PIECE ((size_t)1 << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *piece;
static size_t left;

void *sw_profile_memory(size_t size)
{
    size = sw_round_up(size, SW_LINE);
    pthread_mutex_lock(&lock);
    char *at = NULL;
    if (size > PIECE / 2) {
        at = sw_os_map_lazy(NULL, sw_round_up(size, SW_PAGE));
    } else {
        if (left < size) {
            /* Where there is little room, a small piece may still fit. */
            piece = NULL;
            for (left = PIECE; !piece && left >= SW_PAGE; left /= 4)
                piece = sw_os_map_lazy(NULL, left);
            left = piece ? 4 * left : 0;
        }
        if (left >= size) {
            at = piece;
            piece += size;
            left -= size;
        }
    }
    pthread_mutex_unlock(&lock);
    return at;
}
