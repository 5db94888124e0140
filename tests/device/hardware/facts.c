/*
 * facts.c - what the driver answers, line by line: a stand-in for it has to
 * answer alike.
 *
 * Each probe is a process of its own with ten seconds, so that one that hangs
 * or dies does not stop the others. A probe that needs two processes makes the
 * second before it opens the driver.
 */
#include "gpu.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"

#define MIB ((size_t)1 << 20)

/* What the driver says of an address, attribute by attribute. */
static void attributes(const char *what, at_t at)
{
    static const struct {
        int number;
        const char *name;
    } a[] = {{1, "ctx"}, {2, "type"}, {3, "dev"}, {4, "host"}, {7, "id"},
             {8, "managed"}, {9, "ordinal"}, {10, "ipc"}, {11, "start"},
             {12, "size"}, {13, "mapped"}, {14, "handles"}, {17, "pool"}};
    printf("%s at %#llx:", what, (unsigned long long)at);
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) {
        uint64_t value = 0;
        int code = cuda.cuPointerGetAttribute(&value, a[i].number, at);
        if (code)
            printf(" %s=E%d", a[i].name, code);
        else
            printf(" %s=%#llx", a[i].name, (unsigned long long)value);
    }
    int which[] = {2, 7, 8}, code;
    uint64_t value[3] = {0};
    void *to[] = {&value[0], &value[1], &value[2]};
    code = cuda.cuPointerGetAttributes(3, which, to, at);
    printf("; plural code %d: type %u id %llu managed %u\n", code,
           (unsigned)value[0], (unsigned long long)value[1],
           (unsigned)value[2]);
}

static uint64_t id_of(at_t at)
{
    uint64_t id = 0;
    return cuda.cuPointerGetAttribute(&id, 7, at) ? 0 : id;
}

static at_t allocate(size_t bytes)
{
    at_t at;
    CU(cuMemAlloc_v2(&at, bytes));
    return at;
}

static void fact_pointers(void)
{
    int local;
    gpu_start();
    char *heap = malloc(100);
    at_t at = allocate(3 * MIB), managed = 0;
    attributes("malloc", (uintptr_t)heap);
    attributes("stack", (uintptr_t)&local);
    attributes("null", 0);
    attributes("unmapped", 0x123456789000);
    attributes("device", at);
    attributes("device, interior", at + 1234567);
    attributes("device, last byte", at + 3 * MIB - 1);
    attributes("device, one past", at + 3 * MIB);
    CU(cuMemFree_v2(at));
    attributes("device, freed", at);
    at_t again = allocate(3 * MIB);
    attributes(again == at ? "same address again" : "another address", again);
    if (cuda.cuMemAllocManaged(&managed, MIB, 1) == 0)
        attributes("managed", managed);
    void *pinned = NULL;
    if (cuda.cuMemHostAlloc(&pinned, MIB, 3) == 0) {
        attributes("cuMemHostAlloc", (uintptr_t)pinned);
        attributes("cuMemHostAlloc, interior", (uintptr_t)pinned + 100);
    }
    char *page = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("cuMemHostRegister: code %d\n",
           cuda.cuMemHostRegister_v2(page, MIB, 3));
    attributes("registered", (uintptr_t)page);
    printf("cuMemHostUnregister: code %d\n", cuda.cuMemHostUnregister(page));
    attributes("unregistered", (uintptr_t)page);
}

