/*
 * check.c - the kernels on the GPU against the plain walk, for messages at
 * random: first within the process, then from the memory of another process.
 *
 * All of the target's memory is compared, gaps included.
 */
#include "gpu.h"

#include "../cases.h"

#define ROOM ((size_t)96 << 20)
#define MOST (4 << 20)

static gpu_kernels_t kernels;
static int used[SW_KERNEL_COUNT];
static at_t target, source_table, target_table;
static char *expected, *result;

static void upload(const case_side_t *s, at_t to)
{
    void *table = case_table(s);
    if (table)
        CU(cuMemcpyHtoD_v2(to, table, s->shape.table.bytes));
    free(table);
}

/* One message out of the noise at `source`; its verdict. */
static bool one(at_t source)
{
    case_t c;
    sw_plan_t plan;
    const unsigned char *noise = gpu_noise();
    do {
        case_make(&c, MOST);
        if (c.source.span < GPU_NOISE / 2 && c.target.span < GPU_NOISE / 2 &&
            c.source.shape.table.bytes < ROOM / 2 &&
            c.target.shape.table.bytes < ROOM / 2)
            break;
        case_end(&c);
    } while (true);
    uint64_t from = case_below(GPU_NOISE / 32) * 16;
    uint64_t to = case_below(GPU_NOISE / 32) * 16;
    memcpy(expected, noise + to, c.target.span);
    case_copy(&c, (const char *)noise + from, expected);
    CU(cuMemcpyHtoD_v2(target, noise + to, c.target.span));
    upload(&c.source, source_table);
    upload(&c.target, target_table);
    MUST(case_plan(&c, source + from, source_table, target, target_table,
                   kernels.unroll, &plan));
    used[plan.kernel]++;
    /* A copy from pageable memory may still be under way when it returns. */
    CU(cuCtxSynchronize());
    gpu_launch(&kernels, &plan, case_below(2), gpu_stream);
    int code = cuda.cuStreamSynchronize(gpu_stream);
    if (code) {
        printf("WRONG: error %d, ", code);
        case_print(&c, &plan, stdout);
        exit(1);
    }
    CU(cuMemcpyDtoH_v2(result, target, c.target.span));
    bool good = memcmp(result, expected, c.target.span) == 0;
    if (!good) {
        printf("WRONG ");
        case_print(&c, &plan, stdout);
    }
    case_end(&c);
    return good;
}

static void sender(int socket)
{
    ipc_t handle;
    at_t memory;
    char bye;
    gpu_start();
    CU(cuMemAlloc_v2(&memory, GPU_NOISE));
    gpu_fill(memory, GPU_NOISE);
    CU(cuIpcGetMemHandle(&handle, memory));
    gpu_tell(socket, &handle, sizeof handle);
    gpu_hear(socket, &bye, 1);
}

static void many(const char *name, at_t source, double until)
{
    int cases = 0, wrong = 0, n = 0;
    memset(used, 0, sizeof used);
    while (gpu_now() < until && wrong < 20) {
        wrong += !one(source);
        cases++;
    }
    for (int i = 0; i < SW_KERNEL_COUNT; i++)
        n += used[i] > 0;
    printf("check %s: %d messages, %d wrong, %d of %d kernels\n", name, cases,
           wrong, n, SW_KERNEL_COUNT);
    if (gpu_json)
        fprintf(gpu_json,
                "{\"check\": \"%s\", \"messages\": %d, "
                "\"wrong\": %d, \"kernels\": %d}\n",
                name, cases, wrong, n);
    fflush(NULL);
}

void mode_check(double seconds, bool alone, int unroll)
{
    ipc_t handle;
    at_t mine, theirs;
    double begin = gpu_now();
    int socket = alone ? -1 : gpu_peer(sender);
    gpu_start();
    char name[20];
    snprintf(name, sizeof name, "move-%d", unroll);
    gpu_kernels_load(&kernels, name, unroll);
    if (!kernels.module)
        exit(1);
    CU(cuMemAlloc_v2(&mine, GPU_NOISE));
    CU(cuMemAlloc_v2(&target, GPU_NOISE));
    CU(cuMemAlloc_v2(&source_table, ROOM));
    CU(cuMemAlloc_v2(&target_table, ROOM));
    MUST(expected = malloc(GPU_NOISE));
    MUST(result = malloc(GPU_NOISE));
    gpu_fill(mine, GPU_NOISE);
    many("within a process", mine, begin + seconds * (alone ? 1e6 : 0.55e6));
    if (alone)
        return;
    gpu_hear(socket, &handle, sizeof handle);
    int code = cuda.cuIpcOpenMemHandle_v2(&theirs, handle, 1);
    if (code)
        printf("check between processes: cuIpcOpenMemHandle: error %d\n", code);
    else
        many("between processes", theirs, begin + seconds * 1e6);
}
