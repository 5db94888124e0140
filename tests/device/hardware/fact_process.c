/*
 * fact_process.c - memory, events and contexts between processes and
 * threads.
 */
#include "facts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

static void exporter(int socket)
{
    char word;
    ipc_t h, small[2];
    gpu_start();
    at_t at = fact_allocate(4 * MIB), s0 = fact_allocate(100);
    at_t s1 = fact_allocate(100);
    gpu_fill(at, 4 * MIB);
    CU(cuIpcGetMemHandle(&h, at));
    CU(cuIpcGetMemHandle(&small[0], s0));
    CU(cuIpcGetMemHandle(&small[1], s1));
    gpu_tell(socket, &h, sizeof h);
    gpu_tell(socket, small, sizeof small);
    gpu_hear(socket, &word, 1);
    double begin = gpu_now();
    int code = cuda.cuMemFree_v2(at);
    printf("exporter frees while it is open elsewhere: code %d, %.1f us\n",
           code, gpu_now() - begin);
    at_t again = fact_allocate(4 * MIB);
    printf("exporter allocates again: %s address, id %llu\n",
           again == at ? "the same" : "another",
           (unsigned long long)fact_id(again));
    CU(cuMemsetD8_v2(again, 7, 4 * MIB));
    CU(cuCtxSynchronize());
    CU(cuIpcGetMemHandle(&small[0], again));
    printf("exporter's new handle equals the old one: %d\n",
           memcmp(&small[0], &h, sizeof h) == 0);
    gpu_tell(socket, &small[0], sizeof h);
    gpu_hear(socket, &word, 1);
}

static int first_byte(at_t at)
{
    unsigned char byte = 0;
    int code = cuda.cuMemcpyDtoH_v2(&byte, at, 1);
    return code ? -code : byte;
}

void fact_ipc(void)
{
    int socket = gpu_peer(exporter), code;
    ipc_t h, small[2];
    at_t a = 0, b = 0, c = 0;
    gpu_start();
    gpu_hear(socket, &h, sizeof h);
    gpu_hear(socket, small, sizeof small);
    double begin = gpu_now();
    code = cuda.cuIpcOpenMemHandle_v2(&a, h, 1);
    double time = gpu_now() - begin;
    printf("open: code %d, %.1f us, at %#llx, first byte %d (noise has %d)\n",
           code, time, (unsigned long long)a, first_byte(a), gpu_noise()[0]);
    fact_attributes("opened", a);
    begin = gpu_now();
    code = cuda.cuIpcOpenMemHandle_v2(&b, h, 1);
    printf("open twice: code %d, %.1f us, %s address\n", code,
           gpu_now() - begin, a == b ? "the same" : "another");
    ipc_t g;
    printf("IPC handle of opened memory: code %d\n",
           cuda.cuIpcGetMemHandle(&g, a));
    for (int i = 0; i < 2; i++) {
        code = cuda.cuIpcOpenMemHandle_v2(&c, small[i], 1);
        printf("small allocation %d: code %d at %#llx\n", i, code,
               (unsigned long long)c);
        fact_attributes("small, opened", c);
    }
    begin = gpu_now();
    code = cuda.cuIpcCloseMemHandle(b);
    time = gpu_now() - begin;
    printf("close: code %d, %.1f us; first byte through the other %d\n", code,
           time, first_byte(a));
    gpu_tell(socket, "f", 1);
    gpu_hear(socket, &g, sizeof g);
    printf("after the exporter freed it: first byte %d, id %llu\n",
           first_byte(a), (unsigned long long)fact_id(a));
    code = cuda.cuIpcOpenMemHandle_v2(&b, h, 1);
    printf("the old handle opened after that: code %d at %#llx, first byte "
           "%d\n",
           code, (unsigned long long)b, first_byte(b));
    code = cuda.cuIpcOpenMemHandle_v2(&c, g, 1);
    printf("the new handle: code %d at %#llx, first byte %d (7 is new)\n", code,
           (unsigned long long)c, first_byte(c));
    gpu_tell(socket, "x", 1);
    while (wait(NULL) > 0)
        ;
    printf("after the exporter's end: first bytes %d %d\n", first_byte(a),
           first_byte(c));
    begin = gpu_now();
    code = cuda.cuIpcCloseMemHandle(a);
    printf("close after its end: code %d, %.1f us\n", code, gpu_now() - begin);
    printf("close too often: codes %d %d\n", cuda.cuIpcCloseMemHandle(a),
           cuda.cuIpcCloseMemHandle(a));
    printf("cuMemFree of opened memory: code %d\n", cuda.cuMemFree_v2(c));
}

