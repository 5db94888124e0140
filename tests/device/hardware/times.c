/*
 * times.c - what moving a datatype costs, by our kernels and by the driver's
 * copies: one per block, of planes, of cubes, and batched. A plain copy of the
 * same bytes is the floor.
 *
 * A figure is the median of its samples, by the stream's events. A kernel that
 * keeps the stream busy goes first, so that no event waits for the host's next
 * call. The host's clock, from the call to the end of the wait, goes into the
 * JSON beside it. A
 * copy per block is timed over at most BLOCKS blocks and scaled. A rehearsal
 * without a GPU sets GPU_SMALL, which leaves the large messages out. The second
 * level cache keeps messages of up to some 20 MiB.
 */
#include "gpu.h"

#include <sys/mman.h>
#include <unistd.h>

#include "must.h"

#define MIB ((size_t)1 << 20)
#define ROOM (576 * MIB)
#define SAMPLES 30
#define BLOCKS 1000
#define PATIENCE 60e3           /* microseconds for a series, once it has 5 */

typedef struct {
    const char *name;
    sw_shape_t shape;
    int64_t *offset;
    uint64_t *length;
    uint64_t bytes, blocks;
} type_t;

typedef enum { KERNEL, BLOCK_COPIES, PLANE_COPY, CUBE_COPY, BATCH, PLAIN,
               TO_HOST, FROM_HOST, KERNEL_THEN_TO_HOST,
               FROM_HOST_THEN_KERNEL } way_t;

typedef struct {
    way_t way;
    const sw_plan_t *plan;
    gpu_kernels_t *kernels;
    bool resident;
    const type_t *type;
    at_t from, to;
    void *host;
    size_t bytes;
} job_t;

typedef struct {
    double device, host;        /* microseconds */
    int samples;
} cost_t;

static gpu_kernels_t standard;
static at_t mine, target, packed, table, theirs;
static handle_t before, after, busy;
static double deadline;

/* Types ------------------------------------------------------------------- */

static type_t nest(const char *name, uint64_t run, int levels, int64_t count0,
                   int64_t stride0, int64_t count1, int64_t stride1)
{
    type_t t = {.name = name, .shape = {.kind = SW_SHAPE_NEST, .run = run,
                .levels = levels, .level = {{count0, stride0},
                                            {count1, stride1}}}};
    t.blocks = 1;
    for (int d = 0; d < levels; d++)
        t.blocks *= (uint64_t)t.shape.level[d].count;
    t.bytes = t.blocks * run;
    return t;
}

static type_t vector(const char *name, uint64_t run, uint64_t bytes)
{
    return nest(name, run, 1, (int64_t)(bytes / run), (int64_t)(2 * run), 1, 0);
}

/* Runs twice their length apart; of unequal ones, the length is from 1 to 2 run
 * - 1 grains. */
static type_t list(const char *name, uint64_t run, uint64_t grain, bool mixed,
                   bool equal, uint64_t bytes)
{
    static uint64_t state = 12345;
    uint64_t n = bytes / run;
    type_t t = {.name = name, .blocks = n};
    t.offset = malloc(n * sizeof *t.offset);
    t.length = malloc(n * sizeof *t.length);
    MUST(t.offset && t.length);
    for (uint64_t i = 0; i < n; i++) {
        t.offset[i] = (int64_t)(i * 2 * run);
        t.length[i] = equal ? run : grain * (1 + random_from(&state) %
                                             (2 * run / grain - 1));
    }
    for (uint64_t i = n - 1; mixed && i; i--) {
        uint64_t j = random_from(&state) % (i + 1);
        int64_t offset = t.offset[i];
        t.offset[i] = t.offset[j];
        t.offset[j] = offset;
    }
    t.shape.kind = equal ? SW_SHAPE_LIST : SW_SHAPE_RUNS;
    sw_table_describe(t.offset, equal ? NULL : t.length, run, n, false,
                      &t.shape.table);
    t.bytes = t.shape.table.data;
    void *block = calloc(1, t.shape.table.bytes);
    MUST(block);
    sw_table_write(&t.shape.table, t.offset, equal ? NULL : t.length, block);
    CU(cuMemcpyHtoD_v2(table, block, t.shape.table.bytes));
    free(block);
    t.shape.block = table;
    return t;
}

