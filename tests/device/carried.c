/*
 * The engine carries what a walk over the layout carries, byte for byte, and
 * leaves the gaps alone: random layouts, in all directions, for every kind of
 * memory, in one piece and in several.
 */
#include "carried.h"
#include "../layout/make.h"

#include "device/shape.h"
#include "sanitized.h"

#define LAYOUTS (SANITIZED ? 100 : 400)

static void device_free(char *at)
{
    handle_t before;
    CU(cuCtxGetCurrent(&before));
    handle_t own = NULL;
    if (!before) {
        CU(cuDevicePrimaryCtxRetain(&own, 0));
        CU(cuCtxSetCurrent(own));
    }
    CU(cuMemFree_v2((uintptr_t)at));
    if (!before)
        CU(cuCtxSetCurrent(NULL));
}

/* A block of memory with room before its base, on the device or not, and a
 * copy in which the processor does the same. */
typedef struct {
    char *at, *copy, *base;
    size_t bytes;
    bool device;
} block_t;

static block_t block(const sw_layout_t *l, int64_t count, bool device)
{
    int64_t low = 0, high = count;
    if (l)
        sw_layout_span(l, count, &low, &high);
    block_t b = {.bytes = (size_t)(high - low), .device = device};
    b.bytes += !b.bytes;
    b.at = device ? device_memory(b.bytes) : malloc(b.bytes);
    b.copy = malloc(b.bytes);
    MUST(b.at && b.copy);
    for (size_t i = 0; i < b.bytes; i++)
        b.copy[i] = (char)below(256);
    memcpy(device ? seen(b.at) : b.at, b.copy, b.bytes);
    b.base = b.at - low;
    return b;
}

static char *base_of_copy(const block_t *b)
{
    return b->copy + (b->base - b->at);
}

static bool same(const block_t *b)
{
    return memcmp(b->device ? seen(b->at) : b->at, b->copy, b->bytes) == 0;
}

static void release(block_t *b)
{
    if (b->device)
        device_free(b->at);
    else
        free(b->at);
    free(b->copy);
}

/* Does no byte lie in the data twice? MPI allows no such type to be written. */
static bool writable(const sw_layout_t *l, int64_t count)
{
    int64_t low, high;
    uint64_t total = l->size * (uint64_t)count;
    sw_layout_span(l, count, &low, &high);
    size_t span = (size_t)(high - low);
    char *ones = malloc(total + 1), *memory = calloc(1, span + 1);
    MUST(ones && memory);
    memset(ones, 1, total);
    sw_layout_unpack(l, memory - low, count, 0, total, ones);
    uint64_t set = 0;
    for (size_t i = 0; i < span; i++)
        set += (uint64_t)memory[i];
    free(ones);
    free(memory);
    return set == total;
}

static void packs(uint64_t seed, const sw_layout_t *l, int64_t count,
                  bool device)
{
    uint64_t total = l->size * (uint64_t)count;
    uint64_t a = below(total + 1), z = below(total + 1);
    uint64_t from = a < z ? a : z, to = below(3) ? total : a < z ? z : a;
    from = below(3) ? 0 : from;
    block_t user = block(l, count, true);
    block_t data = block(NULL, (int64_t)(to - from), device);
    CHECK(sw_carry_pack(l, user.base, count, from, to, data.base), "pack");
    sw_layout_pack(l, base_of_copy(&user), count, from, to, data.copy);
    CHECK(same(&user) && same(&data), "packed bytes");
    bool write = writable(l, count);
    for (size_t i = 0; i < data.bytes; i++)
        data.copy[i] = (char)below(256);
    memcpy(device ? seen(data.at) : data.at, data.copy, data.bytes);
    if (write) {
        CHECK(sw_carry_unpack(l, user.base, count, from, to, data.base),
              "unpack");
        sw_layout_unpack(l, base_of_copy(&user), count, from, to, data.copy);
        CHECK(same(&user) && same(&data), "unpacked bytes");
    }
    release(&user);
    release(&data);
}

