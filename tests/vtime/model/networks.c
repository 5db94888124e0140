/*
 * Networks: which links a message takes, and what it costs that others do.
 */
#include "vtime/say.h"

#include "vtime/model/network_kind.h"

#include <string.h>

static sw_network_t *try(uint32_t nodes, const char *text)
{
    char copy[300], *word[40];
    int words = split(text, copy, sizeof copy, word);
    why[0] = 0;
    return sw_network_make(nodes, words, word, why, sizeof why);
}

static sw_network_t *made(uint32_t nodes, const char *text)
{
    sw_network_t *n = try(nodes, text);
    if (!n)
        fprintf(stderr, "%s: %s\n", text, why);
    MUST(n);
    return n;
}

static void refused(uint32_t nodes, const char *text, const char *because)
{
    MUST(!try(nodes, text));
    if (!strstr(why, because))
        fprintf(stderr, "%s: %s\n", text, why);
    MUST(strstr(why, because));
}

static uint32_t hops(sw_network_t *n, uint32_t from, uint32_t to)
{
    return sw_network_route(n, from, to, NULL, 0);
}

/* No link twice, all of them there, alike forth and again. */
static void check_routes(sw_network_t *n, uint32_t nodes, uint32_t most)
{
    uint32_t one[100], two[100];
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            if (a == b)
                continue;
            uint32_t count = sw_network_route(n, a, b, one, 100);
            MUST(count >= 2 && count <= most);
            MUST(sw_network_route(n, a, b, two, 100) == count);
            MUST(!memcmp(one, two, count * sizeof *one));
            for (uint32_t i = 0; i < count; i++) {
                MUST(one[i] < sw_network_links(n));
                for (uint32_t j = 0; j < i; j++)
                    MUST(one[i] != one[j]);
            }
        }
}

/* On how many links at least two messages of a permutation meet. */
static uint32_t conflicts(sw_network_t *n, uint32_t nodes,
                          uint32_t (*to)(uint32_t, uint32_t, uint32_t),
                          uint32_t by)
{
    uint32_t *uses = calloc(sw_network_links(n), sizeof *uses), links[32];
    uint32_t met = 0;
    for (uint32_t i = 0; i < nodes; i++) {
        uint32_t target = to(i, nodes, by);
        if (target == i)
            continue;
        uint32_t count = sw_network_route(n, i, target, links, 32);
        for (uint32_t h = 0; h < count; h++)
            met += ++uses[links[h]] == 2;
    }
    free(uses);
    return met;
}

static uint32_t shifted(uint32_t i, uint32_t nodes, uint32_t by)
{
    return (i + by) % nodes;
}

/* Crossbar: 10 ns a link, 1 ns a byte. */
static void test_crossbar(void)
{
    sw_network_t *n = made(4, "crossbar latency 10 G 1");
    MUST(sw_network_links(n) == 8 && sw_network_room(n) == 4);
    check_routes(n, 4, 2);
    MUST(sw_network_latency(n, 0, 1) == 20000);
    MUST(sw_network_transfer(n, 100) == 100000);
    /* Alone: two links, and the bytes once. */
    MUST(sw_network_cross(n, 0, 1, 100, 0) == 120000);
    /* Disjoint: as if alone. */
    MUST(sw_network_cross(n, 2, 3, 100, 0) == 120000);
    /* To the same node: behind the first, which leaves its last link at
     * 10 + 100; by then the head has long been there. */
    MUST(sw_network_cross(n, 2, 1, 100, 0) == 220000 + 0);
    sw_network_reset(n);
    MUST(sw_network_cross(n, 0, 1, 100, 0) == 120000);
    MUST(sw_network_cross(n, 3, 1, 100, 0) == 220000);
    MUST(sw_network_cross(n, 0, 2, 100, 0) == 220000);
    /* Later than all: alone again. */
    MUST(sw_network_cross(n, 0, 1, 100, 1000000) == 1120000);
    /* Both directions at once do not disturb each other. */
    sw_network_reset(n);
    MUST(sw_network_cross(n, 0, 1, 100, 0) == 120000);
    MUST(sw_network_cross(n, 1, 0, 100, 0) == 120000);
    /* Nothing but a head still waits. */
    MUST(sw_network_cross(n, 0, 1, 0, 0) == 120000);
    sw_network_ends(n, 7000);
    MUST(sw_network_latency(n, 0, 1) == 27000);
    MUST(sw_network_cross(n, 0, 1, 100, 1000000) == 1127000);
    sw_network_free(n);
    n = made(4, "crossbar ports 36");
    MUST(sw_network_room(n) == 36 && sw_network_links(n) == 72);
    MUST(sw_network_cross(n, 0, 3, 1 << 30, 5) == 5);
    sw_network_free(n);
}