static uint64_t root(uint64_t n)
{
    uint64_t r = 1;
    while ((2 * r) * (2 * r) <= n)
        r *= 2;
    return r;
}

/* Columns of a matrix of complex numbers, one after another. */
static type_t transpose(uint64_t bytes)
{
    int64_t n = (int64_t)root(bytes / 16);
    return nest("transpose", 16, 2, n, 16 * n, n, 16);
}

/* Where block i begins, in the type's memory and in the packed data. */
static uint64_t block_at(const type_t *t, uint64_t i)
{
    if (t->offset)
        return (uint64_t)t->offset[i];
    uint64_t at = 0;
    for (int d = 0; d < t->shape.levels; d++) {
        uint64_t count = (uint64_t)t->shape.level[d].count;
        at += i % count * (uint64_t)t->shape.level[d].stride;
        i /= count;
    }
    return at;
}

static uint64_t block_bytes(const type_t *t, uint64_t i)
{
    return t->offset ? t->length[i] : t->shape.run;
}

/* Jobs -------------------------------------------------------------------- */

static uint64_t timed_blocks(const type_t *t)
{
    return t->blocks < BLOCKS ? t->blocks : BLOCKS;
}

static void copy_blocks(const job_t *j)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < timed_blocks(j->type); i++) {
        uint64_t n = block_bytes(j->type, i);
        CU(cuMemcpyDtoDAsync_v2(j->to + at, j->from + block_at(j->type, i), n,
                                gpu_stream));
        at += n;
    }
}

static void copy_plane(const job_t *j)
{
    const sw_shape_t *s = &j->type->shape;
    plane_copy_t c = {.source = {.type = DEVICE_MEMORY, .device = j->from,
                                 .pitch = (size_t)s->level[0].stride},
                      .target = {.type = DEVICE_MEMORY, .device = j->to,
                                 .pitch = s->run},
                      .width = s->run, .height = (size_t)s->level[0].count};
    CU(cuMemcpy2DAsync_v2(&c, gpu_stream));
}

static void copy_cube(const job_t *j)
{
    const sw_shape_t *s = &j->type->shape;
    size_t height = (size_t)s->level[0].count;
    cube_copy_t c = {.source = {.type = DEVICE_MEMORY, .device = j->from,
                                .pitch = (size_t)s->level[0].stride,
                                .height = (size_t)(s->level[1].stride /
                                                   s->level[0].stride)},
                     .target = {.type = DEVICE_MEMORY, .device = j->to,
                                .pitch = s->run, .height = height},
                     .width = s->run, .height = height,
                     .depth = (size_t)s->level[1].count};
    CU(cuMemcpy3DAsync_v2(&c, gpu_stream));
}

static void copy_batch(const job_t *j)
{
    static at_t to[BLOCKS], from[BLOCKS];
    static size_t bytes[BLOCKS];
    batch_attributes_t a = {.order = 1};
    size_t n = timed_blocks(j->type), first = 0, fail = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = block_bytes(j->type, i);
        to[i] = j->to + at;
        from[i] = j->from + block_at(j->type, i);
        at += bytes[i];
    }
    if (cuda.batch_13)
        CU(batch_13(to, from, bytes, n, &a, &first, 1, gpu_stream));
    else
        CU(batch_12(to, from, bytes, n, &a, &first, 1, &fail, gpu_stream));
}

