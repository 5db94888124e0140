/*
 * Forms of operations. A program takes the same time after a writer has put it
 * out and a reader has read it back. A reader names the line of an error, and
 * no text makes it fail in another way.
 */
#include "vtime/program.h"
#include "vtime/engine/engine_file.h"
#include "vtime/formats/convert.h"
#include "vtime/base/lookup.h"
#include "vtime/model/model.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char folder[64];
static int told; /* what is said on stderr, a file */

static const char *path(const char *name)
{
    static char paths[8][128];
    static int next;
    char *to = paths[next++ % 8];
    snprintf(to, 128, "%s/%s", folder, name);
    return to;
}

/* What was said on stderr since the last time. */
static const char *said(void)
{
    static char text[1000];
    fflush(stderr);
    ssize_t n = pread(told, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    MUST(!ftruncate(told, 0));
    lseek(told, 0, SEEK_SET);
    return text;
}

static void write_text(const char *to, const char *text)
{
    FILE *file = fopen(to, "w");
    MUST(file && fputs(text, file) >= 0 && !fclose(file));
}

/* The virtual time of a file, under LogGPS with a rendezvous at 4000 bytes. */
static sw_ps_t time_of(const char *ops, uint64_t *messages)
{
    char why[512];
    sw_op_file_t *f = sw_op_open(ops, why, sizeof why);
    MUST(f);
    sw_model_t model;
    sw_model_init(&model, sw_op_ranks(f));
    for (int i = 0; i < SW_CLASS_COUNT; i++)
        model.links[i] = (sw_model_link_t){.o_send = 500000,
                                           .o_recv = 400000,
                                           .L = 2000000,
                                           .g = 300000,
                                           .G = 500,
                                           .O_send = 100,
                                           .S = 4000};
    sw_op_source_t source;
    sw_engine_options_t options = {.check = true};
    sw_op_source(f, &source);
    sw_engine_t *engine = sw_engine_new(&model, &source, &options);
    MUST(engine && sw_engine_contexts(engine, f));
    MUST(sw_engine_run(engine) == SW_ENGINE_DONE);
    sw_engine_result_t result;
    sw_engine_result(engine, &result);
    sw_ps_t end = result.end;
    if (messages)
        *messages = result.messages;
    MUST(result.operations == sw_op_count(f) && !sw_op_damaged(f));
    sw_engine_free(engine);
    sw_model_free(&model);
    sw_op_close(f);
    return end;
}

static const sw_convert_t how = {.flops = 1e9};

static void make(const char *pattern, const char *ranks, const char *bytes,
                 const char *to)
{
    char out[128],
        *words[] = {(char *)pattern, (char *)ranks, "20", (char *)bytes,
                    "5000",          out,           NULL};
    sw_converted_t done = {0};
    strcpy(out, to);
    MUST(sw_synthetic_ops(words, &done));
}

/* Messages keep their time on every way; so do collectives to SMPI. */
static void round_trips(void)
{
    static const char *const patterns[] = {"halo2d",    "ring",     "pingpong",
                                           "allreduce", "alltoall", "scan"};
    static const char *const sizes[] = {"100", "9000"};
    for (size_t i = 0; i < 2 * sizeof patterns / sizeof *patterns; i++) {
        const char *pattern = patterns[i / 2];
        bool messages = i / 2 < 3;
        make(pattern, "12", sizes[i % 2], path("a.swops"));
        sw_converted_t done = {0}, goal = {0};
        uint64_t before, after;
        sw_ps_t end = time_of(path("a.swops"), &before);
        MUST(sw_ops_to_goal(path("a.swops"), path("a.goal"), &how, &goal));
        MUST(sw_goal_to_ops(path("a.goal"), path("b.swops"), &how, &done));
        MUST((goal.expanded == 0) == messages);
        sw_ps_t again = time_of(path("b.swops"), &after);
        MUST(!messages || (again == end && after == before));
        /* What has become messages stays as it is. */
        MUST(sw_ops_to_goal(path("b.swops"), path("b.goal"), &how, &done));
        MUST(sw_goal_to_ops(path("b.goal"), path("c.swops"), &how, &done));
        MUST(time_of(path("c.swops"), NULL) == again);
        goal = (sw_converted_t){0};
        MUST(sw_ops_to_smpi(path("a.swops"), path("a.list"), &how, &goal));
        MUST(!goal.expanded || !strcmp(pattern, "scan"));
        MUST(sw_smpi_to_ops(path("a.list"), path("d.swops"), &how, &done));
        sw_ps_t there = time_of(path("d.swops"), &after);
        MUST(goal.expanded || (there == end && after == before));
    }
}

/* All that a rank may do: requests in any order, tags, communicators. */
static void to_file(void *of, uint32_t rank, sw_vop_t op)
{
    MUST(sw_op_write(of, rank, &op));
}

static void random_round_trips(void)
{
    static const uint32_t odd[] = {3, 1, 5};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        sw_op_writer_t *w = sw_op_writer_new(path("a.swops"), 6, NULL);
        program_t p = {.n = 6,
                       .rounds = 30,
                       .put = to_file,
                       .of = w,
                       .chance = 77 * seed,
                       .messages_only = true,
                       .odd = 4};
        MUST(sw_op_write_context(w, 4, 3, odd));
        program_make(&p);
        MUST(sw_op_writer_close(w));
        sw_converted_t done = {0};
        sw_ps_t end = time_of(path("a.swops"), NULL);
        MUST(sw_ops_to_goal(path("a.swops"), path("a.goal"), &how, &done));
        MUST(sw_goal_to_ops(path("a.goal"), path("b.swops"), &how, &done));
        MUST(time_of(path("b.swops"), NULL) == end);
        MUST(sw_ops_to_smpi(path("a.swops"), path("a.list"), &how, &done));
        MUST(sw_smpi_to_ops(path("a.list"), path("b.swops"), &how, &done));
        MUST(time_of(path("b.swops"), NULL) == end);
    }
}