/* A slow link in the middle, and quick ones after it. */
static void test_the_slowest_link_counts(void)
{
    sw_network_t *n = made(4, "torus size 4 latency 10 G 4 host_latency 5 "
                              "host_G 1");
    /* 5 + 10 + 5, and 100 bytes at 4 ns. */
    MUST(sw_network_cross(n, 0, 1, 100, 0) == 420000);
    /* Another on the same cable: waits for 400 where its head came at 5. */
    MUST(sw_network_cross(n, 0, 1, 100, 0) == 820000);
    /* The other way round, the host link alone was shared: until 200. */
    MUST(sw_network_cross(n, 0, 3, 100, 0) == 200000 + 420000);
    sw_network_free(n);
}

static void test_torus(void)
{
    sw_network_t *n = made(8 * 4 * 5, "torus size 8x4x5 latency 1");
    uint32_t links[40];
    check_routes(n, 160, 2 + 4 + 2 + 2);
    for (uint32_t a = 0; a < 160; a++)
        for (uint32_t b = 0; b < 160; b++) {
            uint32_t size[] = {8, 4, 5}, far = 0, x = a, y = b;
            for (int d = 0; d < 3; d++) {
                uint32_t up = (y % size[d] + size[d] - x % size[d]) % size[d];
                far += up < size[d] - up ? up : size[d] - up;
                x /= size[d], y /= size[d];
            }
            MUST(a == b || hops(n, a, b) == 2 + far);
        }
    /* Dimension order: 0 -> (1, 1, 0): host, first upwards from router 0,
     * then the second dimension upwards from router 1, host. */
    MUST(sw_network_route(n, 0, 9, links, 40) == 4);
    MUST(links[0] == 0 && links[3] == 160 + 9);
    MUST(links[1] == 320 + 0 * 6 + 0 && links[2] == 320 + 1 * 6 + 2);
    /* Both ways are equally long: upwards. */
    MUST(sw_network_route(n, 0, 4, links, 40) == 6 && links[1] == 320);
    /* Round the end, downwards. */
    MUST(sw_network_route(n, 0, 7, links, 40) == 3 && links[1] == 320 + 1);
    MUST(sw_network_route(n, 7, 0, links, 40) == 3);
    MUST(links[1] == 320 + 7 * 6);
    sw_network_free(n);
    /* Several nodes at a router, and dimensions of one and two. */
    n = made(12, "torus size 1x2x3 hosts 2 latency 1");
    check_routes(n, 12, 2 + 1 + 1);
    MUST(hops(n, 0, 1) == 2 && hops(n, 0, 2) == 3);
    MUST(sw_network_room(n) == 12);
    sw_network_free(n);
}

static void test_fat_tree_routes(void)
{
    /* Radix 4, 2 levels: leaves of 2, 4 leaves, 2 tops: 8 nodes. */
    sw_network_t *n = made(8, "fat_tree radix 4 levels 2 latency 3 "
                              "host_latency 1");
    uint32_t links[8];
    MUST(sw_network_room(n) == 8 && sw_network_links(n) == 16 + 16);
    check_routes(n, 8, 4);
    MUST(hops(n, 0, 1) == 2 && hops(n, 0, 2) == 4);
    MUST(sw_network_latency(n, 0, 1) == 2000);
    MUST(sw_network_latency(n, 0, 7) == 8000);
    /* From 1 to 6: up[1] = 1, so 6 mod 2 = 0, the first top. Leaf 0's links
     * up are 16, 17, leaf 3's links down 24 + 6, 24 + 7. */
    MUST(sw_network_route(n, 1, 6, links, 8) == 4);
    MUST(links[0] == 1 && links[1] == 16 + 0);
    MUST(links[2] == 24 + 6 && links[3] == 8 + 6);
    MUST(sw_network_route(n, 1, 7, links, 8) == 4 && links[1] == 16 + 1);
    sw_network_free(n);
    n = made(16, "fat_tree radix 4 levels 3");
    MUST(sw_network_room(n) == 16 && sw_network_links(n) == 3 * 32);
    check_routes(n, 16, 6);
    MUST(hops(n, 0, 1) == 2 && hops(n, 0, 3) == 4 && hops(n, 0, 15) == 6);
    sw_network_free(n);
}

