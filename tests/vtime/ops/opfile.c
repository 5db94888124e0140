/*
 * A reader gets from a file of operations what the writer put there. Nothing in
 * a file makes the reader fail without a message. A failed write leaves no
 * file.
 */
#include "must.h"
#include "vtime/ops/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define RANKS 7
#define MANY 40000

static char path[64];
static char why[512];

static sw_vop_t made(uint64_t *chance, uint32_t rank)
{
    uint64_t r = random_from(chance);
    sw_vop_t op = {.kind = (uint8_t)(1 + r % (SW_OP_THREAD + 1))};
    if (op.kind > SW_OP_THREAD)
        op.kind = SW_OP_WINDOW;
    bool small = r & 1024;
    uint64_t bytes = random_from(chance) % (small ? 4 : (uint64_t)1 << 48);
    switch (op.kind) {
    case SW_OP_COMPUTE:
        op.flags = r >> 24 & 1 ? SW_COMPUTE_ASLEEP : 0;
        op.time = (sw_ps_t)(random_from(chance) % (small ? 10 : 1u << 31));
        op.time *= r & 2048 ? 1000 : 1;
        break;
    case SW_OP_SEND:
    case SW_OP_RECV:
    case SW_OP_PROBE:
    case SW_OP_IPROBE:
    case SW_OP_CHOOSE:
    case SW_OP_MATCHED:
        op.peer = (int32_t)(random_from(chance) % RANKS);
        op.tag = (int32_t)(random_from(chance) % (small ? 2 : INT32_MAX));
        op.context = rank < 4 ? 9 * (random_from(chance) % 2) : 0;
        op.bytes = bytes;
        if (op.kind == SW_OP_RECV && r & 4096)
            op.peer = op.tag = SW_OP_ANY;
        if (op.kind == SW_OP_SEND)
            op.flags = r >> 20 & 7;
        break;
    case SW_OP_COLLECTIVE:
        op.what = (uint8_t)(random_from(chance) % SW_COLLECTIVE_COUNT);
        op.peer = (int32_t)(random_from(chance) % 4);
        op.bytes = bytes;
        op.sent = bytes / 2;
        op.received = bytes / 3;
        op.context = rank < 4 ? 9 : 0;
        op.tag = r & 4096 ? (int32_t)(1 + random_from(chance) % 3) : 0;
        break;
    case SW_OP_WINDOW:
        op.what = (uint8_t)(random_from(chance) % SW_WINDOW_COUNT);
        op.peer = (int32_t)(random_from(chance) % (RANKS + 1)) - 1;
        op.context = rank < 4 ? 9 : 0;
        op.bytes = bytes;
        op.flags = r >> 20 & (op.what == SW_WINDOW_MAKE ? 3 : 1);
        break;
    case SW_OP_SELECT: op.what = (uint8_t)(r >> 20 & 3); break;
    case SW_OP_THREAD:
        op.what = (uint8_t)((r >> 20) % (SW_THREAD_NEEDS + 1));
        op.tag = op.what ? (int32_t)(random_from(chance) % 3) : 0;
        break;
    case SW_OP_SECTION: op.bytes = bytes % (SW_SECTION_MOST + 1); break;
    default: break;
    }
    if (op.kind != SW_OP_COMPUTE && r & 8192)
        op.request = (uint32_t)(1 +
                                random_from(chance) % (small ? 5 : UINT32_MAX));
    return op;
}

static const uint32_t members[] = {3, 1, 2, 0};

static void write_many(uint64_t seed, int n)
{
    sw_op_writer_t *w = sw_op_writer_new(path, RANKS, "made\nfor a test");
    MUST(w);
    MUST(sw_op_write_context(w, 9, 4, members));
    MUST(sw_op_write_section(w, 3, "solve"));
    MUST(sw_op_write_section(w, 1, "solve/halo"));
    uint64_t chance = seed;
    for (int i = 0; i < n; i++) {
        uint32_t rank = (uint32_t)(random_from(&chance) % (RANKS - 1));
        sw_vop_t op = made(&chance, rank);
        MUST(sw_op_write(w, rank, &op));
    }
    MUST(sw_op_writer_close(w));
}