static void goal_is(const char *text, sw_ps_t ns)
{
    sw_converted_t done = {0};
    write_text(path("x.goal"), text);
    bool good = sw_goal_to_ops(path("x.goal"), path("x.swops"), &how, &done);
    if (!good)
        dprintf(1, "%s", said());
    MUST(good);
    sw_ps_t found = time_of(path("x.swops"), NULL);
    if (found != 1000 * ns)
        dprintf(1, "%s\n  took %lld ps, not %lld ns\n", text, (long long)found,
                (long long)ns);
    MUST(found == 1000 * ns);
}

static void goal_by_hand(void)
{
    goal_is("num_ranks 1\nrank 0 {\n}\n", 0);
    goal_is("num_ranks 1\n\nrank 0 {\nl1: calc 70\ncalc 5 cpu 0\n}\n", 75);
    /* Half a round trip, from the sender's o to the receiver's. */
    goal_is("num_ranks 2 // two\nrank 0 {\nl1: calc 100\n"
            "l2: send 0b to 1 tag 3 nic 0\nl2 requires l1\n}\n"
            "/* the other\n one */ rank 1 {\nl1: recv 0b from 0 tag 3\n}\n",
            100 + 500 + 2000 + 400);
    /* A processor that computes receives behind it. */
    goal_is("num_ranks 2\nrank 0 {\nl1: send 10b to 1 tag 1\n}\n"
            "rank 1 {\na: recv 10b from -1 tag -1\nb: calc 9000\n"
            "c: calc 20\nc requires a\nc requires b\nb irequires a\n}\n",
            9000 + 400 + 20);
}

static void goal_fails(const char *text, const char *words)
{
    sw_converted_t done = {0};
    write_text(path("x.goal"), text);
    said();
    bool good = sw_goal_to_ops(path("x.goal"), path("x.swops"), &how, &done);
    const char *why = said();
    if (good || !strstr(why, words))
        dprintf(1, "%s\n  said: %s\n", text, why);
    MUST(!good && strstr(why, words));
    MUST(access(path("x.swops"), F_OK) || unlink(path("x.swops")));
}