/* From a layout to a layout. */
static void moves(uint64_t seed, const sw_layout_t *from, int64_t n,
                  const sw_layout_t *to, int64_t m, int kinds)
{
    uint64_t bytes = from->size * (uint64_t)n;
    if (!writable(to, m))
        return;
    if (to->size * (uint64_t)m < bytes)
        bytes = to->size * (uint64_t)m;
    block_t source = block(from, n, kinds & 1),
            target = block(to, m, kinds & 2);
    sw_carry_side_t s = {from, source.base, n, 0}, t = {to, target.base, m, 0};
    CHECK(sw_carry(&s, &t, bytes), "move");
    sw_layout_transfer(from, base_of_copy(&source), n, to,
                       base_of_copy(&target), m, 0, bytes);
    CHECK(same(&source) && same(&target), "moved bytes");
    release(&source);
    release(&target);
}

static sw_layout_t *shared(uint64_t seed)
{
    map_t map;
    sw_layout_t *l = make_layout(seed, &map);
    free(map.at);
    return l ? sw_layout_share(l) : NULL;
}

static void random_layouts(void)
{
    sw_layout_t *last = shared(7777);
    for (uint64_t seed = 1; seed <= LAYOUTS; seed++) {
        sw_layout_t *l = shared(seed);
        CHECK(l, "not built");
        int64_t count = (int64_t)below(5), other = (int64_t)below(5);
        packs(seed, l, count, true);
        packs(seed, l, count, false);
        for (int kinds = 1; kinds < 4; kinds++) {
            moves(seed, l, count, l, count, kinds);
            moves(seed, l, count, last, other, kinds);
        }
        sw_layout_drop(last);
        last = l;
    }
    sw_layout_drop(last);
}

/* Layouts --------------------------------------------------------------- */

/* `n` runs of irregular lengths and gaps; or each of `run` bytes. */
static sw_layout_t *private_list(int64_t n, uint64_t run)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t *place = malloc((size_t)n * sizeof *place);
    MUST(b && place);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t length = run ? run : 1 + below(40);
        place[i] = sw_place_moved(sw_build_run(b, length), at);
        at += (int64_t)length + 1 + (int64_t)below(9);
    }
    sw_layout_place_t all = sw_build_list(b, n, place);
    free(place);
    sw_layout_t *l = sw_build_end(b, all, at + 3);
    MUST(l);
    return l;
}

static sw_layout_t *list(int64_t n, uint64_t run)
{
    return sw_layout_share(private_list(n, run));
}

static sw_layout_t *vector(int64_t n, uint64_t run, int64_t stride)
{
    sw_build_t *b = sw_build_new();
    sw_layout_place_t p = sw_build_repeat(b, n, stride, sw_build_run(b, run));
    sw_layout_t *l = sw_build_end(b, p, n * stride);
    MUST(l);
    return sw_layout_share(l);
}

/* Boxes of up to six levels, whose strides are small multiples of what lies
 * within: levels that continue each other, and levels that seem to. */
static void boxes(void)
{
    for (uint64_t seed = 1; seed <= (SANITIZED ? 100 : 500); seed++) {
        sw_build_t *b = sw_build_new();
        int64_t span = 1 + (int64_t)below(16);
        sw_layout_place_t p = sw_build_run(b, (uint64_t)span);
        for (uint64_t levels = below(7); levels; levels--) {
            int64_t count = 1 + (int64_t)below(4);
            int64_t stride = span * (1 + (int64_t)below(3));
            if (span * count > 4000)
                break;
            p = sw_build_repeat(b, count, below(4) ? stride : -stride, p);
            span = stride * count;
        }
        sw_layout_t *l = sw_build_end(b, p, span * (1 + (int64_t)below(2)));
        MUST(l);
        l = sw_layout_share(l);
        packs(seed, l, 1 + (int64_t)below(3), seed % 2);
        sw_layout_drop(l);
    }
}

/* More than both stages hold, of odd sizes. */
static void pieces(void)
{
    sw_layout_t *l[] = {vector(36001, 16, 32), vector(18011, 32, -40),
                        list(25001, 24), list(27001, 0)};
    for (int i = 0; i < 3; i++)
        moves(1, l[i], 4, l[(i + 1) % 3], 4, i + 1);
    packs(1, l[3], 4, false);
    for (int i = 0; i < 4; i++)
        sw_layout_drop(l[i]);
}

/* Each piece is late. */
static void late(void)
{
    sw_layout_t *l = vector(36001, 16, 32);
    for (int kinds = 1; kinds < 4; kinds++)
        moves(1, l, 5, l, 5, kinds);
    sw_layout_drop(l);
}

