/*
 * Model files: each line does what it says, each mistake is named with its
 * line, and no text at all makes the reader fail.
 */
#include "must.h"

#include "vtime/model/model_file.h"
#include "vtime/model/network.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* In memory: thousands of files are read. */
static char path[40], why[400];
static int fd;

static bool read_bytes(sw_model_t *model, const char *text, size_t size)
{
    MUST(!ftruncate(fd, 0) && pwrite(fd, text, size, 0) == (ssize_t)size);
    why[0] = 0;
    return sw_model_read(model, path, why, sizeof why);
}

static void reads(sw_model_t *model, const char *text)
{
    bool good = read_bytes(model, text, strlen(text));
    if (!good)
        fprintf(stderr, "%s\n", why);
    MUST(good);
}

/* The text is wrong in this line, for this. */
static void refused(const char *text, int line, const char *because)
{
    sw_model_t model;
    char place[80];
    MUST(!read_bytes(&model, text, strlen(text)));
    snprintf(place, sizeof place, "%s, line %d: ", path, line);
    if (!line)
        snprintf(place, sizeof place, "%s: ", path);
    if (strncmp(why, place, strlen(place)) || !strstr(why, because))
        fprintf(stderr, "said: %s\n", why);
    MUST(!strncmp(why, place, strlen(place)) && strstr(why, because));
}

static const char *const all =
    "# what a model may have\n"
    "ranks 12   # so many\n"
    "\n"
    "place 4 2\n"
    "place_rank 11 0 0\n"
    "link self L 1\n"
    "link domain o_send 10 o_recv 20.5 L 100 g 7 O_send 0.25 O_recv .5 G 1\n"
    "link network L 1e3 G 0.04 S 8192\r\n"
    "point node 0 1 2 3 4\n"
    "point node 8 1 2.001 3 4\n"
    "point node 64 5 6 7 8\n"
    "given node 4096 1 2 3 4\n"
    "given node 8192 1 3 3 4\n"
    "access created put 8 30 0.5\n"
    "access created put 64 90 1\n"
    "access allocated fetch 8 40 0\n"
    "locks allocated 10 20\n"
    "network\tcrossbar latency 50 G 0.08\n"
    "noise 1000000 25000 77\n"
    "cpu_speed 1.5\n"
    "reduce 0.125\n"
    "test 30";