static void issue(const job_t *j)
{
    switch (j->way) {
    case KERNEL:
        gpu_launch(j->kernels, j->plan, j->resident, gpu_stream);
        break;
    case BLOCK_COPIES:
        copy_blocks(j);
        break;
    case PLANE_COPY:
        copy_plane(j);
        break;
    case CUBE_COPY:
        copy_cube(j);
        break;
    case BATCH:
        copy_batch(j);
        break;
    case PLAIN:
        CU(cuMemcpyDtoDAsync_v2(j->to, j->from, j->bytes, gpu_stream));
        break;
    case KERNEL_THEN_TO_HOST:
        gpu_launch(j->kernels, j->plan, false, gpu_stream);
        /* fall through */
    case TO_HOST:
        CU(cuMemcpyDtoHAsync_v2(j->host, j->from, j->bytes, gpu_stream));
        break;
    case FROM_HOST_THEN_KERNEL:
    case FROM_HOST:
        CU(cuMemcpyHtoDAsync_v2(j->to, j->host, j->bytes, gpu_stream));
        if (j->way == FROM_HOST_THEN_KERNEL)
            gpu_launch(j->kernels, j->plan, false, gpu_stream);
    }
}

static void delay(const job_t *j)
{
    long long ticks = 30000;
    void *argument[] = {&ticks};
    if (busy && j->way != BLOCK_COPIES && j->way != BATCH)
        CU(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, gpu_stream, argument,
                          NULL));
}

/* The medians of a job, after two rounds that do not count. */
static cost_t measure(const job_t *j)
{
    double device[SAMPLES], host[SAMPLES], begin = 0;
    int n = 0;
    for (int i = -2; i < SAMPLES; i++) {
        float ms;
        delay(j);
        CU(cuEventRecord(before, gpu_stream));
        issue(j);
        CU(cuEventRecord(after, gpu_stream));
        CU(cuStreamSynchronize(gpu_stream));
        if (i < 0) {
            begin = gpu_now();
            continue;
        }
        CU(cuEventElapsedTime(&ms, before, after));
        double start = gpu_now();
        issue(j);
        CU(cuStreamSynchronize(gpu_stream));
        host[n] = gpu_now() - start;
        device[n++] = ms * 1e3;
        if (n >= 5 && gpu_now() - begin > PATIENCE)
            break;
    }
    return (cost_t){gpu_median(device, n), gpu_median(host, n), n};
}

static void record(const char *type, uint64_t bytes, const char *way, cost_t c)
{
    if (gpu_json)
        fprintf(gpu_json, "{\"type\": \"%s\", \"bytes\": %llu, \"way\": "
                "\"%s\", \"us\": %.3f, \"host_us\": %.3f, \"samples\": %d}\n",
                type, (unsigned long long)bytes, way, c.device, c.host,
                c.samples);
}

static double rate(uint64_t bytes, cost_t c)
{
    return c.device > 0 ? (double)bytes / c.device * 1e-3 : 0;
}

static sw_plan_t planned(const type_t *t, at_t from, bool source, at_t to,
                         bool sink, int wish, int unroll)
{
    sw_plan_t plan;
    sw_shape_t line = {.kind = SW_SHAPE_NEST, .run = t->bytes};
    sw_shape_t s = source ? t->shape : line, d = sink ? t->shape : line;
    s.base += from;
    d.base += to;
    MUST(sw_plan(&s, 0, &d, 0, t->bytes, wish, unroll, &plan));
    return plan;
}

static cost_t of_kernel(const type_t *t, const char *way, at_t from,
                        bool source, at_t to, bool sink)
{
    sw_plan_t plan = planned(t, from, source, to, sink, 0, standard.unroll);
    cost_t c = measure(&(job_t){.way = KERNEL, .plan = &plan,
                                .kernels = &standard});
    record(t->name, t->bytes, way, c);
    return c;
}