/* Elements further apart than 31 bits count, of a type whose table has entries
 * of 32 bits at first. */
static void far_apart(void)
{
    const int64_t extent = (int64_t)3 << 30;
    enum { N = 40, RUN = 5 };
    char data[2 * N * RUN], back[sizeof data], want[sizeof data];
    sw_build_t *b = sw_build_new();
    sw_layout_place_t place[N];
    for (int i = 0; i < N; i++)
        place[i] = sw_place_moved(sw_build_run(b, RUN), 9 * i + i % 4);
    sw_layout_t *l = sw_build_end(b, sw_build_list(b, N, place), extent);
    MUST(l);
    l = sw_layout_share(l);
    char *device = device_memory((size_t)extent + 400);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 400; i++)
            seen(device + k * extent)[i] = (char)below(256);
        for (size_t i = 0; i < sizeof data; i++)
            back[i] = (char)below(256);
        MUST(sw_carry_pack(l, device, 2, 0, sizeof data, data));
        sw_layout_pack(l, seen(device), 2, 0, sizeof data, want);
        MUST(memcmp(data, want, sizeof data) == 0);
        MUST(sw_carry_unpack(l, device, 2, 0, sizeof data, back));
        sw_layout_pack(l, seen(device), 2, 0, sizeof data, want);
        MUST(memcmp(back, want, sizeof data) == 0);
    }
    sw_layout_drop(l);
}

static void plain_bytes(void)
{
    for (size_t n = 1; n < 6 << 20; n = 3 * n + 1)
        for (int kinds = 1; kinds < 4; kinds++) {
            block_t from = block(NULL, (int64_t)n, kinds & 1);
            block_t to = block(NULL, (int64_t)n, kinds & 2);
            MUST(sw_carry_pack(NULL, from.base, (int64_t)n, 0, n, to.base));
            memcpy(to.copy, from.copy, n);
            MUST(same(&from) && same(&to));
            release(&from);
            release(&to);
        }
}

static void nothing(void)
{
    sw_layout_t *l = list(10, 0), *empty = vector(0, 4, 8);
    char here[8];
    char *device = device_memory(100);
    uint64_t before = standin.count(NULL);
    MUST(sw_carry_pack(l, device, 0, 0, 0, here));
    MUST(sw_carry_unpack(empty, device, 5, 0, 0, here));
    MUST(sw_carry_pack(NULL, NULL, 0, 0, 0, NULL));
    MUST(standin.count(NULL) == before);
    sw_layout_drop(l);
    sw_layout_drop(empty);
}

/* Whose memory it is ------------------------------------------------------- */

static void refuses_what_is_not_its(void)
{
    sw_layout_t *l = vector(100, 8, 16);
    char here[2000], there[2000];
    memset(here, 1, sizeof here);
    memset(there, 2, sizeof there);
    char *device = device_memory(1592);
    memset(seen(device), 3, 1592);
    /* Both sides are the processor's. */
    MUST(!sw_carry_pack(l, here, 1, 0, 800, there));
    /* One byte of the device's is missing. */
    MUST(sw_carry_pack(l, device, 1, 0, 800, there));
    MUST(!sw_carry_pack(l, device + 1, 1, 0, 800, there));
    MUST(!sw_carry_pack(l, device - 1, 1, 0, 800, there));
    MUST(!sw_carry_pack(l, device, 2, 0, 1600, there));
    MUST(!sw_carry_unpack(l, device, 2, 0, 1600, here));
    /* Absolute addresses: of the device alone, and of both. */
    sw_build_t *b = sw_build_new();
    sw_layout_place_t place[2] = {
        sw_place_moved(sw_build_run(b, 8), (intptr_t)device),
        sw_place_moved(sw_build_run(b, 8), (intptr_t)device + 100)};
    sw_layout_t *absolute = sw_build_end(b, sw_build_list(b, 2, place), 0);
    MUST(sw_carry_pack(absolute, NULL, 1, 0, 16, there));
    MUST(there[0] == 3 && there[15] == 3);
    free(absolute);
    /* The processor's part is above the device's, or below. */
    static char below_all[100];
    MUST(below_all < device);
    for (int k = 0; k < 2; k++) {
        b = sw_build_new();
        place[0] = sw_place_moved(sw_build_run(b, 8), (intptr_t)device);
        place[1] = sw_place_moved(sw_build_run(b, 8),
                                  (intptr_t)(k ? below_all : here));
        absolute = sw_build_end(b, sw_build_list(b, 2, place), 0);
        MUST(!sw_carry_pack(absolute, NULL, 1, 0, 16, there));
        MUST(!sw_carry_unpack(absolute, NULL, 1, 0, 16, device + 100));
        free(absolute);
    }
    sw_layout_drop(l);
    /* Freed memory is no device's. */
    device_free(device);
    MUST(!sw_carry_pack(NULL, device, 100, 0, 100, here));
}

