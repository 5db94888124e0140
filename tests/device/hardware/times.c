/*
 * times.c - what moving a datatype costs, by our kernels and by the driver's
 * copies: one per block, of planes, of cubes, and batched. A plain copy of the
 * same bytes is the floor.
 *
 * A figure is the median of its samples, by the stream's events. A kernel that
 * keeps the stream busy goes first, so that no event waits for the host's next
 * call. The JSON also has the time that the host sees, its wait included.
 * At most 1000 copies per block are timed, and scaled. The second level cache
 * keeps messages of up to some 20 MiB.
 *
 * A rehearsal without a GPU sets GPU_SMALL, which leaves out large messages.
 */
#include "times.h"

#include "must.h"

#define ROOM (576 * MIB)

static cost_t of_kernel(const type_t *t, const char *way, at_t from,
                        bool source, at_t to, bool sink)
{
    sw_plan_t plan = time_plan(t, from, source, to, sink, 0, standard.unroll);
    job_t j = {.way = KERNEL, .plan = &plan, .kernels = &standard};
    cost_t c = time_measure(&j);
    time_record(t->name, t->bytes, way, c);
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
        uint64_t n = type_block_bytes(t, i), from = type_block(t, i);
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
    share = (double)t.blocks / (double)time_blocks(&t);
    j.way = BLOCK_COPIES;
    blocks = time_measure(&j);
    blocks.device *= share;
    blocks.host *= share;
    time_record(t.name, t.bytes, "copy per block", blocks);
    j.way = PLAIN;
    plain = time_measure(&j);
    time_record(t.name, t.bytes, "plain copy", plain);
    if (!t.offset && t.shape.levels == 1) {
        j.way = PLANE_COPY;
        c = time_measure(&j);
        time_record(t.name, t.bytes, "2D copy", c);
        plane = time_rate(t.bytes, c);
    }
    if (!t.offset && t.shape.levels == 2 &&
        t.shape.level[1].stride % t.shape.level[0].stride == 0) {
        j.way = CUBE_COPY;
        c = time_measure(&j);
        time_record(t.name, t.bytes, "3D copy", c);
        cube = time_rate(t.bytes, c);
    }
    if (cuda.batch_12 || cuda.batch_13) {
        j.way = BATCH;
        c = time_measure(&j);
        if (c.samples == 0)
            cuda.batch_12 = NULL, cuda.batch_13 = NULL;
        c.device *= share;
        c.host *= share;
        time_record(t.name, t.bytes, "batched copy", c);
        batch = time_rate(t.bytes, c);
    }
    printf("%-12s%10llu%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%8.1f%8.2f%8.1f"
           "%9.1fx%6.0f%%%s\n",
           t.name, (unsigned long long)t.bytes, time_rate(t.bytes, pack),
           time_rate(t.bytes, unpack), time_rate(t.bytes, direct),
           time_rate(t.bytes, far_pack), time_rate(t.bytes, far), pack.device,
           plane, cube, batch, time_rate(t.bytes, plain),
           blocks.device / pack.device, 100 * plain.device / pack.device,
           good ? "" : " WRONG DATA");
end:
    type_end(&t);
}

static void table_of_types(void)
{
    static const size_t size[] = {1 << 10, 64 << 10, MIB, 16 * MIB, 256 * MIB};
    printf("\nGB/s of the message's bytes; us: pack on the device; 'block': "
           "time of a copy per block over pack; 'plain': plain copy's time "
           "over pack\n%-12s%10s%8s%8s%8s%8s%8s%8s%8s%8s%8s%8s%10s%7s\n",
           "type", "bytes", "pack", "unpack", "direct", "peer", "peerdir", "us",
           "2D", "3D", "batch", "memcpy", "block", "plain");
    int64_t y = 256 * 8, z = 256 * y;
    row(type_nest("face x", 8, 2, 256, y, 256, z));
    row(type_nest("face y", 2048, 1, 256, z, 1, 0));
    row(type_nest("face z", 2048 * 256, 0, 1, 0, 1, 0));
    row(type_nest("halo x 2", 16, 2, 256, y, 256, z));
    row(type_nest("halo y 2", 4096, 1, 256, z, 1, 0));
    for (int i = getenv("GPU_SMALL") ? 1 : 4; i >= 0; i--) {
        size_t n = size[i];
        row(type_vector("vector 8", 8, n));
        row(type_vector("vector 16", 16, n));
        row(type_vector("vector 32", 32, n));
        row(type_vector("vector 64", 64, n));
        row(type_vector("vector 256", 256, n));
        row(type_transpose(n));
        if (n > 16 * MIB) {
            row(type_list("list 32", 32, 8, false, true, n, table));
            continue;
        }
        row(type_list("list 4", 4, 4, false, true, n, table));
        row(type_list("list 8", 8, 8, false, true, n, table));
        row(type_list("list 24", 24, 8, false, true, n, table));
        row(type_list("list 32", 32, 8, false, true, n, table));
        row(type_list("mixed 4", 4, 4, true, true, n, table));
        row(type_list("mixed 8", 8, 8, true, true, n, table));
        row(type_list("mixed 24", 24, 8, true, true, n, table));
        row(type_list("mixed 32", 32, 8, true, true, n, table));
        row(type_list("runs 32", 32, 8, false, false, n, table));
        row(type_list("runs 256", 256, 8, false, false, n, table));
        row(type_nest("odd 33", 33, 1, (int64_t)(n / 33), 67, 1, 0));
        row(type_nest("odd 257", 257, 1, (int64_t)(n / 257), 513, 1, 0));
    }
}