static void fact_granularity(void)
{
    gpu_start();
    at_t a[6], base;
    size_t size;
    for (int i = 0; i < 6; i++)
        a[i] = allocate(i < 3 ? 100 : i < 5 ? MIB : 5 * MIB);
    for (int i = 0; i < 6; i++) {
        ipc_t h;
        int code = cuda.cuMemGetAddressRange_v2(&base, &size, a[i] + 10);
        int ipc = cuda.cuIpcGetMemHandle(&h, a[i]);
        unsigned sum = 0;
        for (int k = 0; k < 64; k++)
            sum = sum * 31 + (unsigned char)h.reserved[k];
        printf("allocation %d at %#llx id %llu: range code %d base %#llx size "
               "%zu; IPC code %d, hash of handle %08x\n", i,
               (unsigned long long)a[i], (unsigned long long)id_of(a[i]), code,
               (unsigned long long)base, size, ipc, ipc ? 0 : sum);
    }
    ipc_t h, g;
    int code = cuda.cuIpcGetMemHandle(&h, a[5] + 4096);
    cuda.cuIpcGetMemHandle(&g, a[5]);
    printf("IPC handle of an interior pointer: code %d, same as of the start: "
           "%d\n", code, memcmp(&h, &g, sizeof h) == 0);
    int again = cuda.cuIpcGetMemHandle(&h, a[5]);
    printf("IPC handle asked again: code %d, same: %d\n", again,
           memcmp(&h, &g, sizeof h) == 0);
    for (int i = 0; i < 16; i++)
        printf("%08x%s", ((uint32_t *)(void *)&g)[i], i < 15 ? " " : "\n");
    printf("range of an unknown address: code %d\n",
           cuda.cuMemGetAddressRange_v2(&base, &size, 0x123456789000));
}

static void fact_reuse(void)
{
    gpu_start();
    for (int i = 0; i < 4; i++) {
        at_t at = allocate(8 * MIB);
        ipc_t h;
        unsigned long long id = id_of(at);
        int code = cuda.cuIpcGetMemHandle(&h, at);
        int freed = cuda.cuMemFree_v2(at);
        printf("round %d: at %#llx id %llu, IPC code %d, free code %d, id "
               "afterwards %llu\n", i, (unsigned long long)at, id, code, freed,
               (unsigned long long)id_of(at));
        printf("free again: code %d\n", cuda.cuMemFree_v2(at));
    }
}

static void fact_refused(void)
{
    gpu_start();
    ipc_t h;
    at_t at = 0;
    int code = cuda.cuMemAllocAsync(&at, MIB, gpu_stream);
    CU(cuStreamSynchronize(gpu_stream));
    printf("pool: allocation code %d, IPC code %d\n", code,
           cuda.cuIpcGetMemHandle(&h, at));
    attributes("pool", at);
    code = cuda.cuMemAllocManaged(&at, MIB, 1);
    printf("managed: allocation code %d, IPC code %d\n", code,
           cuda.cuIpcGetMemHandle(&h, at));
    void *pinned = NULL;
    code = cuda.cuMemHostAlloc(&pinned, MIB, 3);
    printf("pinned: allocation code %d, IPC code %d\n", code,
           cuda.cuIpcGetMemHandle(&h, (uintptr_t)pinned));
    char *heap = malloc(100);
    printf("malloc: IPC code %d\n",
           cuda.cuIpcGetMemHandle(&h, (uintptr_t)heap));
    allocation_t how = {.type = 1, .location_type = 1, .handle_types = 1};
    access_t may = {1, 0, 3};
    size_t unit = 0;
    uint64_t piece = 0;
    code = cuda.cuMemGetAllocationGranularity(&unit, &how, 0);
    printf("virtual: granularity code %d, %zu\n", code, unit);
    int created = cuda.cuMemCreate(&piece, unit, &how, 0);
    int reserved = cuda.cuMemAddressReserve(&at, unit, 0, 0, 0);
    int mapped = cuda.cuMemMap(at, unit, 0, piece, 0);
    int allowed = cuda.cuMemSetAccess(at, unit, &may, 1);
    printf("virtual: create %d reserve %d map %d access %d, IPC code %d\n",
           created, reserved, mapped, allowed, cuda.cuIpcGetMemHandle(&h, at));
    attributes("virtual", at);
}

/* Two processes ---------------------------------------------------------- */