static void off(void)
{
    char here[100];
    char *device = device_memory(100);
    uint64_t before = standin.count(NULL);
    sw_settings.gpu = false;
    MUST(!sw_carry_pack(NULL, device, 100, 0, 100, here));
    MUST(standin.count(NULL) == before);
}

static void one_kind(char *at, char *where)
{
    sw_layout_t *l = list(50, 0);
    size_t bytes = l->size;
    block_t user = block(l, 1, true);
    char *data = malloc(bytes);
    MUST(sw_carry_pack(l, user.base, 1, 0, bytes, at));
    sw_layout_pack(l, base_of_copy(&user), 1, 0, bytes, data);
    MUST(memcmp(where, data, bytes) == 0);
    for (size_t i = 0; i < bytes; i++)
        data[i] = where[i] = (char)below(256);
    MUST(sw_carry_unpack(l, user.base, 1, 0, bytes, at));
    sw_layout_unpack(l, base_of_copy(&user), 1, 0, bytes, data);
    MUST(same(&user));
    /* And as the only memory of the device's. */
    MUST(sw_carry_pack(l, user.base, 1, 0, bytes, at));
    release(&user);
    free(data);
    sw_layout_drop(l);
}

static void kinds_of_memory(void)
{
    handle_t context, stream;
    at_t at, pool;
    void *pinned, *page = aligned_alloc(4096, 8192);
    device_memory(1); /* initialises */
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    CU(cuMemHostAlloc(&pinned, 5000, 0));
    one_kind(pinned, pinned);
    CU(cuMemHostRegister_v2(page, 8192, 0));
    one_kind((char *)page + 100, (char *)page + 100);
    CU(cuMemAllocManaged(&at, 5000, 1));
    one_kind((char *)at, (char *)at);
    CU(cuStreamCreate(&stream, 1));
    CU(cuMemAllocAsync(&pool, 5000, stream));
    CU(cuStreamSynchronize(stream));
    one_kind((char *)pool, seen((char *)pool));
    /* A pool's memory and the processor's, with no current context. */
    char here[100];
    CU(cuCtxSetCurrent(NULL));
    memset(seen((char *)pool), 9, 100);
    MUST(sw_carry_pack(NULL, (char *)pool, 100, 0, 100, here));
    MUST(here[0] == 9 && here[99] == 9);
    handle_t current;
    CU(cuCtxGetCurrent(&current));
    MUST(!current);
}

/* What it costs ---------------------------------------------------------- */

static void steady(void)
{
    static const char *const never[] = {
        "cuMemAlloc_v2",        "cuMemFree",           "cuMemHostAlloc",
        "cuModuleLoadData",     "cuStreamCreate",      "cuModuleGetFunction",
        "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync",   "cuStreamSynchronize",
        "cuCtxSynchronize",     "cuDeviceGetAttribute"};
    uint64_t before[sizeof never / sizeof *never];
    sw_layout_t *l = list(1000, 0);
    block_t user = block(l, 1, true),
            data = block(NULL, (int64_t)l->size, true);
    block_t host = block(NULL, (int64_t)l->size, false);
    for (int warm = 0; warm < 2; warm++) {
        uint64_t launches = standin.count("cuLaunchKernel");
        uint64_t all = standin.count(NULL);
        uint64_t queries = standin.count("cuStreamQuery");
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
            before[i] = standin.count(never[i]);
        MUST(sw_carry_pack(l, user.base, 1, 0, l->size, data.base));
        MUST(sw_carry_unpack(l, user.base, 1, 0, l->size, data.base));
        MUST(sw_carry_pack(l, user.base, 1, 0, l->size, host.base));
        MUST(standin.count("cuLaunchKernel") == launches + 3);
        if (!warm)
            continue;
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
            MUST(standin.count(never[i]) == before[i]);
        all = standin.count(NULL) - all;
        all -= standin.count("cuStreamQuery") - queries;
        /* Two addresses, the context and its number, in and out, a launch. */
        MUST(all <= 3 * 9);
    }
    release(&user);
    release(&data);
    release(&host);
    sw_layout_drop(l);
}