static void test_every_line(void)
{
    char text[2000];
    sw_model_t m;
    /* ".5" is no number here: they begin with a digit. */
    refused(all, 7, "O_recv must be ns a byte, from 0 to 1e+09, not .5");
    snprintf(text, sizeof text, "%s", all);
    memcpy(strstr(text, " .5"), " 2 ", 3);
    reads(&m, text);
    MUST(m.ranks == 12 && m.places.per_node == 4 && m.places.per_domain == 2);
    MUST(sw_model_node(&m, 11) == 0 && sw_model_node(&m, 10) == 2);
    MUST(sw_model_class(&m, 11, 0) == SW_CLASS_DOMAIN);
    MUST(sw_model_class(&m, 8, 9) == SW_CLASS_DOMAIN);
    MUST(sw_model_class(&m, 8, 10) == SW_CLASS_NODE);
    const sw_model_link_t *link = &m.links[SW_CLASS_DOMAIN];
    MUST(link->o_send == 10000 && link->o_recv == 20500);
    MUST(link->L == 100000 && link->g == 7000 && link->S == UINT64_MAX);
    MUST(link->O_send == 250 && link->O_recv == 2000 && link->G == 1000);
    MUST(m.links[SW_CLASS_SELF].L == 1000);
    link = &m.links[SW_CLASS_NETWORK];
    MUST(link->L == 1000000 && link->G == 40 && link->S == 8192);
    link = &m.links[SW_CLASS_NODE];
    MUST(link->point_count[0] == 3 && link->points[0][2].bytes == 64);
    MUST(link->points[0][1].wire == 2001 && link->points[0][1].send == 1000);
    MUST(link->points[0][2].gap == 7000 && link->points[0][2].receive == 8000);
    MUST(m.network && sw_network_room(m.network) == 3);
    /* The link's L belongs to the crossing. */
    MUST(sw_network_cross(m.network, 0, 1, 100, 0) == 1000000 + 100000 + 8000);
    MUST(m.noise.period == 1000000000 && m.noise.duration == 25000000);
    MUST(m.noise.seed == 77 && m.cpu_speed == 1.5);
    MUST(m.reduce == 125 && m.test == 30000);
    sw_cost_t cost;
    MUST(!sw_model_given(&m, 8, 10, 4095, &cost));
    MUST(sw_model_given(&m, 8, 10, 6144, &cost));
    MUST(cost.send == 1000 && cost.latency == 2000 && cost.transfer == 500);
    MUST(cost.gap == 3000 && cost.receive == 4000 && !cost.rendezvous);
    MUST(!sw_model_given(&m, 8, 9, 6144, &cost)); /* a domain */
    MUST(!sw_model_given(&m, 0, 9, 6144, &cost)); /* another node */
    sw_ps_t call, rest;
    MUST(sw_accesses_at(&m.accesses, SW_MEMORY_CREATED, SW_WINDOW_PUT, 36,
                        &call, &rest) &&
         call == 60000 && rest == 750);
    MUST(sw_accesses_at(&m.accesses, SW_MEMORY_ALLOCATED, SW_WINDOW_FETCH, 99,
                        &call, &rest) &&
         call == 40000 && rest == 0);
    MUST(!sw_accesses_at(&m.accesses, SW_MEMORY_ALLOCATED, SW_WINDOW_PUT, 8,
                         &call, &rest));
    MUST(!m.accesses.has_locks[SW_MEMORY_CREATED]);
    MUST(m.accesses.has_locks[SW_MEMORY_ALLOCATED] &&
         m.accesses.lock[SW_MEMORY_ALLOCATED] == 10000 &&
         m.accesses.unlock[SW_MEMORY_ALLOCATED] == 20000);
    sw_model_free(&m);
    reads(&m, "ranks 2\nstate 1 2.5 0.5\nstate 2 70 0\n"
              "point node 8 1 2 3 4\npoint node 8 5 6 7 8 1\n"
              "point node 64 5 6 7 8 1\npoint node 9 9 9 9 9 2\n");
    MUST(m.state_count == 3 && m.states[1].after == 2500);
    MUST(m.states[1].after_byte == 500 && m.states[2].after == 70000);
    link = &m.links[SW_CLASS_NODE];
    MUST(link->point_count[1] == 2 && link->point_count[2] == 1);
    MUST(link->points[1][1].bytes == 64 && link->points[2]->send == 9000);
    sw_model_free(&m);
    reads(&m, "ranks 1");
    MUST(!m.network && m.ranks == 1 && m.links[SW_CLASS_NODE].S == UINT64_MAX);
    MUST(!m.loggopsim && !m.node_speed);
    sw_model_free(&m);
    reads(&m, "ranks 3\nnode_speed 1 0.5\nnode_speed 2 2\nloggopsim\n");
    MUST(m.loggopsim && m.node_speed[0] == 1 && m.node_speed[1] == 0.5 &&
         m.node_speed[2] == 2);
    sw_model_free(&m);
}

/* A class without a line takes the link of the next wider one, as its own. */
static void test_wider_links(void)
{
    sw_model_t m;
    reads(&m, "ranks 8\nlink network L 9\npoint node 8 1 2 3 4\n"
              "point node 64 5 6 7 8\ngiven node 4096 1 2 3 4\n");
    for (int i = 0; i < SW_CLASS_NETWORK; i++) {
        MUST(m.links[i].point_count[0] == 2 && m.links[i].given_count == 1);
        MUST(m.links[i].points[0][1].bytes == 64);
    }
    sw_model_free(&m);
    reads(&m, "ranks 8\nlink network L 9\nlink domain L 0\n");
    MUST(m.links[SW_CLASS_NODE].L == 9000);
    MUST(m.links[SW_CLASS_DOMAIN].L == 0 && m.links[SW_CLASS_SELF].L == 0);
    sw_model_free(&m);
    reads(&m, "ranks 8\nlink domain L 5\n");
    MUST(m.links[SW_CLASS_NODE].L == 0 && m.links[SW_CLASS_NETWORK].L == 0);
    sw_model_free(&m);
}

