/*
 * The checksum against a plain one, bit by bit, of every length and alignment,
 * and in parts.
 */
#include "node/base/crc.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t plain(const unsigned char *bytes, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

static void must(bool so, const char *what)
{
    if (!so) {
        fprintf(stderr, "not so: %s\n", what);
        exit(1);
    }
}

int main(void)
{
    static unsigned char bytes[4096];
    srand(1);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)rand();
    must(sw_crc32(0, "123456789", 9) == 0xcbf43926u, "the known value");
    must(sw_crc32(0, bytes, 0) == 0, "of nothing");
    for (size_t n = 0; n < 100; n++)
        for (size_t from = 0; from < 9; from++)
            must(sw_crc32(0, bytes + from, n) == plain(bytes + from, n),
                 "short ones");
    uint32_t whole = plain(bytes, sizeof bytes);
    for (size_t cut = 0; cut <= sizeof bytes; cut++)
        must(sw_crc32(sw_crc32(0, bytes, cut), bytes + cut,
                      sizeof bytes - cut) == whole,
             "in two parts");
    return 0;
}