/* Is what was packed the noise at the type's blocks? */
static bool is_packed(const type_t *t)
{
    const unsigned char *noise = gpu_noise();
    unsigned char *data = malloc(t->bytes);
    uint64_t at = 0;
    bool good = true;
    MUST(data);
    CU(cuMemcpyDtoH_v2(data, packed, t->bytes));
    for (uint64_t i = 0; i < t->blocks && good; i++) {
        uint64_t n = block_bytes(t, i), from = block_at(t, i) % GPU_NOISE;
        for (uint64_t k = 0; k < n && good; k++)
            good = data[at + k] == noise[(from + k) % GPU_NOISE];
        at += n;
    }
    free(data);
    return good;
}

static void poison(at_t at, size_t bytes)
{
    CU(cuMemsetD8_v2(at, 0xa5, bytes));
    CU(cuCtxSynchronize());
}

static void row(type_t t)
{
    double plane = 0, cube = 0, batch = 0, share;
    cost_t c, pack, unpack, direct, far_pack = {0}, far = {0}, blocks, plain;
    bool good = true;
    if (gpu_now() > deadline)
        goto end;
    poison(packed, t.bytes);
    pack = of_kernel(&t, "pack", mine, true, packed, false);
    if (t.bytes <= 16 * MIB)
        good = is_packed(&t);
    unpack = of_kernel(&t, "unpack", packed, false, target, true);
    direct = of_kernel(&t, "direct", mine, true, target, true);
    if (theirs) {
        poison(packed, t.bytes);
        far_pack = of_kernel(&t, "pack from a peer", theirs, true, packed,
                             false);
        if (t.bytes <= 16 * MIB)
            good = good && is_packed(&t);
        far = of_kernel(&t, "direct from a peer", theirs, true, target, true);
    }
    job_t j = {.type = &t, .from = mine, .to = packed, .bytes = t.bytes};
    share = (double)t.blocks / (double)timed_blocks(&t);
    j.way = BLOCK_COPIES;
    blocks = measure(&j);
    blocks.device *= share;
    blocks.host *= share;
    record(t.name, t.bytes, "copy per block", blocks);
    j.way = PLAIN;
    plain = measure(&j);
    record(t.name, t.bytes, "plain copy", plain);
    if (!t.offset && t.shape.levels == 1) {
        j.way = PLANE_COPY;
        c = measure(&j);
        record(t.name, t.bytes, "2D copy", c);
        plane = rate(t.bytes, c);
    }
    if (!t.offset && t.shape.levels == 2 &&
        t.shape.level[1].stride % t.shape.level[0].stride == 0) {
        j.way = CUBE_COPY;
        c = measure(&j);
        record(t.name, t.bytes, "3D copy", c);
        cube = rate(t.bytes, c);
    }
    if (cuda.batch_12 || cuda.batch_13) {
        j.way = BATCH;
        c = measure(&j);
        c.device *= share;
        c.host *= share;
        record(t.name, t.bytes, "batched copy", c);
        batch = rate(t.bytes, c);
    }
    printf("%-12s%10llu%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%8.2f%8.1f"
           "%9.1fx%6.0f%%%s\n", t.name, (unsigned long long)t.bytes,
           rate(t.bytes, pack), rate(t.bytes, unpack), rate(t.bytes, direct),
           rate(t.bytes, far_pack), rate(t.bytes, far), pack.device, plane,
           cube, batch, rate(t.bytes, plain), blocks.device / pack.device,
           100 * plain.device / pack.device, good ? "" : " WRONG DATA");
end:
    free(t.offset);
    free(t.length);
}