static void exporter(int socket)
{
    char word;
    ipc_t h, small[2];
    gpu_start();
    at_t at = allocate(4 * MIB), s0 = allocate(100), s1 = allocate(100);
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
    at_t again = allocate(4 * MIB);
    printf("exporter allocates again: %s address, id %llu\n",
           again == at ? "the same" : "another",
           (unsigned long long)id_of(again));
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

static void fact_ipc(void)
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
    attributes("opened", a);
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
        attributes("small, opened", c);
    }
    begin = gpu_now();
    code = cuda.cuIpcCloseMemHandle(b);
    time = gpu_now() - begin;
    printf("close: code %d, %.1f us; first byte through the other %d\n", code,
           time, first_byte(a));
    gpu_tell(socket, "f", 1);
    gpu_hear(socket, &g, sizeof g);
    printf("after the exporter freed it: first byte %d, id %llu\n",
           first_byte(a), (unsigned long long)id_of(a));
    code = cuda.cuIpcOpenMemHandle_v2(&b, h, 1);
    printf("the old handle opened after that: code %d at %#llx, first byte "
           "%d\n", code, (unsigned long long)b, first_byte(b));
    code = cuda.cuIpcOpenMemHandle_v2(&c, g, 1);
    printf("the new handle: code %d at %#llx, first byte %d (7 is new)\n",
           code, (unsigned long long)c, first_byte(c));
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

static void fact_ipc_self(void)
{
    gpu_start();
    ipc_t h;
    at_t at = allocate(MIB), opened = 0;
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
    at_t at = allocate(4 * MIB);
    gpu_fill(at, 4 * MIB);
    CU(cuIpcGetMemHandle(&h, at));
    gpu_tell(socket, &h, sizeof h);
    char word;
    gpu_hear(socket, &word, 1);
    kill(getpid(), SIGKILL);
}

static void fact_killed(void)
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

static void fact_ipc_events(void)
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

/* Costs ---------------------------------------------------------------- */

#define COST(name, call)                                                      \
    do {                                                                      \
        double sample[101];                                                   \
        int code = 0;                                                         \
        for (int i = 0; i < 101; i++) {                                       \
            double begin = gpu_now();                                         \
            code = cuda.call;                                                 \
            sample[i] = gpu_now() - begin;                                    \
        }                                                                     \
        printf("%-28s %8.3f us, code %d\n", name, gpu_median(sample, 101),    \
               code);                                                         \
    } while (0)

static void fact_costs(void)
{
    gpu_start();
    at_t at = allocate(MIB), base;
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

/* Contexts ---------------------------------------------------------------- */

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
    printf("its buffer id %llu\n", (unsigned long long)id_of(memory));
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

static void fact_contexts(void)
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
    at_t at = allocate(MIB);
    pthread_t thread;
    pthread_create(&thread, NULL, stranger, &at);
    pthread_join(thread, NULL);
}