static bool alike(const sw_vop_t *a, const sw_vop_t *b)
{
    return a->kind == b->kind && a->what == b->what && a->flags == b->flags &&
           a->context == b->context && a->peer == b->peer && a->tag == b->tag &&
           a->request == b->request && a->bytes == b->bytes &&
           a->sent == b->sent && a->received == b->received &&
           a->time == b->time;
}

/* Ranks in turn, so that cursors are apart. */
static void read_back(void)
{
    enum { N = MANY };
    write_many(7, N);
    sw_op_file_t *f = sw_op_open(path, why, sizeof why);
    MUST(f);
    MUST(sw_op_ranks(f) == RANKS && sw_op_count(f) == N);
    MUST(!strcmp(sw_op_note(f), "made for a test"));
    MUST(sw_op_context_count(f) == 1);
    uint32_t number, n, *in = sw_op_context(f, 0, &number, &n);
    MUST(number == 9 && n == 4 && !memcmp(in, members, sizeof members));
    free(in);
    const sw_sections_t *sections = sw_op_sections(f);
    MUST(sections->count == 3);
    MUST(!strcmp(sw_sections_name(sections, 3), "solve"));
    MUST(!strcmp(sw_sections_name(sections, 1), "solve/halo"));
    MUST(!*sw_sections_name(sections, 2));
    sw_op_source_t source;
    sw_op_source(f, &source);
    for (int again = 0; again < 2; again++) {
        uint64_t chance = 7;
        for (int i = 0; i < N; i++) {
            uint32_t rank = (uint32_t)(random_from(&chance) % (RANKS - 1));
            sw_vop_t op = made(&chance, rank), found;
            MUST(source.next(source.of, rank, &found) == SW_SOURCE_OP);
            MUST(alike(&op, &found));
        }
        sw_vop_t op;
        for (uint32_t rank = 0; rank < RANKS; rank++)
            MUST(source.next(source.of, rank, &op) == SW_SOURCE_END);
        MUST(sw_op_damaged(f) == 0);
        sw_op_rewind(f);
    }
    sw_op_close(f);
}

/* A step of a halo exchange costs little. */
static void is_compact(void)
{
    enum { STEPS = 20000, N = STEPS * 14 };
    sw_op_writer_t *w = sw_op_writer_new(path, 100, NULL);
    uint64_t chance = 3;
    for (int step = 0; step < STEPS; step++) {
        sw_vop_t op = {.kind = SW_OP_COMPUTE,
                       .time = (sw_ps_t)(random_from(&chance) % 1000000) *
                               1000};
        MUST(sw_op_write(w, 50, &op));
        for (int i = 0; i < 8; i++) {
            static const int near[] = {49, 51, 40, 60};
            op = (sw_vop_t){.kind = i < 4 ? SW_OP_RECV : SW_OP_SEND,
                            .peer = near[i % 4],
                            .tag = i % 4,
                            .bytes = 80000,
                            .request = (uint32_t)i + 1};
            MUST(sw_op_write(w, 50, &op));
        }
        for (uint32_t i = 0; i < 4; i++) {
            op = (sw_vop_t){.kind = SW_OP_WAIT, .request = i + 1};
            MUST(sw_op_write(w, 50, &op));
        }
        op = (sw_vop_t){.kind = SW_OP_COLLECTIVE,
                        .what = 3,
                        .peer = -1,
                        .bytes = 8,
                        .sent = 8,
                        .received = 8};
        MUST(sw_op_write(w, 50, &op));
    }
    MUST(sw_op_writer_close(w));
    struct stat st;
    MUST(!stat(path, &st));
    MUST(st.st_size < N * 4);
}