static void test_mistakes(void)
{
    refused("", 0, "there is no line: ranks N");
    refused("# nothing\n", 0, "no line: ranks N");
    refused("place 4 2\n", 1, "the first line must be: ranks N");
    refused("ranks 0\n", 1, "whole number from 1 to 16777216, not 0");
    refused("ranks 16777217\n", 1, "from 1 to 16777216");
    refused("ranks -1\n", 1, "not -1");
    refused("ranks 2\nnode_speed 2 1\n", 2, "the node must be");
    refused("ranks 2\nnode_speed 0 0\n", 2, "a factor from 1e-9");
    refused("ranks 2\nloggopsim\nnetwork crossbar latency 5\n", 3,
            "LogGOPSim's rule has no network");
    refused("ranks\n", 1, "must be: ranks N");
    refused("ranks 2\nranks 2\n", 2, "twice");
    refused("ranks 2\nplace 0 1\n", 2, "ranks of a node must be");
    refused("ranks 2\nplace 2 1\nplace 2 1\n", 3, "twice");
    refused("ranks 2\n\nplaces 2 1\n", 3, "no line places");
    refused("ranks 2\nplace_rank 2 0 0\n", 2, "from 0 to 1, not 2");
    refused("ranks 2\nplace_rank 1 0 0\nplace_rank 1 1 0", 3,
            "rank 1 has two places");
    refused("ranks 2\nlink wire L 1\n", 2, "no link wire; there are self");
    refused("ranks 2\nlink node l 1\n", 2, "no key l; it has o_send");
    refused("ranks 2\nlink node L\n", 2, "L has no value");
    refused("ranks 2\nlink node L 1 G\n", 2, "G has no value");
    refused("ranks 2\nlink node L 1e99\n", 2, "from 0 to 1e+12, not 1e99");
    refused("ranks 2\nlink node L inf\n", 2, "not inf");
    refused("ranks 2\nlink node L 1,5\n", 2, "not 1,5");
    refused("ranks 2\nlink node S 1.5\n", 2, "S must be a whole number");
    refused("ranks 2\nlink node S 99999999999999999999\n", 2, "S must be");
    refused("ranks 2\npoint node 1 2 3 4\n", 2, "must be: point CLASS BYTES");
    refused("ranks 2\npoint node 8 0 0 0 0\npoint node 8 0 0 0 0\n", 3,
            "8 comes after 8");
    refused("ranks 2\nstate 2 0 0\n", 2, "numbered from 1 to 3, in order");
    refused("ranks 2\nstate 1 -1 0\n", 2, "a state must be a time in ns");
    refused("ranks 2\nstate 1 0 x\n", 2, "'x' is no speed");
    refused("ranks 2\npoint node 8 0 0 0 0 1\n", 2, "there is no state '1'");
    refused("ranks 2\nstate 1 0 0\npoint node 8 0 0 0 0 1\n", 3,
            "come after those without one");
    refused("ranks 2\ntable bcast 2 8 1 1 1\n", 2, "there is no state '1'");
    refused("ranks 2\ngiven node 8 1 1 1\n", 2, "must be: given CLASS");
    refused("ranks 2\ngiven network 8 1 1 1 1\n", 2, "within a node only");
    refused("ranks 2\ngiven node 8 1 1 1 1\ngiven node 8 1 1 1 1\n", 3,
            "8 comes after 8");
    refused("ranks 2\naccess made put 8 1 1\n", 2,
            "memory is created or allocated, not made");
    refused("ranks 2\naccess created lock 8 1 1\n", 2, "no access lock");
    refused("ranks 2\naccess created put 1.5 1 1\n", 2, "bytes of an access");
    refused("ranks 2\naccess created put 8 -1 1\n", 2, "the call must be");
    refused("ranks 2\naccess created put 8 1 -1\n", 2, "the rest must be");
    refused("ranks 2\naccess created put 8 1\n", 2, "must be: access MEMORY");
    refused("ranks 2\naccess created put 8 1 1\naccess created get 8 1 1\n"
            "access created put 8 1 1\n",
            4, "by their bytes, each once");
    refused("ranks 2\nlocks any 1 1\n", 2, "not any");
    refused("ranks 2\nlocks created 1 x\n", 2, "an unlock must be");
    refused("ranks 2\nplace 1 1\nnetwork torus size 1\nlink network L 1\n", 3,
            "places for 1 nodes, and there are 2");
    refused("ranks 2\nnetwork crossbar\nnetwork crossbar\n", 3, "twice");
    refused("ranks 2\nnetwork ring\n", 2, "no network ring");
    refused("ranks 2\nnoise 1000 1000 1\n", 2, "below the period");
    refused("ranks 2\nnoise 999 1 1\n", 2, "at least 1000 ns");
    refused("ranks 2\nnoise 5000 1 -1\n", 2, "the seed must be");
    refused("ranks 2\ncpu_speed 0\n", 2, "from 1e-9 to 1e9, not 0");
    refused("ranks 2\nreduce x\n", 2, "reduce must be ns a byte");
    refused("ranks 2\ntest\n", 2, "must be: test NS");
    sw_model_t m;
    MUST(!read_bytes(&m, "ranks 2\nte\0st 3\n", 16) && strstr(why, "byte 0"));
    char many[400] = "ranks 2\nlink node";
    for (int i = 0; i < 40; i++)
        strcat(many, " L 1");
    refused(many, 2, "more than 64 words");
    MUST(!sw_model_read(&m, "/nowhere/at all", why, sizeof why));
    MUST(strstr(why, "No such file"));
    MUST(!sw_model_read(&m, "/tmp", why, sizeof why));
    MUST(strstr(why, "directory"));
}