void fact_ipc_self(void)
{
    gpu_start();
    ipc_t h;
    at_t at = fact_allocate(MIB), opened = 0;
    CU(cuIpcGetMemHandle(&h, at));
    printf("open in the same process: code %d\n",
           cuda.cuIpcOpenMemHandle_v2(&opened, h, 1));
    memset(&h, 0x55, sizeof h);
    printf("open of nonsense: code %d\n",
           cuda.cuIpcOpenMemHandle_v2(&opened, h, 1));
}

static void leaver(int socket)
{
    ipc_t h;
    gpu_start();
    at_t at = fact_allocate(4 * MIB);
    gpu_fill(at, 4 * MIB);
    CU(cuIpcGetMemHandle(&h, at));
    gpu_tell(socket, &h, sizeof h);
    char word;
    gpu_hear(socket, &word, 1);
    kill(getpid(), SIGKILL);
}

void fact_killed(void)
{
    int socket = gpu_peer(leaver);
    ipc_t h;
    at_t at = 0;
    gpu_start();
    gpu_hear(socket, &h, sizeof h);
    printf("open: code %d\n", cuda.cuIpcOpenMemHandle_v2(&at, h, 1));
    gpu_tell(socket, "x", 1);
    wait(NULL);
    usleep(300000);
    printf("first byte after the exporter was killed: %d, of %d\n",
           first_byte(at), gpu_noise()[0]);
    printf("the handle opened again: code %d\n",
           cuda.cuIpcOpenMemHandle_v2(&at, h, 1));
}

static void event_maker(int socket)
{
    ipc_t h;
    handle_t event;
    char word;
    gpu_start();
    CU(cuEventCreate(&event, NO_TIMING | INTERPROCESS));
    double begin = gpu_now();
    CU(cuIpcGetEventHandle(&h, event));
    printf("get handle of an event: %.1f us\n", gpu_now() - begin);
    CU(cuEventRecord(event, gpu_stream));
    gpu_tell(socket, &h, sizeof h);
    gpu_hear(socket, &word, 1);
    begin = gpu_now();
    for (int i = 0; i < 100; i++)
        CU(cuEventRecord(event, gpu_stream));
    printf("record an event of two processes: %.2f us\n",
           (gpu_now() - begin) / 100);
    gpu_tell(socket, "y", 1);
    gpu_hear(socket, &word, 1);
}

void fact_ipc_events(void)
{
    int socket = gpu_peer(event_maker);
    ipc_t h;
    handle_t event = NULL;
    char word;
    gpu_start();
    gpu_hear(socket, &h, sizeof h);
    double begin = gpu_now();
    int code = cuda.cuIpcOpenEventHandle(&event, h);
    printf("open an event: code %d, %.1f us\n", code, gpu_now() - begin);
    gpu_tell(socket, "x", 1);
    gpu_hear(socket, &word, 1);
    begin = gpu_now();
    for (int i = 0; i < 100; i++)
        code = cuda.cuEventQuery(event);
    printf("query it: code %d, %.2f us\n", code, (gpu_now() - begin) / 100);
    begin = gpu_now();
    for (int i = 0; i < 100; i++)
        code = cuda.cuStreamWaitEvent(gpu_stream, event, 0);
    CU(cuStreamSynchronize(gpu_stream));
    printf("a stream waits for it: code %d, %.2f us\n", code,
           (gpu_now() - begin) / 100);
    printf("record it here: code %d\n", cuda.cuEventRecord(event, gpu_stream));
    gpu_tell(socket, "x", 1);
}

static void *stranger(void *at)
{
    handle_t context = NULL, event = NULL;
    uint64_t value = 0;
    unsigned char byte;
    at_t memory = *(at_t *)at, other;
    int code = cuda.cuCtxGetCurrent(&context);
    printf("a thread without a context: get current %d, %p\n", code, context);
    code = cuda.cuPointerGetAttribute(&value, 2, memory);
    printf("its attribute code %d, type %llu\n", code,
           (unsigned long long)value);
    printf("its buffer id %llu\n", (unsigned long long)fact_id(memory));
    printf("its copy: code %d\n", cuda.cuMemcpyDtoH_v2(&byte, memory, 1));
    printf("its asynchronous copy on a stream of the context: code %d\n",
           cuda.cuMemcpyDtoDAsync_v2(memory, memory + 100, 1, gpu_stream));
    printf("its allocation: code %d\n", cuda.cuMemAlloc_v2(&other, 100));
    printf("its event: create %d\n", cuda.cuEventCreate(&event, 0));
    printf("its stream: query %d, synchronize %d\n",
           cuda.cuStreamQuery(gpu_stream),
           cuda.cuStreamSynchronize(gpu_stream));
    handle_t module = gpu_module("probe");
    printf("its module: %s\n", module ? "loaded" : "not loaded");
    ipc_t h;
    printf("its IPC handle: code %d\n", cuda.cuIpcGetMemHandle(&h, memory));
    printf("its registration: code %d\n",
           cuda.cuMemHostRegister_v2(aligned_alloc(4096, 8192), 8192, 3));
    printf("set current: code %d\n", cuda.cuCtxSetCurrent(gpu_context));
    printf("its copy then: code %d\n", cuda.cuMemcpyDtoH_v2(&byte, memory, 1));
    return NULL;
}

