/*
 * A copy past the caches is a copy: every length and alignment, and nothing
 * beside it changes.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node/base/copy.h"

#define ROOM 2000
#define MARGIN 64

int main(void)
{
    static unsigned char from[ROOM], to[ROOM], want[ROOM];
    for (int i = 0; i < ROOM; i++)
        from[i] = (unsigned char)(i * 7 + i / 256);
    for (size_t n = 0; n < 1200; n += n < 600 ? 1 : 37)
        for (size_t a = 0; a < 64; a += n % 5 ? 7 : 1)
            for (size_t b = 0; b < 64; b += n % 3 ? 9 : 4) {
                memset(to, 0xcc, ROOM);
                memset(want, 0xcc, ROOM);
                memcpy(want + MARGIN + a, from + b, n);
                sw_copy_past(to + MARGIN + a, from + b, n);
                if (memcmp(to, want, ROOM)) {
                    printf("%zu bytes, to +%zu from +%zu: wrong\n", n, a, b);
                    return 1;
                }
            }
    puts("ok");
    return 0;
}