static void fact_fork(void)
{
    gpu_start();
    at_t at = allocate(MIB), other;
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

/* The host's memory ------------------------------------------------------ */

static void fact_register(void)
{
    gpu_start();
    int file = memfd_create("arena", 0);
    at_t seen = 0;
    MUST(ftruncate(file, (off_t)(16 * MIB)) == 0);
    char *a = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *b = mmap(NULL, 16 * MIB, PROT_READ, MAP_SHARED, file, 0);
    double begin = gpu_now();
    int code = cuda.cuMemHostRegister_v2(a + 4096, 2 * MIB, 3);
    printf("pages of a memfd: code %d, %.0f us\n", code, gpu_now() - begin);
    printf("again: code %d\n", cuda.cuMemHostRegister_v2(a + 4096, 2 * MIB, 3));
    printf("overlapping: code %d\n",
           cuda.cuMemHostRegister_v2(a + MIB, 4 * MIB, 3));
    printf("odd address and size: code %d\n",
           cuda.cuMemHostRegister_v2(a + 8 * MIB + 100, 1000, 3));
    code = cuda.cuMemHostGetDevicePointer_v2(&seen, a + 8192, 0);
    printf("device pointer inside: code %d, same address %d\n", code,
           seen == (uintptr_t)a + 8192);
    attributes("registered memfd", (uintptr_t)a + 8192);
    printf("read-only mapping, plain: code %d\n",
           cuda.cuMemHostRegister_v2(b, MIB, 3));
    code = cuda.cuMemHostRegister_v2(b + 4 * MIB, MIB, 3 | REGISTER_READ_ONLY);
    printf("read-only mapping, asked for so: code %d\n", code);
    printf("unmapped: code %d\n",
           cuda.cuMemHostRegister_v2((void *)0x123456789000, MIB, 3));
    begin = gpu_now();
    code = cuda.cuMemHostRegister_v2(a + 10 * MIB, 4096, 3);
    double end = gpu_now();
    printf("a page: code %d, %.1f us; unregister ", code, end - begin);
    begin = gpu_now();
    code = cuda.cuMemHostUnregister(a + 10 * MIB);
    printf("code %d, %.1f us\n", code, gpu_now() - begin);
    munmap(a + 4096, 2 * MIB);
    printf("unregister after munmap: code %d\n",
           cuda.cuMemHostUnregister(a + 4096));
}

/* Both at once ------------------------------------------------------------ */

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

static void fact_turns_host(void)
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
    at_t flag = allocate(4096);
    CU(cuMemsetD8_v2(flag, 0, 4096));
    CU(cuCtxSynchronize());
    CU(cuIpcGetMemHandle(&h, flag));
    gpu_tell(socket, &h, sizeof h);
    gpu_hear(socket, &word, 1);
    turns("other process, device memory", flag, 1);
    gpu_hear(socket, &word, 1);
}

static void fact_turns_device(void)
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
static void fact_turns_processor(void)
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
    printf("processor and kernel: %.2f us a turn\n",
           (gpu_now() - begin) / n);
    CU(cuStreamSynchronize(gpu_stream));
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

static void fact_slices(void)
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

/* The room of probes ------------------------------------------------------ */

static const struct {
    const char *name;
    void (*probe)(void);
} facts[] = {{"pointers", fact_pointers}, {"granularity", fact_granularity},
             {"reuse", fact_reuse}, {"refused", fact_refused},
             {"ipc", fact_ipc}, {"ipc-self", fact_ipc_self},
             {"killed", fact_killed}, {"ipc-events", fact_ipc_events},
             {"costs", fact_costs}, {"contexts", fact_contexts},
             {"fork", fact_fork}, {"register", fact_register},
             {"turns-processor", fact_turns_processor},
             {"turns-host", fact_turns_host},
             {"turns-device", fact_turns_device}, {"slices", fact_slices}};

void mode_fact(const char *name)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].name, name) == 0)
            facts[i].probe();
}

/* Run a probe as a group of processes, and show its lines. */
static void run(const char *name)
{
    int end[2];
    char text[65536], *line, *rest = text;
    size_t n = 0;
    MUST(pipe(end) == 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        dup2(end[1], 1);
        close(end[0]);
        close(end[1]);
        execl("/proc/self/exe", "gpu", gpu_kernels, "-", "fact", name, NULL);
        _exit(127);
    }
    setpgid(child, child);
    close(end[1]);
    double begin = gpu_now();
    struct pollfd wait_for = {end[0], POLLIN, 0};
    bool late = false;
    while (n < sizeof text - 1) {
        double left = begin + 10e6 - gpu_now();
        ssize_t got = 0;
        late = left <= 0 || poll(&wait_for, 1, (int)(left / 1e3) + 1) <= 0;
        if (late || (got = read(end[0], text + n, sizeof text - 1 - n)) <= 0)
            break;
        n += (size_t)got;
    }
    int status = 0;
    kill(-child, SIGKILL);
    waitpid(child, &status, 0);
    close(end[0]);
    text[n] = 0;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            printf("%s: %s\n", name, line);
    if (late)
        printf("%s: stopped after 10 s\n", name);
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        printf("%s: signal %d\n", name, WTERMSIG(status));
    fflush(stdout);
}

void mode_facts(void)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        run(facts[i].name);
}