static void table_of_types(void)
{
    static const size_t size[] = {1 << 10, 64 << 10, MIB, 16 * MIB, 256 * MIB};
    printf("\nGB/s of the message's bytes; us: pack on the device; 'block': "
           "time of a copy per block over pack; 'plain': plain copy's time "
           "over pack\n%-12s%10s%8s%8s%8s%8s%8s%8s%8s%8s%8s%8s%10s%7s\n",
           "type", "bytes", "pack", "unpack", "direct", "peer", "peerdir",
           "us", "2D", "3D", "batch", "memcpy", "block", "plain");
    int64_t y = 256 * 8, z = 256 * y;
    row(nest("face x", 8, 2, 256, y, 256, z));
    row(nest("face y", 2048, 1, 256, z, 1, 0));
    row(nest("face z", 2048 * 256, 0, 1, 0, 1, 0));
    row(nest("halo x 2", 16, 2, 256, y, 256, z));
    row(nest("halo y 2", 4096, 1, 256, z, 1, 0));
    for (int i = getenv("GPU_SMALL") ? 1 : 4; i >= 0; i--) {
        size_t n = size[i];
        row(vector("vector 8", 8, n));
        row(vector("vector 16", 16, n));
        row(vector("vector 32", 32, n));
        row(vector("vector 64", 64, n));
        row(vector("vector 256", 256, n));
        row(transpose(n));
        if (n > 16 * MIB) {
            row(list("list 32", 32, 8, false, true, n));
            continue;
        }
        row(list("list 4", 4, 4, false, true, n));
        row(list("list 8", 8, 8, false, true, n));
        row(list("list 24", 24, 8, false, true, n));
        row(list("list 32", 32, 8, false, true, n));
        row(list("mixed 4", 4, 4, true, true, n));
        row(list("mixed 8", 8, 8, true, true, n));
        row(list("mixed 24", 24, 8, true, true, n));
        row(list("mixed 32", 32, 8, true, true, n));
        row(list("runs 32", 32, 8, false, false, n));
        row(list("runs 256", 256, 8, false, false, n));
        row(nest("odd 33", 33, 1, (int64_t)(n / 33), 67, 1, 0));
        row(nest("odd 257", 257, 1, (int64_t)(n / 257), 513, 1, 0));
    }
}

/* Variants ---------------------------------------------------------------- */

static void variants(void)
{
    static const struct {
        const char *file;
        int unroll;
    } build[] = {{"move-1", 1}, {"move-2", 2}, {"move-4", 4}, {"move-8", 8},
                 {"move-4-nc", 4}, {"move-4-cs", 4}};
    size_t size[] = {64 << 10, 16 * MIB, 256 * MIB};
    if (getenv("GPU_SMALL"))
        size[1] = size[2] = 1 << 10;
    printf("\nvariants, GB/s of pack, direct: one pass, and as many blocks as "
           "are resident\n");
    for (size_t b = 0; b < sizeof build / sizeof *build; b++) {
        gpu_kernels_t k;
        gpu_kernels_load(&k, build[b].file, build[b].unroll);
        for (int i = 0; k.module && i < 18 && gpu_now() < deadline; i++) {
            size_t n = size[i / 6];
            type_t t = i % 6 == 0   ? vector("vector 8", 8, n)
                       : i % 6 == 1 ? vector("vector 32", 32, n)
                       : i % 6 == 2 ? transpose(n)
                       : i % 6 == 3 ? vector("vector 256", 256, n)
                       : i % 6 == 4
                           ? list("mixed 8", 8, 8, true, true,
                                  n > 16 * MIB ? 16 * MIB : n)
                           : list("runs 32", 32, 8, false, false,
                                  n > 16 * MIB ? 16 * MIB : n);
            if (i < 16) {
                printf("%-10s %-12s%10llu", build[b].file, t.name,
                       (unsigned long long)t.bytes);
                for (int v = 0; v < 4; v++) {
                    sw_plan_t plan = planned(&t, mine, true, v < 2 ? packed
                                             : target, v >= 2, 0, k.unroll);
                    cost_t c = measure(&(job_t){.way = KERNEL, .plan = &plan,
                                                .kernels = &k,
                                                .resident = v % 2});
                    char way[80];
                    snprintf(way, sizeof way, "%s %s %s", build[b].file,
                             v < 2 ? "pack" : "direct",
                             v % 2 ? "resident" : "one pass");
                    record(t.name, t.bytes, way, c);
                    printf("%9.1f", rate(t.bytes, c));
                }
                printf("\n");
            }
            free(t.offset);
            free(t.length);
        }
    }
    printf("\nodd runs of 33, 65, 129, 257, 1001 bytes: loose and by the byte, "
           "GB/s of pack\n");
    for (int i = 0; i < 5; i++) {
        static const uint64_t run[] = {33, 65, 129, 257, 1001};
        type_t t = nest("odd", run[i], 1, (int64_t)(size[1] / run[i]),
                        (int64_t)(2 * run[i] + 1), 1, 0);
        printf("%6llu", (unsigned long long)run[i]);
        for (int v = 0; v < 2; v++) {
            sw_plan_t plan = planned(&t, mine, true, packed, false,
                                     v ? 1 : SW_LOOSE, standard.unroll);
            cost_t c = measure(&(job_t){.way = KERNEL, .plan = &plan,
                                        .kernels = &standard});
            record(t.name, run[i], v ? "by the byte" : "loose", c);
            printf("%9.1f", rate(t.bytes, c));
        }
        printf("\n");
    }
}

