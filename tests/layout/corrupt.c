/*
 * Corrupt layouts: the reader refuses them, or stays within their bounds. The
 * sanitizers' builds find a wild read. Every build watches the memory beside
 * the bounds.
 */
#include <stdio.h>
#include <string.h>

#include "make.h"

#define SPAN_MAX (1 << 20)
#define MARGIN 64

static void spoil(sw_layout_t *l)
{
    int64_t *word = (int64_t *)(void *)l;
    size_t words = l->bytes / sizeof *word;
    for (uint64_t k = below(3) + 1; k > 0; k--) {
        size_t i = below(words);
        switch (below(5)) {
        case 0: word[i] ^= (int64_t)((uint64_t)1 << below(64)); break;
        case 1: word[i] = (int64_t)(below(1 << 20) << below(44)); break;
        case 2: word[i] = (int64_t)-(uint64_t)word[i]; break;
        case 3: word[i] = (int64_t)((uint64_t)word[i] + below(17) - 8); break;
        default: word[i] = word[below(words)];
        }
    }
}

/* Returns whether it could be walked. */
static bool walk(const sw_layout_t *l)
{
    if (l->high - l->low > SPAN_MAX || l->size > SPAN_MAX)
        return false;
    size_t span = (size_t)(l->high - l->low);
    char *memory = malloc(span + 2 * MARGIN), *data = malloc(l->size + 1);
    memset(memory, 0x5a, span + 2 * MARGIN);
    memset(data, 0xa5, l->size + 1);
    char *base = (char *)((intptr_t)memory + MARGIN - l->low);
    sw_layout_unpack(l, base, 1, 0, l->size, data);
    sw_layout_pack(l, base, 1, l->size / 3, l->size, data);
    for (size_t i = 0; i < MARGIN; i++)
        if (memory[i] != 0x5a || memory[MARGIN + span + i] != 0x5a) {
            puts("written beyond the bounds");
            exit(1);
        }
    if (data[l->size] != (char)0xa5) {
        puts("packed too much");
        exit(1);
    }
    free(memory);
    free(data);
    return true;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 6000;
    uint64_t refused = 0, walked = 0;
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        map_t m;
        sw_layout_t *l = make_layout(seed, &m);
        if (!sw_layout_valid(l, l->bytes)) {
            printf("seed %llu: a good layout is refused\n",
                   (unsigned long long)seed);
            return 1;
        }
        size_t bytes = l->bytes;
        sw_layout_t *bad = malloc(bytes);
        for (int k = 0; k < 10; k++) {
            memcpy(bad, l, bytes);
            spoil(bad);
            if (!sw_layout_valid(bad, bytes))
                refused++;
            else
                walked += walk(bad);
        }
        if (sw_layout_valid(l, bytes - 1) || sw_layout_valid(l, 8)) {
            puts("half a layout is taken");
            return 1;
        }
        free(bad);
        free(l);
        free(m.at);
    }
    printf("%llu refused, %llu walked: ok\n", (unsigned long long)refused,
           (unsigned long long)walked);
    return !refused || !walked;
}