static void wrong_goal_is_told(void)
{
    unlink(path("x.swops"));
    goal_fails("", "num_ranks");
    goal_fails("num_ranks 0\n", "num_ranks");
    goal_fails("num_ranks 2\nrank 2 {\n}\n", "x.goal:2: rank 2");
    goal_fails("num_ranks 2\nrank 1 {\n}\nrank 1 {\n}\n", "x.goal:4: rank 1");
    goal_fails("num_ranks 2\nrank 1 {\nl: calc 5\n", "} is missing");
    goal_fails("num_ranks 2\nrank 1 {\nl: calc 5b\n}\n", ":3: 5b");
    goal_fails("num_ranks 2\nrank 1 {\nl: send 5 to 0\n}\n", ":3: 5");
    goal_fails("num_ranks 2\nrank 1 {\nl: send 5b from 0\n}\n", "`to`");
    goal_fails("num_ranks 2\nrank 1 {\nl: send 5b to 2\n}\n", "no rank 2");
    goal_fails("num_ranks 2\nrank 1 {\nl: send 5b to -1\n}\n", "no rank -1");
    goal_fails("num_ranks 2\nrank 1 {\nl: jump 5\n}\n", ":3: jump");
    goal_fails("num_ranks 2\nrank 1 {\nl: calc 5\nl: calc 6\n}\n",
               ":4: there is a label l");
    goal_fails("num_ranks 2\nrank 1 {\nl: calc 5\nl requires m\n}\n",
               ":4: there is no label m");
    goal_fails("num_ranks 1\nrank 0 {\na: calc 5\nb: calc 5\na requires b\n"
               "b requires a\n}\n",
               ":3: this requires");
    goal_fails("num_ranks 1\nrank 0 {\na: calc 5 cpu 65536\n}\n", ":3: 65536");
}

/* No sequence has the meaning of these: they stay partial orders, in GOAL, too.
 * SMPI's form cannot have them. */
static void goal_partial_orders(void)
{
    goal_is("num_ranks 1\nrank 0 {\na: calc 5 cpu 1\nb: calc 5\n}\n", 5);
    goal_is("num_ranks 1\nrank 0 {\na: calc 5 cpu 1\nb: calc 6\nc: calc 7\n"
            "d: calc 1 cpu 1\nd requires b\nc irequires a\n}\n",
            13);
    goal_is("num_ranks 1\nrank 0 {\na: calc 5 cpu 3\nb: calc 5 cpu 3\n}\n", 10);
    goal_is("num_ranks 1\nrank 0 {\na: calc 5 cpu 3\nb: calc 5\nb requires a\n"
            "}\n",
            10);
    /* Two chains, each behind its own message. */
    const char *open =
        "num_ranks 2\nrank 0 {\na: recv 1b from 1 tag 1\n"
        "b: recv 1b from 1 tag 2\nc: calc 10\nc requires a\nd: calc 20\n"
        "d requires b\n}\nrank 1 {\na: send 1b to 0 tag 2\n"
        "b: send 1b to 0 tag 1\nb requires a\n}\n";
    sw_converted_t done = {0};
    write_text(path("x.goal"), open);
    MUST(sw_goal_to_ops(path("x.goal"), path("x.swops"), &how, &done));
    sw_ps_t once = time_of(path("x.swops"), NULL);
    MUST(sw_ops_to_goal(path("x.swops"), path("y.goal"), &how, &done));
    MUST(sw_goal_to_ops(path("y.goal"), path("y.swops"), &how, &done));
    MUST(time_of(path("y.swops"), NULL) == once);
    said();
    MUST(!sw_ops_to_smpi(path("x.swops"), path("x.list"), &how, &done));
    MUST(strstr(said(), "--file-order"));
    sw_convert_t order = {.file_order = true};
    MUST(sw_goal_to_ops(path("x.goal"), path("x.swops"), &order, &done));
    time_of(path("x.swops"), NULL);
}