static void without_a_leak(void)
{
    size_t used, spare;
    uint64_t allocations = 0;
    for (uint64_t i = 0; i < (SANITIZED ? 200 : 1000); i++) {
        sw_layout_t *l = list(2 + (int64_t)(i % 40), 0);
        packs(i, l, 2, false);
        sw_layout_drop(l);
        if (i == 50)
            allocations = standin.count("cuMemAlloc_v2");
    }
    sw_tables_count(&used, &spare);
    MUST(used == 0 && spare < 6);
    /* No more than the test's own. */
    MUST(standin.count("cuMemAlloc_v2") - allocations <= 2 * 1000);
    /* A large table is given back. */
    uint64_t frees = standin.count("cuMemFree_v2");
    sw_layout_t *large = list(300000, 0), *small = list(5, 0);
    block_t user = block(large, 1, true), data = block(NULL, 10000000, false);
    MUST(sw_carry_pack(large, user.base, 1, 0, large->size, data.base));
    sw_layout_drop(large);
    MUST(standin.count("cuMemFree_v2") == frees);
    MUST(sw_carry_pack(small, user.base, 1, 0, small->size, data.base));
    MUST(standin.count("cuMemFree_v2") == frees + 1);
    sw_layout_drop(small);
    release(&user);
    release(&data);
}

/* A layout with one holder, in a block of the heap that `old` has left. */
static sw_layout_t *held_list(sw_layout_t *old)
{
    sw_layout_t *made = private_list(20, 5);
    if (old)
        sw_layout_drop(old);
    sw_layout_t *l = malloc(made->bytes);
    MUST(l);
    memcpy(l, made, made->bytes);
    sw_layout_hold(l);
    free(made);
    return l;
}

/* The address of a layout that went is another's, again and again. */
static void same_address(void)
{
    sw_layout_t *l = held_list(NULL);
    int again = 0;
    for (uint64_t i = 0; i < 200; i++) {
        packs(i, l, 1, false);
        const void *old = l;
        l = held_list(l);
        again += l == old;
    }
    sw_layout_drop(l);
    /* A sanitizer keeps freed blocks for long. */
    MUST(SANITIZED || again > 100);
}

/* Layouts without holders, whose end is not heard of. */
static void unheld(void)
{
    size_t used, spare;
    for (uint64_t seed = 1; seed < 60; seed++) {
        map_t map;
        sw_layout_t *l = make_layout(seed, &map);
        packs(seed, l, 2, false);
        free(l);
        free(map.at);
    }
    sw_tables_count(&used, &spare);
    MUST(used == 0);
}

static void without_kernels(void)
{
    sw_settings.gpu_kernels = "/nonexistent";
    sw_layout_t *l = list(20, 0);
    block_t user = block(l, 1, true),
            data = block(NULL, (int64_t)l->size, false);
    for (int i = 0; i < 3; i++) {
        MUST(!sw_carry_pack(l, user.base, 1, 0, l->size, data.base));
        MUST(same(&user) && same(&data));
    }
    /* Bytes without gaps need none. */
    MUST(sw_carry_pack(NULL, user.base, 20, 0, 20, data.base));
    release(&user);
    release(&data);
    sw_layout_drop(l);
}

int main(void)
{
    state = 4711;
    make_kernels();
    alone(random_layouts, "random layouts", "", "0");
    alone(boxes, "boxes", "", "0");
    alone(far_apart, "far apart", "", "0");
    alone(pieces, "pieces", "", "0");
    alone(late, "late", "", "200");
    alone(plain_bytes, "plain bytes", "", "0");
    alone(nothing, "nothing", "", "0");
    alone(refuses_what_is_not_its, "not ours", "", "0");
    alone(off, "off", "", "0");
    alone(kinds_of_memory, "kinds of memory", "", "0");
    alone(steady, "steady", "", "0");
    alone(without_a_leak, "leaks", "", "0");
    alone(same_address, "same address", "", "0");
    alone(unheld, "unheld", "", "0");
    alone(without_kernels, "without kernels", "", "0");
    remove_kernels();
    return 0;
}