void fact_contexts(void)
{
    handle_t context = NULL, again = NULL;
    unsigned flags = 0;
    int active = 0, code;
    cuda_open();
    code = cuda.cuCtxGetCurrent(&context);
    printf("before cuInit: get current %d\n", code);
    uint64_t value = 0;
    printf("before cuInit: attribute code %d\n",
           cuda.cuPointerGetAttribute(&value, 2, (uintptr_t)&value));
    CU(cuInit(0));
    code = cuda.cuCtxGetCurrent(&context);
    printf("after cuInit: get current %d, %p\n", code, context);
    code = cuda.cuDevicePrimaryCtxGetState(0, &flags, &active);
    printf("primary context: state code %d, active %d\n", code, active);
    printf("after cuInit: attribute code %d\n",
           cuda.cuPointerGetAttribute(&value, 2, (uintptr_t)&value));
    gpu_start();
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CU(cuDevicePrimaryCtxRetain(&again, 0));
    CU(cuCtxGetCurrent(&context));
    printf("retained: active %d, current is it %d, retained again is it %d\n",
           active, context == gpu_context, again == gpu_context);
    at_t at = fact_allocate(MIB);
    pthread_t thread;
    pthread_create(&thread, NULL, stranger, &at);
    pthread_join(thread, NULL);
}

/* What a program of the runtime's interface has as its context. */
void fact_runtime(void)
{
    static const char *const name[] = {"libcudart.so.13", "libcudart.so.12",
                                       "libcudart.so",
                                       "/usr/local/cuda/lib64/libcudart.so"};
    void *library = NULL;
    int (*allocate_by)(void **, size_t), (*set_device)(int);
    handle_t context = NULL, primary = NULL;
    void *memory = NULL;
    unsigned flags = 0;
    int active = 0;
    for (int i = 0; i < 4 && !library; i++)
        library = dlopen(name[i], RTLD_NOW);
    if (!library) {
        printf("no libcudart\n");
        return;
    }
    *(void **)&allocate_by = dlsym(library, "cudaMalloc");
    *(void **)&set_device = dlsym(library, "cudaSetDevice");
    cuda_open();
    CU(cuInit(0));
    int code = set_device(0), current = cuda.cuCtxGetCurrent(&context);
    printf("cudaSetDevice: code %d; current %d, %p\n", code, current, context);
    cuda.cuDevicePrimaryCtxGetState(0, &flags, &active);
    printf("primary context active: %d, flags %u\n", active, flags);
    code = allocate_by(&memory, MIB);
    current = cuda.cuCtxGetCurrent(&context);
    printf("cudaMalloc: code %d; current %d, %p\n", code, current, context);
    CU(cuDevicePrimaryCtxRetain(&primary, 0));
    printf("it is the primary context: %d\n", context == primary);
    fact_attributes("cudaMalloc", (uintptr_t)memory);
}

void fact_fork(void)
{
    gpu_start();
    at_t at = fact_allocate(MIB), other;
    fflush(NULL);
    if (fork() == 0) {
        uint64_t value = 0;
        unsigned char byte;
        int device;
        alarm(5);
        printf("child: init %d\n", cuda.cuInit(0));
        printf("child: device %d\n", cuda.cuDeviceGet(&device, 0));
        printf("child: attribute %d\n",
               cuda.cuPointerGetAttribute(&value, 2, at));
        printf("child: allocate %d\n", cuda.cuMemAlloc_v2(&other, 100));
        printf("child: copy %d\n", cuda.cuMemcpyDtoH_v2(&byte, at, 1));
        printf("child: set current %d\n", cuda.cuCtxSetCurrent(gpu_context));
        printf("child: synchronize %d\n", cuda.cuCtxSynchronize());
        fflush(NULL);
        _exit(0);
    }
    int status = 0;
    wait(&status);
    printf("child's status %#x; parent's copy afterwards: first byte %d\n",
           status, first_byte(at));
}