/* Good text, made bad: either it is a model, or there is a reason. */
static void test_damage(void)
{
    static const char *const bits[] = {
        "\n",
        " ",
        "#",
        "0",
        "-",
        "x",
        "4294967295",
        "99999999999999999999",
        "1e300",
        "torus size 8x8",
        "fat_tree radix 4 levels 3",
        "ranks",
        "dragonfly groups 3 routers 2 hosts 2 global 1 valiant 2",
        "\r",
        "place_rank 3 1 1\n",
        "network ",
        "link ",
        "point self 5 1 1 1 1\n",
        "noise 1000 1 1\n",
        "free all\n",
        "scale all 0.5\n",
        "nan",
        "inf",
        "formula all ring 0 1\n",
        "table bcast 4 8 1 1\n",
        "measured all\n",
        "messages alltoall pairwise\n",
        "offload allreduce 1 2 3\n",
    };
    uint64_t state = 20061115;
    int good = 0;
    for (int i = 0; i < 20000; i++) {
        char text[4000];
        size_t size = (size_t)snprintf(text, 2000, "%s\n", all);
        memcpy(strstr(text, " .5"), " 2 ", 3);
        for (uint64_t n = random_from(&state) % 4 + 1; n; n--) {
            size_t at = random_from(&state) % (size + 1);
            const char
                *bit = bits[random_from(&state) % (sizeof bits / sizeof *bits)];
            size_t cut = random_from(&state) % 3
                             ? 0
                             : random_from(&state) % (size - at + 1);
            size_t more = random_from(&state) % 4 ? strlen(bit) : 0;
            if (!more && at < size)
                text[at] = (char)random_from(&state);
            memmove(text + at + more, text + at + cut, size - at - cut);
            memcpy(text + at, bit, more);
            size = size + more - cut;
        }
        sw_model_t m;
        if (!read_bytes(&m, text, size)) {
            MUST(!strncmp(why, path, strlen(path)));
            MUST(strlen(why) > strlen(path) + 10);
            MUST(!strchr(why, '\n'));
            continue;
        }
        good++;
        sw_cost_t c;
        uint32_t last = m.ranks - 1;
        for (uint64_t bytes = 1; bytes; bytes <<= 7) {
            sw_model_message(&m, 0, last, bytes, 0, &c);
            MUST(c.send >= 0 && c.latency >= 0 && c.transfer >= 0);
        }
        uint32_t a = sw_model_node(&m, 0), b = sw_model_node(&m, last);
        MUST(a < sw_model_nodes(&m) && b < sw_model_nodes(&m));
        if (m.network && a != b)
            MUST(sw_network_cross(m.network, a, b, 1 << 20, 3) >= 3);
        sw_model_free(&m);
    }
    MUST(good > 200 && good < 19000);
}

int main(void)
{
    fd = memfd_create("model", MFD_CLOEXEC);
    MUST(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    test_every_line();
    test_wider_links();
    test_mistakes();
    test_damage();
    close(fd);
    return 0;
}