/* Reads all, and checks that each operation is a possible one. */
static uint64_t read_all(void)
{
    sw_op_file_t *f = sw_op_open(path, why, sizeof why);
    if (!f) {
        MUST(*why);
        return 0;
    }
    sw_op_source_t source;
    sw_vop_t op;
    sw_op_source(f, &source);
    for (uint32_t rank = 0; rank < sw_op_ranks(f); rank++)
        while (source.next(source.of, rank, &op) == SW_SOURCE_OP) {
            MUST(op.kind >= 1 && op.kind <= SW_OP_WINDOW);
            MUST(op.context == 0 || op.context == 9);
            MUST(op.peer >= -1 && op.peer < (int32_t)sw_op_ranks(f));
            MUST(op.time >= 0);
            MUST(op.kind != SW_OP_SECTION || op.bytes <= SW_SECTION_MOST);
        }
    uint64_t damaged = sw_op_damaged(f);
    sw_op_close(f);
    return damaged;
}

static unsigned char *slurp(size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    MUST(fd >= 0 && !fstat(fd, &st));
    *size = (size_t)st.st_size;
    unsigned char *bytes = malloc(*size);
    MUST(read(fd, bytes, *size) == (ssize_t)*size);
    close(fd);
    return bytes;
}

static void spill(const unsigned char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

uint32_t sw_crc32(uint32_t crc, const void *bytes, size_t n);

static void put4(unsigned char *to, uint32_t n)
{
    memcpy(to, &n, 4);
}

/* With sums made right again, so that what is behind them is reached. */
static void damage_behind_sums(unsigned char *bad, size_t size)
{
    unsigned char *tail = bad + size - 64, *entries;
    uint64_t index, parts;
    uint32_t ranks;
    memcpy(&index, tail, 8);
    memcpy(&parts, tail + 8, 8);
    memcpy(&ranks, tail + 24, 4);
    entries = bad + index + 8 * (ranks + 2);
    for (uint64_t i = 0; i < parts; i++) {
        uint64_t offset;
        uint32_t length;
        memcpy(&offset, entries + 24 * i, 8);
        memcpy(&length, entries + 24 * i + 8, 4);
        put4(entries + 24 * i + 16, sw_crc32(0, bad + offset, length));
    }
    put4(tail + 32, sw_crc32(0, bad + index, size - 64 - index));
    put4(tail + 52, sw_crc32(0, tail, 52));
}

static void survives_anything(void)
{
    size_t size;
    write_many(11, 3000);
    unsigned char *good = slurp(&size), *bad = malloc(size);
    uint64_t chance = 5, damaged = 0;
    uint64_t index;
    memcpy(&index, good + size - 64, 8);
    for (int i = 0; i < 3000; i++) {
        memcpy(bad, good, size);
        size_t n = size;
        int how = (int)(random_from(&chance) % 4);
        uint64_t few = how ? 1 + random_from(&chance) % 20 : 0;
        for (uint64_t k = 0; k < few; k++)
            bad[16 + random_from(&chance) % (index - 16)] = (unsigned char)
                random_from(&chance);
        if (how == 0)
            bad[random_from(&chance) % size] ^= 1;
        else if (how == 1)
            n = random_from(&chance) % size;
        else
            damage_behind_sums(bad, size);
        spill(bad, n);
        damaged += read_all();
    }
    MUST(damaged > 1000);
    for (size_t n = 0; n < 100; n++) {
        spill(good, n);
        MUST(!sw_op_open(path, why, sizeof why));
    }
    free(good);
    free(bad);
}

/* A damaged part ends its rank, and no other. */
static void damage_costs_one_rank(void)
{
    sw_op_writer_t *w = sw_op_writer_new(path, 2, NULL);
    for (uint32_t i = 0; i < 200; i++) {
        sw_vop_t op = {.kind = SW_OP_COMPUTE, .time = 1000 * i};
        MUST(sw_op_write(w, i % 2, &op));
    }
    MUST(sw_op_writer_close(w));
    size_t size;
    unsigned char *bytes = slurp(&size);
    bytes[20] ^= 4;
    spill(bytes, size);
    free(bytes);
    sw_op_file_t *f = sw_op_open(path, why, sizeof why);
    MUST(f);
    sw_op_source_t source;
    sw_vop_t op;
    sw_op_source(f, &source);
    MUST(source.next(source.of, 0, &op) == SW_SOURCE_END);
    MUST(source.next(source.of, 0, &op) == SW_SOURCE_END);
    for (int i = 0; i < 100; i++)
        MUST(source.next(source.of, 1, &op) == SW_SOURCE_OP);
    MUST(source.next(source.of, 1, &op) == SW_SOURCE_END);
    MUST(sw_op_damaged(f) == 1);
    sw_op_close(f);
}

static void full_disk_leaves_nothing(void)
{
    char draft[128];
    snprintf(draft, sizeof draft, "%s.%ld.part", path, (long)getpid());
    struct rlimit before, limit;
    MUST(!getrlimit(RLIMIT_FSIZE, &before));
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t most = 0; most < 20000; most += 4000) {
        unlink(path);
        limit = (struct rlimit){most, before.rlim_max};
        MUST(!setrlimit(RLIMIT_FSIZE, &limit));
        sw_op_writer_t *w = sw_op_writer_new(path, RANKS, NULL);
        uint64_t chance = 1;
        for (int i = 0; w && i < 3000; i++) {
            sw_vop_t op = made(&chance, 0);
            op.context = 0;
            sw_op_write(w, 0, &op);
        }
        MUST(w && !sw_op_writer_close(w) && errno == EFBIG);
        MUST(!setrlimit(RLIMIT_FSIZE, &before));
        MUST(access(path, F_OK) && access(draft, F_OK));
    }
    MUST(!sw_op_writer_new("/no/such/folder/a.swops", 2, NULL));
    MUST(errno == ENOENT);
    sw_op_writer_t *w = sw_op_writer_new(path, 2, NULL);
    sw_op_writer_drop(w);
    MUST(access(path, F_OK) && access(draft, F_OK));
}