static void smpi_fails(const char *text, const char *words)
{
    sw_converted_t done = {0};
    write_text(path("x.trace"), text);
    said();
    bool good = sw_smpi_to_ops(path("x.trace"), path("x.swops"), &how, &done);
    const char *why = said();
    if (good || !strstr(why, words))
        dprintf(1, "%s\n  said: %s\n", text, why);
    MUST(!good && strstr(why, words));
}

static void smpi_by_hand(void)
{
    sw_converted_t done = {0};
    /* The 10 doubles of rank 0 arrive while rank 1 computes. */
    write_text(path("x.trace"),
               "0 init 0\n1 init 0\n0 compute 1000\n0 send 1 7 10 0\n"
               "1 irecv 0 7 10 0\n1 compute 1e6\n1 wait 0 1 7\n"
               "0 sleep 0.002\n0 allreduce 0 500\n1 allreduce 0 0\n"
               "0 finalize\n1 finalize\n");
    MUST(sw_smpi_to_ops(path("x.trace"), path("x.swops"), &how, &done));
    uint64_t messages;
    sw_ps_t end = time_of(path("x.swops"), &messages);
    MUST(messages == 1);
    /* 80 bytes cost 580 ns to send; then 2 ms asleep, and 500 flop. */
    MUST(end >= (1000 + 508 + 2000000 + 500) * (sw_ps_t)1000);
    smpi_fails("", "neither a list");
    smpi_fails("0 init\n0 fly 3\n", "x.trace:2: fly");
    smpi_fails("0 init\n0 send 1 0 8\n", ":2: rank 1 is not in this file");
    smpi_fails("0 init\n0 bcast 8 3\n", ":2: rank 3 is not in this file");
    smpi_fails("0 init\n0 compute -1\n", ":2: -1");
    smpi_fails("0 init\n0 compute\n", ":2: compute");
    smpi_fails("0 init\n0 allreduce 1.5 0\n", "1.5 is no whole");
    smpi_fails("0 compute 1e29\n", "--flops");
    smpi_fails("nowhere.txt\n", "nowhere.txt cannot be read");
    smpi_fails("0 init\nhallo\n", "neither a list");
    sw_op_writer_t *w = sw_op_writer_new(path("a.swops"), 2, NULL);
    sw_vop_t any = {.kind = SW_OP_RECV, .peer = -1, .tag = 3};
    MUST(sw_op_write(w, 1, &any) && sw_op_writer_close(w));
    MUST(!sw_ops_to_smpi(path("a.swops"), path("a.list"), &how, &done));
    MUST(strstr(said(), "rank 1 receives from any"));
    MUST(access(path("a.list"), F_OK));
}

/* Larger, it is what the pattern is of that size. */
static void extrapolates(void)
{
    static const char *const patterns[] = {"halo2d", "ring", "alltoall",
                                           "bcast"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        sw_converted_t done = {0};
        make(patterns[i], "16", "100", path("a.swops"));
        make(patterns[i], "64", "100", path("b.swops"));
        MUST(sw_extrapolate_ops(path("a.swops"), path("c.swops"), 64, &done));
        char why[100];
        sw_op_file_t *a = sw_op_open(path("b.swops"), why, sizeof why);
        sw_op_file_t *b = sw_op_open(path("c.swops"), why, sizeof why);
        MUST(a && b && !strncmp(sw_op_note(b), "extrapolated", 12));
        sw_op_source_t one, two;
        sw_op_source(a, &one);
        sw_op_source(b, &two);
        for (uint32_t rank = 0; rank < 64; rank++)
            for (sw_vop_t x, y;;) {
                sw_source_state_t state = one.next(one.of, rank, &x);
                MUST(two.next(two.of, rank, &y) == state);
                if (state == SW_SOURCE_END)
                    break;
                MUST(x.kind == y.kind && x.peer == y.peer && x.tag == y.tag &&
                     x.bytes == y.bytes && x.sent == y.sent &&
                     x.received == y.received);
            }
        sw_op_close(a);
        sw_op_close(b);
    }
    sw_converted_t done = {0};
    make("pingpong", "16", "100", path("a.swops"));
    said();
    MUST(!sw_extrapolate_ops(path("a.swops"), path("c.swops"), 64, &done));
    MUST(strstr(said(), "operation 1 of rank 1"));
    MUST(!sw_extrapolate_ops(path("b.swops"), path("c.swops"), 63, &done));
}