/* The host's memory ------------------------------------------------------- */

static void with_host(void)
{
    size_t size[] = {4 << 10, 64 << 10, MIB, 16 * MIB, 64 * MIB};
    int file = memfd_create("pinned", 0);
    at_t seen;
    if (file < 0 || ftruncate(file, (off_t)(64 * MIB)))
        return;
    char *host = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      0);
    MUST(host != MAP_FAILED);
    memset(host, 1, 64 * MIB);
    double begin = gpu_now();
    int code = cuda.cuMemHostRegister_v2(host, 64 * MIB, REGISTER_PORTABLE |
                                                         REGISTER_DEVICE_MAP);
    printf("\ncuMemHostRegister of 64 MiB of a memfd: code %d, %.0f us\n",
           code, gpu_now() - begin);
    if (code)
        return;
    CU(cuMemHostGetDevicePointer_v2(&seen, host, 0));
    printf("pinned host memory, GB/s: the kernel stores to it, pack then copy, "
           "plain copy to the host; the kernel loads from it, copy then "
           "unpack, plain copy from the host\n");
    for (int i = 0; i < 10 && gpu_now() < deadline; i++) {
        size_t n = size[i / 2];
        type_t t = i % 2 ? vector("vector 64", 64, n)
                         : vector("vector 8", 8, n);
        sw_plan_t out = planned(&t, mine, true, seen, false, 0, 4),
                  in = planned(&t, seen, false, target, true, 0, 4),
                  pack = planned(&t, mine, true, packed, false, 0, 4),
                  unpack = planned(&t, packed, false, target, true, 0, 4);
        const struct {
            const char *name;
            way_t way;
            const sw_plan_t *plan;
        } way[] = {{"kernel to host", KERNEL, &out},
                   {"pack, copy to host", KERNEL_THEN_TO_HOST, &pack},
                   {"copy to host", TO_HOST, NULL},
                   {"kernel from host", KERNEL, &in},
                   {"copy from host, unpack", FROM_HOST_THEN_KERNEL, &unpack},
                   {"copy from host", FROM_HOST, NULL}};
        printf("%-12s%10zu", t.name, n);
        for (int w = 0; w < 6; w++) {
            cost_t c = measure(&(job_t){.way = way[w].way, .plan = way[w].plan,
                                        .kernels = &standard, .host = host,
                                        .from = packed, .to = packed,
                                        .bytes = n});
            record(t.name, n, way[w].name, c);
            printf("%9.2f", rate(n, c));
        }
        printf("\n");
    }
}

/* Latencies --------------------------------------------------------------- */

static void wait_for(int how, volatile unsigned *flag, unsigned value)
{
    if (how == 0)
        CU(cuStreamSynchronize(gpu_stream));
    else if (how == 1)
        while (cuda.cuEventQuery(after) == 600)
            ;
    else
        for (double end = gpu_now() + 1e6; *flag != value && gpu_now() < end;)
            ;
}