/* Both grids, of packing and of moving to the same type. */
static void variant(const char *build, gpu_kernels_t *k, const type_t *t)
{
    bool good = true;
    poison(packed, t->bytes);
    printf("%-10s %-12s%10llu", build, t->name, (unsigned long long)t->bytes);
    for (int v = 0; v < 4; v++) {
        sw_plan_t plan = time_plan(t, mine, true, v < 2 ? packed : target,
                                   v >= 2, 0, k->unroll);
        job_t j = {
            .way = KERNEL, .plan = &plan, .kernels = k, .resident = v % 2};
        cost_t c = time_measure(&j);
        char way[80];
        snprintf(way, sizeof way, "%s %s %s", build, v < 2 ? "pack" : "direct",
                 v % 2 ? "resident" : "one pass");
        time_record(t->name, t->bytes, way, c);
        printf("%9.1f", time_rate(t->bytes, c));
        if (v == 0 && t->bytes <= MIB)
            good = is_packed(t);
    }
    printf("%s\n", good ? "" : " WRONG DATA");
}

static void variants(void)
{
    static const struct {
        const char *file;
        int unroll;
    } build[] = {{"move-1", 1}, {"move-2", 2},    {"move-4", 4},
                 {"move-8", 8}, {"move-4-nc", 4}, {"move-4-cs", 4}};
    size_t size[] = {64 << 10, 16 * MIB, 256 * MIB};
    if (getenv("GPU_SMALL"))
        size[1] = size[2] = 1 << 10;
    printf("\nvariants, GB/s of pack, direct: one pass, and as many blocks as "
           "are resident\n");
    for (size_t b = 0; b < sizeof build / sizeof *build; b++) {
        gpu_kernels_t k;
        gpu_kernels_load(&k, build[b].file, build[b].unroll);
        for (int i = 0; k.module && i < 16 && gpu_now() < deadline; i++) {
            size_t n = size[i / 6];
            type_t t = i % 6 == 0   ? type_vector("vector 8", 8, n)
                       : i % 6 == 1 ? type_vector("vector 32", 32, n)
                       : i % 6 == 2 ? type_transpose(n)
                       : i % 6 == 3 ? type_vector("vector 256", 256, n)
                       : i % 6 == 4
                           ? type_list("mixed 8", 8, 8, true, true,
                                       n > 16 * MIB ? 16 * MIB : n, table)
                           : type_list("runs 32", 32, 8, false, false,
                                       n > 16 * MIB ? 16 * MIB : n, table);
            variant(build[b].file, &k, &t);
            type_end(&t);
        }
    }
    printf("\nodd runs of 33, 65, 129, 257, 1001 bytes: loose and by the byte, "
           "GB/s of pack\n");
    for (int i = 0; i < 5; i++) {
        static const uint64_t run[] = {33, 65, 129, 257, 1001};
        type_t t = type_nest("odd", run[i], 1, (int64_t)(size[1] / run[i]),
                             (int64_t)(2 * run[i] + 1), 1, 0);
        printf("%6llu", (unsigned long long)run[i]);
        for (int v = 0; v < 2; v++) {
            sw_plan_t plan = time_plan(&t, mine, true, packed, false,
                                       v ? 1 : SW_LOOSE, standard.unroll);
            job_t j = {.way = KERNEL, .plan = &plan, .kernels = &standard};
            cost_t c = time_measure(&j);
            time_record(t.name, run[i], v ? "by the byte" : "loose", c);
            printf("%9.1f", time_rate(t.bytes, c));
        }
        printf("\n");
    }
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
    times_of_launches();
    times_with_host();
    table_of_types();
    variants();
}