/* Zahavi et al. 2010: D-mod-k routes every shift of a full tree without two
 * messages on one link. */
static void test_shifts_on_full_trees_do_not_meet(void)
{
    static const char *const trees[] = {
        "fat_tree radix 8 levels 2", "fat_tree radix 4 levels 3",
        "fat_tree radix 8 levels 3", "fat_tree radix 6 levels 3",
        "fat_tree radix 4 levels 4", "fat_tree down 4x4x4 up 1x4x4",
    };
    for (size_t t = 0; t < sizeof trees / sizeof *trees; t++) {
        sw_network_t *n = made(1, trees[t]);
        uint32_t room = sw_network_room(n);
        for (uint32_t by = 1; by < room; by++)
            MUST(!conflicts(n, room, shifted, by));
        sw_network_free(n);
    }
    /* Tapered 3 : 1, it cannot be so. */
    sw_network_t *n = made(1, "fat_tree radix 8 levels 2 nodes_per_leaf 6");
    MUST(sw_network_room(n) == 48);
    check_routes(n, 48, 4);
    MUST(conflicts(n, 48, shifted, 6) > 0);
    sw_network_free(n);
}

/* And that they meet is what costs: 6 nodes over 2 links up, each three. */
static void test_tapering_costs(void)
{
    sw_network_t *n = made(48, "fat_tree radix 8 levels 2 nodes_per_leaf 6 "
                               "G 1");
    sw_ps_t last = 0;
    for (uint32_t i = 0; i < 48; i++) {
        sw_ps_t end = sw_network_cross(n, i, (i + 6) % 48, 1000, 0);
        last = end > last ? end : last;
    }
    MUST(last == 3000000);
    sw_network_free(n);
    n = made(32, "fat_tree radix 8 levels 2 G 1");
    for (uint32_t i = 0; i < 32; i++)
        MUST(sw_network_cross(n, i, (i + 6) % 32, 1000, 0) == 1000000);
    sw_network_free(n);
}

static void test_dragonfly(void)
{
    /* The full one: 9 groups of 4 routers with 2 nodes and 2 global links. */
    sw_network_t *n = made(72, "dragonfly groups 9 routers 4 hosts 2 global 2 "
                               "latency 1 host_latency 10 global_latency 100");
    MUST(sw_network_room(n) == 72);
    check_routes(n, 72, 5);
    uint32_t global = 2 * 72 + 36 * 4, links[8];
    uint32_t uses[72] = {0};
    for (uint32_t a = 0; a < 72; a++)
        for (uint32_t b = 0; b < 72; b++) {
            if (a == b)
                continue;
            uint32_t count = sw_network_route(n, a, b, links, 8), over = 0;
            for (uint32_t i = 0; i < count; i++)
                if (links[i] >= global)
                    over++, uses[links[i] - global]++;
            MUST(over == (a / 8 != b / 8));
            MUST(a / 2 != b / 2 || count == 2);
            MUST(a / 8 != b / 8 || a / 2 == b / 2 || count == 3);
        }
    /* Each of the 72 global links has the traffic of a pair of groups. */
    for (int i = 0; i < 72; i++)
        MUST(uses[i] == 64);
    /* Group 0, port 0 (its router 0) leads to group 1; there it is port
     * 9 - 1 - 1 = 7, of router 3. So 0 -> 8 + 6: no local link. */
    MUST(sw_network_route(n, 0, 14, links, 8) == 3);
    MUST(links[1] == global && sw_network_latency(n, 0, 14) == 120000);
    /* From router 1 to router 0 there: local, global, local. */
    MUST(sw_network_route(n, 2, 8, links, 8) == 5);
    MUST(links[1] == 144 + 1 * 4 + 0 && links[2] == global);
    MUST(links[3] == 144 + 7 * 4 + 0);
    MUST(sw_network_latency(n, 2, 8) == 122000);
    sw_network_free(n);
    /* More links than there are others: several between two groups. */
    n = made(24, "dragonfly groups 3 routers 4 hosts 2 global 1");
    check_routes(n, 24, 5);
    uint32_t one[8], two[8];
    uint32_t c = sw_network_route(n, 0, 8, one, 8);
    uint32_t d = sw_network_route(n, 0, 9, two, 8);
    MUST(c >= 3 && d >= 3 && memcmp(one, two, sizeof *one * (c - 1)));
    sw_network_free(n);
    n = made(8, "dragonfly groups 1 routers 4 hosts 2");
    check_routes(n, 8, 3);
    sw_network_free(n);
}