/* Texts cut, mixed and spoilt. */
static void survives_anything(void)
{
    static const char goal[] =
        "num_ranks 3\nrank 0 {\nl1: calc 100\nl2: send 100b to 1 tag 2 cpu 0\n"
        "l2 requires l1\nl3: recv 8b from 2 tag 1\nl3 irequires l2\n}\n"
        "rank 1 {\nl1: recv 100b from 0 tag 2\n}\nrank 2 {\n/* */ send 8b to "
        "0 tag 1\n}\n";
    static const char smpi[] =
        "0 init\n1 init 0\n0 compute 1e3\n0 isend 1 2 100\n0 wait 0 1 2\n"
        "1 recv 0 2 100 6\n0 bcast 10 1 0\n1 bcast 10 1 0\n0 alltoallv 10 1 2 "
        "10 3 4\n1 waitall\n1 gatherv 4 1 2 0\n0 sendRecv 4 1 4 1\n";
    uint64_t chance = 9;
    said();
    for (int i = 0; i < 4000; i++) {
        const char *from = i % 2 ? goal : smpi;
        char text[2 * sizeof goal + 2 * sizeof smpi];
        strcpy(text, from);
        uint64_t spoilt = 1 + random_from(&chance) % 4;
        for (uint64_t k = 0; k < spoilt; k++) {
            size_t n = strlen(text), at = random_from(&chance) % n;
            size_t other = random_from(&chance) % n;
            switch (random_from(&chance) % 4) {
            case 0: text[at] = (char)(1 + random_from(&chance) % 126); break;
            case 1: memmove(text + at, text + at + 1, n - at); break;
            case 2: text[at] = text[other]; break;
            default: text[sw_max(at, 4)] = '\0'; break;
            }
            if (!*text)
                strcpy(text, from);
        }
        sw_converted_t done = {0};
        write_text(path("x.text"), text);
        bool good = (i % 2 ? sw_goal_to_ops : sw_smpi_to_ops)(
            path("x.text"), path("x.swops"), &how, &done);
        bool silent = !*said();
        if (good != silent)
            dprintf(1, "%s\n  was %s\n", text,
                    good ? "read, with words" : "refused in silence");
        MUST(good == silent);
    }
}

static void lookups(void)
{
    enum { KEYS = 500 };
    sw_lookup_t map = {0};
    uint64_t chance = 4, is[KEYS] = {0};
    for (int i = 0; i < 100000; i++) {
        uint64_t key = random_from(&chance) % KEYS, value = chance | 1;
        const uint64_t *found = sw_lookup_get(&map, key << 40);
        MUST(found ? *found == is[key] : !is[key]);
        if (i % 3) {
            *sw_lookup_put(&map, key << 40) = is[key] = value;
        } else {
            sw_lookup_remove(&map, key << 40);
            is[key] = 0;
        }
    }
    sw_lookup_free(&map);
}

int main(void)
{
    snprintf(folder, sizeof folder, "convert.%ld", (long)getpid());
    char words[128];
    snprintf(words, sizeof words, "mkdir %s", folder);
    MUST(!system(words));
    int errors = dup(2);
    told = open(path("told"), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0666);
    MUST(told >= 0);
    lookups();
    round_trips();
    random_round_trips();
    MUST(dup2(told, 2) == 2);
    goal_by_hand();
    wrong_goal_is_told();
    goal_partial_orders();
    smpi_by_hand();
    extrapolates();
    survives_anything();
    dup2(errors, 2);
    snprintf(words, sizeof words, "rm -r %s", folder);
    MUST(!system(words));
    return 0;
}