static void latencies(void)
{
    static const char *const how[] = {"stream synchronize", "event query",
                                      "flag in pinned memory"};
    handle_t module = gpu_module("probe"), empty, set, event;
    volatile unsigned *flag;
    at_t seen;
    if (!module)
        return;
    empty = gpu_function(module, "probe_empty");
    set = gpu_function(module, "probe_flag");
    CU(cuMemHostAlloc((void **)(uintptr_t)&flag, 4096, 3));
    CU(cuMemHostGetDevicePointer_v2(&seen, (void *)(uintptr_t)flag, 0));
    CU(cuEventCreate(&event, NO_TIMING));
    handle_t timed = after;
    after = event;
    type_t t = vector("vector 8", 8, 1024);
    sw_plan_t plan = planned(&t, mine, true, packed, false, 0, 4);
    *flag = 0;
    printf("\nlatency, us: launch call, launch to end seen; empty kernel, then "
           "a message of 1 KiB\n");
    for (int h = 0; h < 6; h++) {
        double call[200], end[200];
        for (unsigned i = 0; i < 220; i++) {
            unsigned value = (unsigned)h * 1000 + i + 1;
            void *argument[] = {&seen, &value};
            double start = gpu_now();
            if (h >= 3)
                gpu_launch(&standard, &plan, false, gpu_stream);
            else if (h < 2)
                CU(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, gpu_stream, NULL,
                                  NULL));
            if (h % 3 == 2)
                CU(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, gpu_stream,
                                  argument, NULL));
            double called = gpu_now();
            if (h % 3 == 1)
                CU(cuEventRecord(after, gpu_stream));
            wait_for(h % 3, flag, value);
            if (i >= 20) {
                call[i - 20] = called - start;
                end[i - 20] = gpu_now() - start;
            }
            CU(cuStreamSynchronize(gpu_stream));
        }
        cost_t c = {gpu_median(call, 200), gpu_median(end, 200), 200};
        printf("%-26s%-10s%8.2f%8.2f\n", how[h % 3], h < 3 ? "empty" : "1 KiB",
               c.device, c.host);
        record(h < 3 ? "empty" : "1 KiB", 0, how[h % 3], c);
    }
    after = timed;
}

static void sender(int socket)
{
    ipc_t handle;
    at_t memory;
    char bye;
    gpu_start();
    CU(cuMemAlloc_v2(&memory, ROOM));
    gpu_fill(memory, ROOM);
    CU(cuIpcGetMemHandle(&handle, memory));
    gpu_tell(socket, &handle, sizeof handle);
    gpu_hear(socket, &bye, 1);
}

void mode_times(double seconds)
{
    ipc_t handle;
    deadline = gpu_now() + seconds * 1e6;
    int socket = gpu_peer(sender);
    gpu_start();
    gpu_kernels_load(&standard, "move-4", 4);
    if (!standard.module)
        exit(1);
    CU(cuMemAlloc_v2(&mine, ROOM));
    CU(cuMemAlloc_v2(&target, ROOM));
    CU(cuMemAlloc_v2(&packed, 272 * MIB));
    CU(cuMemAlloc_v2(&table, 64 * MIB));
    handle_t probe = gpu_module("probe");
    busy = probe ? gpu_function(probe, "probe_busy") : NULL;
    CU(cuEventCreate(&before, 0));
    CU(cuEventCreate(&after, 0));
    gpu_fill(mine, ROOM);
    poison(target, ROOM);
    gpu_hear(socket, &handle, sizeof handle);
    int code = cuda.cuIpcOpenMemHandle_v2(&theirs, handle, 1);
    if (code) {
        printf("cuIpcOpenMemHandle: error %d\n", code);
        theirs = 0;
    }
    latencies();
    with_host();
    table_of_types();
    variants();
}
