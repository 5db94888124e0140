/*
 * fact_cost.c - what calls cost, and what kernels of two processes cost each
 * other.
 */
#include "facts.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

#define COST(name, call)                                                   \
    do {                                                                   \
        double sample[101];                                                \
        int code = 0;                                                      \
        for (int i = 0; i < 101; i++) {                                    \
            double begin = gpu_now();                                      \
            code = cuda.call;                                              \
            sample[i] = gpu_now() - begin;                                 \
        }                                                                  \
        printf("%-28s %8.3f us, code %d\n", name, gpu_median(sample, 101), \
               code);                                                      \
    } while (0)

void fact_costs(void)
{
    gpu_start();
    at_t at = fact_allocate(MIB), base;
    size_t size;
    ipc_t h;
    handle_t event, current;
    uint64_t value, values[3] = {0};
    int which[] = {2, 7, 8}, device;
    void *to[] = {&values[0], &values[1], &values[2]};
    char *heap = malloc(1);
    CU(cuEventCreate(&event, NO_TIMING));
    COST("attribute: type, device", cuPointerGetAttribute(&value, 2, at));
    COST("attribute: type, heap",
         cuPointerGetAttribute(&value, 2, (uintptr_t)heap));
    COST("attribute: buffer id", cuPointerGetAttribute(&value, 7, at));
    COST("3 attributes, device", cuPointerGetAttributes(3, which, to, at));
    COST("3 attributes, heap",
         cuPointerGetAttributes(3, which, to, (uintptr_t)heap));
    COST("address range", cuMemGetAddressRange_v2(&base, &size, at));
    COST("get IPC handle", cuIpcGetMemHandle(&h, at));
    COST("current context", cuCtxGetCurrent(&current));
    COST("set current context", cuCtxSetCurrent(gpu_context));
    COST("device of the context", cuCtxGetDevice(&device));
    COST("event record", cuEventRecord(event, gpu_stream));
    COST("event query", cuEventQuery(event));
    COST("stream wait event", cuStreamWaitEvent(gpu_stream, event, 0));
    COST("stream query", cuStreamQuery(gpu_stream));
    COST("stream synchronize, idle", cuStreamSynchronize(gpu_stream));
    COST("allocate 1 MiB", cuMemAlloc_v2(&at, MIB));
    COST("create event", cuEventCreate(&event, NO_TIMING));
    double begin = gpu_now();
    handle_t module = gpu_module("move-4");
    printf("load a module of %d kernels: %.0f us\n", SW_KERNEL_COUNT,
           gpu_now() - begin);
    if (module) {
        begin = gpu_now();
        gpu_function(module, "sw_move_narrow_BOX_BOX_8");
        printf("get a function: %.1f us\n", gpu_now() - begin);
    }
}

/* What it takes to have kernels: all of them or one, compiled or as PTX. */
void fact_modules(void)
{
    static const char *const file[] = {"move-4.cubin", "one.cubin", "one.ptx",
                                       "one.ptx", "probe.cubin"};
    gpu_start();
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char path[600];
        handle_t module = NULL, function = NULL;
        snprintf(path, sizeof path, "%s/%s", gpu_kernels, file[i]);
        double begin = gpu_now();
        int code = cuda.cuModuleLoad(&module, path);
        double loaded = gpu_now();
        if (i < 4 && !code)
            code = cuda.cuModuleGetFunction(&function, module,
                                            "sw_move_narrow_PLANE_ROW_8");
        double found = gpu_now();
        printf("%s: code %d, load %.0f us, function %.0f us\n", file[i], code,
               loaded - begin, found - loaded);
    }
}

static volatile unsigned *shared_page(void)
{
    static volatile unsigned *page;
    if (!page)
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return page;
}

static void turns(const char *who, at_t flag, unsigned side)
{
    handle_t module = gpu_module("probe"), kernel;
    long long most = 2000000000ll, *done;
    unsigned n = 200;
    at_t result;
    if (!module)
        return;
    kernel = gpu_function(module, "probe_turns");
    CU(cuMemHostAlloc((void **)&done, 64, 3));
    CU(cuMemHostGetDevicePointer_v2(&result, done, 0));
    void *argument[] = {&flag, &side, &n, &most, &result};
    double begin = gpu_now();
    CU(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, gpu_stream, argument, NULL));
    int code = cuda.cuStreamSynchronize(gpu_stream);
    double time = gpu_now() - begin;
    printf("%s: code %d, %lld of %u turns, %.1f us each, %lld ticks\n", who,
           code, done[0], n, done[0] ? time / (double)done[0] : 0, done[1]);
}

static void other_host(int socket)
{
    at_t seen;
    char word;
    volatile unsigned *page = shared_page();
    gpu_start();
    CU(cuMemHostRegister_v2((void *)(uintptr_t)page, 4096, 3));
    CU(cuMemHostGetDevicePointer_v2(&seen, (void *)(uintptr_t)page, 0));
    gpu_tell(socket, "r", 1);
    gpu_hear(socket, &word, 1);
    turns("other process, pinned shared memory", seen, 1);
}

void fact_turns_host(void)
{
    at_t seen;
    char word;
    volatile unsigned *page = shared_page();
    int socket = gpu_peer(other_host);
    gpu_start();
    CU(cuMemHostRegister_v2((void *)(uintptr_t)page, 4096, 3));
    CU(cuMemHostGetDevicePointer_v2(&seen, (void *)(uintptr_t)page, 0));
    gpu_hear(socket, &word, 1);
    gpu_tell(socket, "g", 1);
    turns("this process, pinned shared memory", seen, 0);
    wait(NULL);
}

