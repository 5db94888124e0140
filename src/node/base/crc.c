/*
 * crc.c - see crc.h. Eight bytes a step, each through a table of its own
 * ("slicing by 8"): table k says what a byte does that k more follow.
 */
#include "crc.h"

static uint32_t table[8][256];

__attribute__((constructor)) static void fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            table[k][i] = table[0][table[k - 1][i] & 0xff] ^
                          table[k - 1][i] >> 8;
}

uint32_t sw_crc32(uint32_t crc, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    crc = ~crc;
    for (; n >= 8; n -= 8, at += 8) {
        crc ^= (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
               (uint32_t)at[3] << 24;
        crc = table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^
              table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
              table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
              table[0][at[7]];
    }
    for (; n; n--, at++)
        crc = table[0][(crc ^ *at) & 0xff] ^ crc >> 8;
    return ~crc;
}