/* Everybody of a group to one other group: one cable takes it all, by the
 * minimal routes; by others it is spread. The same messages, the same times. */
static void test_valiant(void)
{
    const char *text = "dragonfly groups 9 routers 4 hosts 2 global 2 G 1";
    sw_ps_t ends[2] = {0}, first[8];
    for (int v = 0; v < 2; v++) {
        char line[200];
        snprintf(line, sizeof line, "%s%s", text, v ? " valiant 3" : "");
        sw_network_t *n = made(72, line);
        for (int again = 0; again < 2; again++) {
            sw_network_reset(n);
            for (uint32_t i = 0; i < 8; i++) {
                sw_ps_t end = sw_network_cross(n, i, 8 + i, 1000, 50);
                ends[v] = end > ends[v] ? end : ends[v];
                MUST(!again || first[i] == end);
                first[i] = end;
            }
        }
        sw_network_free(n);
    }
    MUST(ends[0] == 8000000 + 50);
    MUST(ends[1] < ends[0]);
}

/* By way of every other group about as often, never of the own or the
 * target's; so two global links. */
static void test_valiants_groups(void)
{
    sw_network_t *n = made(72, "dragonfly groups 9 routers 4 hosts 2 global 2 "
                               "valiant 3");
    uint32_t links[8], uses[9] = {0}, global = 2 * 72 + 36 * 4;
    for (uint64_t salt = 1; salt <= 7000; salt++) {
        uint32_t count = n->kind->route(n, 17, 42, salt, links), over = 0;
        MUST(count >= 4 && count <= 7 && links[0] == 17);
        MUST(links[count - 1] == 72 + 42);
        for (uint32_t i = 0; i < count; i++)
            if (links[i] >= global && over++)
                uses[(links[i] - global) / 8]++; /* it leaves from there */
        MUST(over == 2);
    }
    for (int g = 0; g < 9; g++)
        MUST(g == 2 || g == 5 ? !uses[g] : uses[g] > 900 && uses[g] < 1100);
    /* Of two groups, or within one, it is the minimal route. */
    MUST(n->kind->route(n, 17, 22, 5, links) == 3);
    sw_network_free(n);
}