static void other_device(int socket)
{
    ipc_t h;
    char word;
    gpu_start();
    at_t flag = fact_allocate(4096);
    CU(cuMemsetD8_v2(flag, 0, 4096));
    CU(cuCtxSynchronize());
    CU(cuIpcGetMemHandle(&h, flag));
    gpu_tell(socket, &h, sizeof h);
    gpu_hear(socket, &word, 1);
    turns("other process, device memory", flag, 1);
    gpu_hear(socket, &word, 1);
}

void fact_turns_device(void)
{
    ipc_t h;
    at_t flag;
    int socket = gpu_peer(other_device);
    gpu_start();
    gpu_hear(socket, &h, sizeof h);
    CU(cuIpcOpenMemHandle_v2(&flag, h, 1));
    gpu_tell(socket, "g", 1);
    turns("this process, device memory", flag, 0);
    gpu_tell(socket, "x", 1);
    wait(NULL);
}

/* The processor takes turns with one kernel: what one turn costs alone. */
void fact_turns_processor(void)
{
    handle_t module, kernel;
    volatile unsigned *flag;
    long long *done, most = 2000000000ll;
    unsigned n = 1000, side = 0;
    at_t seen, result;
    gpu_start();
    if (!(module = gpu_module("probe")))
        return;
    kernel = gpu_function(module, "probe_turns");
    CU(cuMemHostAlloc((void **)(uintptr_t)&flag, 64, 3));
    CU(cuMemHostAlloc((void **)&done, 64, 3));
    CU(cuMemHostGetDevicePointer_v2(&seen, (void *)(uintptr_t)flag, 0));
    CU(cuMemHostGetDevicePointer_v2(&result, done, 0));
    *flag = 0;
    void *argument[] = {&seen, &side, &n, &most, &result};
    CU(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, gpu_stream, argument, NULL));
    double begin = gpu_now();
    unsigned i = 0;
    for (; i < n; i++) {
        while (*flag != 2 * i + 1 && gpu_now() - begin < 3e6)
            ;
        *flag = 2 * i + 2;
    }
    printf("processor and kernel: %.2f us a turn\n", (gpu_now() - begin) / n);
    CU(cuStreamSynchronize(gpu_stream));
}

/* Two processes launch in turns: each launch waits for the end of the other's,
 * which the processors tell each other. */
static double hand_over(unsigned side, bool polls)
{
    volatile unsigned *page = shared_page();
    handle_t module = gpu_module("probe"), empty, event;
    if (!module)
        return 0;
    empty = gpu_function(module, "probe_empty");
    CU(cuEventCreate(&event, NO_TIMING));
    page[side + 1] = 1;
    while (!page[2 - side])
        ;
    double begin = gpu_now();
    for (unsigned i = 0; i < 300 && gpu_now() - begin < 3e6; i++) {
        while (page[0] != 2 * i + side && gpu_now() - begin < 3e6)
            ;
        CU(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, gpu_stream, NULL, NULL));
        if (polls) {
            CU(cuEventRecord(event, gpu_stream));
            while (cuda.cuEventQuery(event) == 600)
                ;
        } else {
            CU(cuStreamSynchronize(gpu_stream));
        }
        page[0] = 2 * i + side + 1;
    }
    return (gpu_now() - begin) / 600;
}

static void second(int socket)
{
    gpu_start();
    hand_over(1, false);
}

static void second_polls(int socket)
{
    gpu_start();
    hand_over(1, true);
}

void fact_handover(void)
{
    shared_page();
    gpu_peer(second);
    gpu_start();
    printf("launch and synchronize, two processes in turns: %.2f us each\n",
           hand_over(0, false));
}

void fact_handover_polls(void)
{
    shared_page();
    gpu_peer(second_polls);
    gpu_start();
    printf("launch and query an event, two processes in turns: %.2f us each\n",
           hand_over(0, true));
}

/* How long a small kernel of one process waits behind a long one of another. */
static void occupier(int socket)
{
    char word;
    long long ticks = 400000000ll;
    void *argument[] = {&ticks};
    gpu_start();
    handle_t module = gpu_module("probe");
    if (!module)
        return;
    handle_t busy = gpu_function(module, "probe_busy");
    gpu_tell(socket, "r", 1);
    gpu_hear(socket, &word, 1);
    CU(cuLaunchKernel(busy, 1, 1, 1, 1, 1, 1, 0, gpu_stream, argument, NULL));
    gpu_tell(socket, "l", 1);
    double begin = gpu_now();
    CU(cuStreamSynchronize(gpu_stream));
    printf("the long kernel took %.0f us\n", gpu_now() - begin);
}

void fact_slices(void)
{
    char word;
    double sample[400];
    int n = 0;
    int socket = gpu_peer(occupier);
    gpu_start();
    handle_t module = gpu_module("probe");
    if (!module)
        return;
    handle_t empty = gpu_function(module, "probe_empty");
    gpu_hear(socket, &word, 1);
    for (int round = 0; round < 2; round++) {
        n = 0;
        double start = gpu_now(), most = 0;
        while (n < 400 && gpu_now() - start < 1e5) {
            double begin = gpu_now();
            CU(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, gpu_stream, NULL,
                              NULL));
            CU(cuStreamSynchronize(gpu_stream));
            sample[n] = gpu_now() - begin;
            most = sample[n] > most ? sample[n] : most;
            n++;
        }
        printf("empty kernel %s: %d times, median %.1f us, most %.1f us\n",
               round ? "beside a long one of another process" : "alone", n,
               gpu_median(sample, n), most);
        if (round == 0) {
            gpu_tell(socket, "g", 1);
            gpu_hear(socket, &word, 1);
        }
    }
    wait(NULL);
}
