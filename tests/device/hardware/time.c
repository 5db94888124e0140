/*
 * time.c - see times.h.
 */
#include "times.h"

#include "must.h"

#define SAMPLES 30
#define BLOCKS 1000
#define PATIENCE 60e3 /* microseconds for a series, once it has 5 */

gpu_kernels_t standard;
at_t mine, target, packed, table, theirs;
handle_t before, after, busy;
double deadline;
static int refused; /* by the driver: the code */

/* A call that the driver may refuse. */
#define TRY(call)                                             \
    do {                                                      \
        int code_ = cuda.call;                                \
        if (code_ && !refused)                                \
            printf("%s: error %d\n", #call, refused = code_); \
    } while (0)

uint64_t time_blocks(const type_t *t)
{
    return t->blocks < BLOCKS ? t->blocks : BLOCKS;
}

static void copy_blocks(const job_t *j)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < time_blocks(j->type); i++) {
        uint64_t n = type_block_bytes(j->type, i);
        CU(cuMemcpyDtoDAsync_v2(j->to + at, j->from + type_block(j->type, i), n,
                                gpu_stream));
        at += n;
    }
}

static void copy_plane(const job_t *j)
{
    const sw_shape_t *s = &j->type->shape;
    plane_copy_t c = {
        .source = {.type = DEVICE_MEMORY,
                   .device = j->from,
                   .pitch = (size_t)s->level[0].stride},
        .target = {.type = DEVICE_MEMORY, .device = j->to, .pitch = s->run},
        .width = s->run,
        .height = (size_t)s->level[0].count};
    TRY(cuMemcpy2DAsync_v2(&c, gpu_stream));
}

static void copy_cube(const job_t *j)
{
    const sw_shape_t *s = &j->type->shape;
    size_t height = (size_t)s->level[0].count;
    cube_copy_t c = {
        .source = {.type = DEVICE_MEMORY,
                   .device = j->from,
                   .pitch = (size_t)s->level[0].stride,
                   .height = (size_t)(s->level[1].stride / s->level[0].stride)},
        .target = {.type = DEVICE_MEMORY,
                   .device = j->to,
                   .pitch = s->run,
                   .height = height},
        .width = s->run,
        .height = height,
        .depth = (size_t)s->level[1].count};
    TRY(cuMemcpy3DAsync_v2(&c, gpu_stream));
}

static void copy_batch(const job_t *j)
{
    static at_t to[BLOCKS], from[BLOCKS];
    static size_t bytes[BLOCKS];
    batch_attributes_t a = {.order = 1};
    size_t n = time_blocks(j->type), first = 0, fail = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = type_block_bytes(j->type, i);
        to[i] = j->to + at;
        from[i] = j->from + type_block(j->type, i);
        at += bytes[i];
    }
    if (cuda.batch_13)
        TRY(batch_13(to, from, bytes, n, &a, &first, 1, gpu_stream));
    else
        TRY(batch_12(to, from, bytes, n, &a, &first, 1, &fail, gpu_stream));
}

static void issue(const job_t *j)
{
    switch (j->way) {
    case KERNEL:
        gpu_launch(j->kernels, j->plan, j->resident, gpu_stream);
        break;
    case BLOCK_COPIES: copy_blocks(j); break;
    case PLANE_COPY: copy_plane(j); break;
    case CUBE_COPY: copy_cube(j); break;
    case BATCH: copy_batch(j); break;
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
cost_t time_measure(const job_t *j)
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
        if (refused) {
            refused = 0;
            return (cost_t){0};
        }
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

void time_record(const char *type, uint64_t bytes, const char *way, cost_t c)
{
    if (gpu_json)
        fprintf(gpu_json,
                "{\"type\": \"%s\", \"bytes\": %llu, \"way\": "
                "\"%s\", \"us\": %.3f, \"host_us\": %.3f, \"samples\": %d}\n",
                type, (unsigned long long)bytes, way, c.device, c.host,
                c.samples);
}

double time_rate(uint64_t bytes, cost_t c)
{
    return c.device > 0 ? (double)bytes / c.device * 1e-3 : 0;
}

sw_plan_t time_plan(const type_t *t, at_t from, bool source, at_t to, bool sink,
                    int wish, int unroll)
{
    sw_plan_t plan;
    sw_shape_t line = {.kind = SW_SHAPE_NEST, .run = t->bytes};
    sw_shape_t s = source ? t->shape : line, d = sink ? t->shape : line;
    s.base += from;
    d.base += to;
    MUST(sw_plan(&s, 0, &d, 0, t->bytes, wish, unroll, &plan));
    return plan;
}