static void test_what_is_refused(void)
{
    refused(4, "mesh", "no network mesh; there are crossbar, fat_tree");
    refused(4, "", "without a name");
    refused(4, "torus dimensions 9", "at most 8");
    refused(4, "torus size 2x2 dimensions 2", "not both");
    refused(4, "torus size 2x1", "places for 2 nodes, and there are 4");
    refused(4, "torus size 2x", "numbers like 8x8x4, not 2x");
    refused(4, "torus size 0x8", "numbers like");
    refused(4, "torus size 2x2x2x2x2x2x2x2x2", "more than 8 numbers");
    refused(4, "torus size 65536x65536", "more than 4294967295 places");
    refused(4, "torus size 60000x50000", "links");
    refused(4, "torus size", "size has no value");
    refused(4, "torus size 2x2 size 4", "size is given twice");
    refused(4, "torus size 2x2 ports 4", "no key ports; it has latency G size");
    refused(4, "torus size 2x2 latency -1", "latency must be a time in ns");
    refused(4, "torus size 2x2 latency nan", "latency must be");
    refused(4, "torus size 2x2 G 0x10", "G must be ns a byte");
    refused(4, "torus size 2x2 hosts 0", "at least 1, not 0");
    refused(9, "crossbar ports 8", "places for 8 nodes, and there are 9");
    refused(4, "fat_tree", "needs radix, or down");
    refused(9, "fat_tree radix 4 levels 2", "places for 8 nodes");
    refused(4, "fat_tree radix 4 levels 2 nodes_per_leaf 4", "must go up");
    refused(4, "fat_tree radix 4 levels 1 nodes_per_leaf 5", "has 4 ports");
    refused(4, "fat_tree radix 4 levels 9", "at most 8");
    refused(4, "fat_tree radix 1 levels 2", "at least 2");
    refused(4, "fat_tree radix 4000 levels 8", "which is the most");
    refused(4, "fat_tree down 4x4 up 1", "as many numbers");
    refused(4, "fat_tree down 4x4", "as many numbers");
    refused(4, "fat_tree down 4 up 4000000000", "links");
    refused(4, "fat_tree down 4x4 up 1x4 radix 8", "not both");
    refused(4, "dragonfly groups 2 routers 2", "hosts is missing");
    refused(4, "dragonfly groups 9 routers 2 hosts 2 global 2",
            "4 links to others");
    refused(4, "dragonfly groups 0 routers 2 hosts 2 global 2", "at least 1");
    refused(80, "dragonfly groups 9 routers 4 hosts 2 global 2", "for 72");
    refused(4, "dragonfly groups 70000 routers 70000 hosts 2 global 2",
            "which is the most");
}

/* Without sizes, networks are as small as will do. */
static void test_sizes(void)
{
    static const struct {
        uint32_t nodes;
        const char *text;
        uint32_t room;
    } cases[] = {
        {1, "fat_tree radix 36", 36},
        {36, "fat_tree radix 36", 36},
        {37, "fat_tree radix 36", 648},
        {649, "fat_tree radix 36", 11664},
        {13, "fat_tree radix 36 nodes_per_leaf 12", 432},
        {1, "torus", 1},
        {27, "torus", 27},
        {28, "torus", 36},
        {65, "torus dimensions 2", 72},
        {100, "torus hosts 4", 108},
        {5, "torus dimensions 1", 5},
        {1, "dragonfly", 2},
        {6, "dragonfly", 6},
        {7, "dragonfly", 8},
        {72, "dragonfly", 72},
        {73, "dragonfly", 90},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sw_network_t *n = made(cases[i].nodes, cases[i].text);
        if (sw_network_room(n) != cases[i].room)
            fprintf(stderr, "%s of %u: %u\n", cases[i].text, cases[i].nodes,
                    sw_network_room(n));
        MUST(sw_network_room(n) == cases[i].room);
        check_routes(n, cases[i].nodes > 100 ? 100 : cases[i].nodes, 60);
        sw_network_free(n);
    }
    refused(1000, "fat_tree radix 2", "places for");
}

/* A hundred thousand nodes: links are all that is held. */
static void test_large(void)
{
    sw_network_t *n = made(100000, "fat_tree radix 96 levels 3 latency 1 G 1");
    MUST(sw_network_room(n) == 48 * 48 * 96);
    sw_ps_t end = 0;
    uint64_t state = 7;
    for (int i = 0; i < 100000; i++) {
        uint32_t a = (uint32_t)(random_from(&state) % 100000);
        uint32_t b = (uint32_t)(random_from(&state) % 100000);
        if (a != b)
            end = sw_network_cross(n, a, b, 1000, i * 100);
        MUST(end > 0);
    }
    sw_network_free(n);
}

int main(void)
{
    test_crossbar();
    test_the_slowest_link_counts();
    test_torus();
    test_fat_tree_routes();
    test_shifts_on_full_trees_do_not_meet();
    test_tapering_costs();
    test_dragonfly();
    test_valiant();
    test_valiants_groups();
    test_what_is_refused();
    test_sizes();
    test_large();
    return 0;
}