static void nonsense_is_refused(void)
{
    static const sw_vop_t wrong[] = {
        {.kind = 0},
        {.kind = SW_OP_STUCK},
        {.kind = SW_OP_COMPUTE, .time = -1},
        {.kind = SW_OP_SEND, .bytes = UINT64_MAX},
        {.kind = SW_OP_RECV, .peer = -2},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sw_op_writer_t *w = sw_op_writer_new(path, 2, NULL);
        MUST(!sw_op_write(w, 0, &wrong[i]));
        MUST(!sw_op_writer_close(w) && errno == EINVAL);
    }
    MUST(!sw_op_writer_new(path, 0, NULL));
}

/* Many ranks share what memory buffers may take. */
static void many_ranks(void)
{
    enum { N = 100000 };
    sw_op_writer_t *w = sw_op_writer_new(path, N, NULL);
    MUST(w);
    uint32_t *all = malloc(N * sizeof *all);
    for (uint32_t i = 0; i < N; i++)
        all[i] = N - 1 - i;
    MUST(sw_op_write_context(w, 4, N, all));
    for (uint32_t k = 0; k < 20; k++)
        for (uint32_t i = 0; i < N; i++) {
            sw_vop_t op = {.kind = SW_OP_COLLECTIVE,
                           .peer = -1,
                           .context = 4 * (k % 2),
                           .bytes = k};
            MUST(sw_op_write(w, i, &op));
        }
    MUST(sw_op_writer_close(w));
    sw_op_file_t *f = sw_op_open(path, why, sizeof why);
    MUST(f && sw_op_count(f) == 20 * N);
    uint32_t number, n, *members = sw_op_context(f, 0, &number, &n);
    MUST(number == 4 && n == N && !memcmp(members, all, N * sizeof *all));
    free(members);
    free(all);
    sw_op_source_t source;
    sw_vop_t op;
    sw_op_source(f, &source);
    for (uint32_t k = 0; k < 20; k++)
        for (uint32_t i = 0; i < N; i++)
            MUST(source.next(source.of, i, &op) == SW_SOURCE_OP &&
                 op.bytes == k);
    sw_op_close(f);
}

int main(void)
{
    snprintf(path, sizeof path, "opfile.%ld.swops", (long)getpid());
    read_back();
    is_compact();
    survives_anything();
    damage_costs_one_rank();
    nonsense_is_refused();
    many_ranks();
    unlink(path);
    full_disk_leaves_nothing();
    unlink(path);
    return 0;
}
