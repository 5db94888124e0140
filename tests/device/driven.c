/*
 * The stand-in for CUDA's driver answers as the driver did on hardware: these
 * are the facts of hardware/h200.txt. It refuses what a test wishes, and runs
 * the kernels of src/device/move.cu by name.
 */
#include "driven.h"

#include <sys/mman.h>

#include "cases.h"

#define NOWHERE 0x123456789000u

/* Facts ------------------------------------------------------------------ */

static void begins(void)
{
    handle_t current = &current;
    uint64_t value = 0;
    unsigned flags;
    int active = 1, here;
    driven_open();
    CODE(3, cuCtxGetCurrent(&current));
    CODE(3, cuPointerGetAttribute(&value, 2, (uintptr_t)&value));
    CODE(3, cuDevicePrimaryCtxGetState(0, &flags, &active));
    CU(cuInit(0));
    CU(cuCtxGetCurrent(&current));
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    MUST(!current && !active);
    CODE(1, cuPointerGetAttribute(&value, 2, (uintptr_t)&value));
    CODE(201, cuCtxGetDevice(&here));
    /* A test's allocation makes a context, and none current. */
    MUST(standin.allocate(100, 0));
    CU(cuCtxGetCurrent(&current));
    CU(cuDevicePrimaryCtxGetState(0, &flags, &active));
    MUST(!current && active);
}

/* The driver knows nothing of an address: each alone 1, together 0. */
static void is_unknown(at_t at)
{
    int which[] = {2, 7, 8};
    uint64_t value[] = {9, 9, 9};
    void *to[] = {&value[0], &value[1], &value[2]};
    for (int i = 1; i < 18; i++)
        CODE(1, cuPointerGetAttribute(value, i, at));
    value[0] = value[2] = 0xffffffff;
    CU(cuPointerGetAttributes(3, which, to, at));
    MUST(!value[0] && !value[1] && !value[2]);
}

static void has(at_t at, uint64_t of, uint64_t type, bool host, uint64_t ipc,
                at_t start, size_t bytes)
{
    uint64_t value;
    MUST(attribute(1, at) == of && attribute(2, at) == type);
    MUST(attribute(3, at) == at && attribute(9, at) == 0);
    CODE(host ? 0 : 1, cuPointerGetAttribute(&value, 4, at));
    MUST(attribute(10, at) == ipc && attribute(11, at) == start);
    MUST(attribute(12, at) == bytes && attribute(13, at) == 1);
}

static void pointers(void)
{
    at_t at, managed, pool;
    void *pinned;
    ipc_t handle;
    allocation_t how = {.type = 1, .location_type = 1, .handle_types = 1};
    access_t may = {1, 0, 3};
    size_t unit;
    uint64_t piece, mine;
    int heap;
    driven_start();
    mine = (uintptr_t)context;
    is_unknown((uintptr_t)&heap);
    is_unknown(0);
    is_unknown(NOWHERE);
    at = allocate(3 * MIB);
    has(at + 1234567, mine, 2, false, 1, at, 3 * MIB);
    has(at + 3 * MIB - 1, mine, 2, false, 1, at, 3 * MIB);
    is_unknown(at + 3 * MIB);
    CU(cuMemFree_v2(at));
    is_unknown(at);
    CU(cuMemAllocManaged(&managed, MIB, 1));
    has(managed, mine, 2, true, 0, managed, MIB);
    MUST(attribute(8, managed) == 1);
    *(char *)managed = 5;
    MUST(*seen(managed) == 5);
    CU(cuMemHostAlloc(&pinned, MIB, 3));
    has((uintptr_t)pinned + 100, mine, 1, true, 0, (uintptr_t)pinned, MIB);
    CU(cuMemAllocAsync(&pool, MIB, stream));
    has(pool, 0, 2, false, 0, pool, MIB);
    MUST(attribute(17, pool) != 0);
    CU(cuMemGetAllocationGranularity(&unit, &how, 0));
    MUST(unit == 2 * MIB);
    CU(cuMemCreate(&piece, unit, &how, 0));
    CU(cuMemAddressReserve(&at, unit, 0, 0, 0));
    CU(cuMemMap(at, unit, 0, piece, 0));
    CU(cuMemSetAccess(at, unit, &may, 1));
    has(at, 0, 2, false, 0, at, unit);
    MUST(attribute(14, at) == 1);
    at_t refused[] = {managed, (uintptr_t)pinned, pool, at, (uintptr_t)&heap};
    for (int i = 0; i < 5; i++)
        CODE(1, cuIpcGetMemHandle(&handle, refused[i]));
}

static void blocks(void)
{
    at_t a[4], base;
    size_t bytes;
    ipc_t first, again;
    driven_start();
    for (int i = 0; i < 4; i++)
        a[i] = allocate(i < 3 ? 100 : 5 * MIB);
    for (int i = 1; i < 4; i++) {
        MUST(i == 3 || a[i] == a[i - 1] + 512);
        MUST(attribute(7, a[i]) == attribute(7, a[i - 1]) + 1);
        CU(cuMemGetAddressRange_v2(&base, &bytes, a[i] + 10));
        MUST(base == a[i] && bytes == (i < 3 ? 100 : 5 * MIB));
        CU(cuIpcGetMemHandle(&first, a[i]));
        CU(cuIpcGetMemHandle(&again, a[i] + 50));
        MUST(memcmp(&first, &again, sizeof first) == 0);
        CU(cuIpcGetMemHandle(&again, a[i - 1]));
        MUST(memcmp(&first, &again, sizeof first) != 0);
    }
    CODE(500, cuMemGetAddressRange_v2(&base, &bytes, NOWHERE));
    CODE(201, cuIpcOpenMemHandle_v2(&base, first, 1));
    memset(&first, 0x55, sizeof first);
    CODE(1, cuIpcOpenMemHandle_v2(&base, first, 1));
    CODE(1, cuIpcCloseMemHandle(a[0]));
}

static void ids(bool same)
{
    at_t before = 0;
    uint64_t id = 0;
    driven_start();
    for (int i = 0; i < 5; i++) {
        at_t at = allocate(8 * MIB);
        MUST(attribute(7, at) > id);
        MUST(i == 0 || (at == before) == same);
        id = attribute(7, at);
        before = at;
        *seen(at) = 7; /* the next block there has new pages */
        CU(cuMemFree_v2(at));
        CODE(1, cuMemFree_v2(at));
        MUST(!seen(at));
    }
}

static void ids_anew(void)
{
    ids(false);
}

static void ids_at_one_address(void)
{
    ids(true);
}

static void registers(void)
{
    int file = memfd_create("pages", 0);
    at_t at;
    driven_start();
    MUST(ftruncate(file, (off_t)(16 * MIB)) == 0);
    char *a = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *b = mmap(NULL, 16 * MIB, PROT_READ, MAP_SHARED, file, 0);
    CU(cuMemHostRegister_v2(a + 4096, 2 * MIB, 3));
    CODE(712, cuMemHostRegister_v2(a + 4096, 2 * MIB, 3));
    CODE(712, cuMemHostRegister_v2(a + MIB, 4 * MIB, 3));
    CU(cuMemHostRegister_v2(a + 8 * MIB + 100, 1000, 3));
    CU(cuMemHostGetDevicePointer_v2(&at, a + 8192, 0));
    MUST(at == (uintptr_t)a + 8192);
    has(at, (uintptr_t)context, 1, true, 0, (uintptr_t)a + 4096, 2 * MIB);
    CODE(1, cuMemHostRegister_v2(b, MIB, 3));
    CU(cuMemHostRegister_v2(b + 4 * MIB, MIB, 3 | REGISTER_READ_ONLY));
    CODE(1, cuMemHostRegister_v2((void *)NOWHERE, MIB, 3));
    munmap(a + 4096, 2 * MIB);
    CU(cuMemHostUnregister(a + 4096));
    CODE(713, cuMemHostUnregister(a + 4096));
    is_unknown((uintptr_t)a + 4096);
}

/* Contexts --------------------------------------------------------------- */

static void *stranger(void *memory)
{
    handle_t current = &current, event, module;
    at_t at = (uintptr_t)memory, other;
    unsigned char byte;
    ipc_t handle;
    static char page[8192] __attribute__((aligned(4096)));
    CU(cuCtxGetCurrent(&current));
    MUST(!current && attribute(2, at) == 2 && attribute(7, at));
    CODE(201, cuMemcpyDtoH_v2(&byte, at, 1));
    CU(cuMemcpyDtoDAsync_v2(at, at + 100, 1, stream));
    CODE(201, cuMemAlloc_v2(&other, 100));
    CODE(201, cuEventCreate(&event, 0));
    CU(cuStreamSynchronize(stream));
    CU(cuStreamQuery(stream));
    CODE(201, cuModuleLoadData(&module, "anything"));
    CODE(201, cuIpcGetMemHandle(&handle, at));
    CODE(201, cuMemHostRegister_v2(page, sizeof page, 3));
    CU(cuCtxSetCurrent(context));
    CU(cuMemcpyDtoH_v2(&byte, at, 1));
    return NULL;
}

static void threads(void)
{
    pthread_t thread;
    driven_start();
    at_t at = allocate(MIB);
    MUST(pthread_create(&thread, NULL, stranger, (void *)at) == 0);
    MUST(pthread_join(thread, NULL) == 0);
}

static void stack(void)
{
    handle_t other, got;
    driven_start();
    CU(cuCtxCreate_v2(&other, 0, 0));
    CU(cuCtxGetCurrent(&got));
    MUST(got == other && other != context);
    at_t at = allocate(100);
    MUST(attribute(1, at) == (uintptr_t)other);
    CU(cuCtxPushCurrent_v2(context));
    CU(cuCtxPopCurrent_v2(&got));
    MUST(got == context);
    CU(cuCtxGetCurrent(&got));
    MUST(got == other);
    CU(cuCtxDestroy_v2(other));
    is_unknown(at);
    CU(cuCtxGetCurrent(&got));
    MUST(got == context);
    CODE(201, cuCtxSetCurrent(other));
}

/* A context that is made anew has the old handle and another id. */
static void lives(void)
{
    unsigned long long before, now, other;
    handle_t again;
    at_t at;
    driven_start();
    CU(cuCtxGetId(context, &before));
    at = allocate(100);
    CU(cuDevicePrimaryCtxRelease_v2(0));
    is_unknown(at);
    CODE(709, cuMemAlloc_v2(&at, 100));
    CODE(201, cuCtxGetId(context, &now));
    CU(cuDevicePrimaryCtxRetain(&again, 0));
    CU(cuCtxGetId(again, &now));
    MUST(again == context && now != before);
    CODE(709, cuMemAlloc_v2(&at, 100));
    CU(cuCtxSetCurrent(again));
    at = allocate(100);
    CU(cuCtxCreate_v2(&context, 0, 0));
    CU(cuCtxGetId(NULL, &before));
    CU(cuCtxDestroy_v2(context));
    CU(cuCtxCreate_v2(&again, 0, 0));
    CU(cuCtxGetId(again, &other));
    MUST(again == context && other != before && other != now);
}

static void orphans(void)
{
    at_t at, other;
    uint64_t value;
    unsigned char byte;
    int device;
    driven_start();
    at = allocate(100);
    pid_t child = fork();
    if (child == 0) {
        CODE(3, cuInit(0));
        CODE(3, cuDeviceGet(&device, 0));
        CODE(3, cuPointerGetAttribute(&value, 2, at));
        CODE(3, cuMemAlloc_v2(&other, 100));
        CODE(3, cuMemcpyDtoH_v2(&byte, at, 1));
        CODE(3, cuCtxSetCurrent(context));
        CODE(3, cuCtxSynchronize());
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    CU(cuMemcpyDtoH_v2(&byte, at, 1));
}

/* Controls --------------------------------------------------------------- */

static void refusals(void)
{
    at_t at;
    handle_t made;
    driven_start();
    allocate(100);
    CODE(2, cuMemAlloc_v2(&at, 100));
    CODE(2, cuMemAlloc_v2(&at, 100));
    CU(cuEventCreate(&made, 0));
    CODE(999, cuEventCreate(&made, 0));
    CU(cuEventCreate(&made, 0));
    MUST(standin.count("cuMemAlloc_v2") == 3 && standin.count("cuInit") == 1);
    MUST(standin.count("cuMemFree_v2") == 0 && standin.count(NULL) > 6);
    CODE(700, cuStreamQuery(stream));
}

static void refuses_the_fifth(void)
{
    int device;
    driven_start(); /* four calls */
    CU(cuDeviceGet(&device, 0));
}

static void logs(void)
{
    char line[100] = "", wanted[100];
    bool found = false;
    driven_start();
    FILE *log = fopen(getenv("STANDIN_LOG"), "r");
    MUST(log);
    snprintf(wanted, sizeof wanted, "%d cuStreamCreate\n", (int)getpid());
    while (fgets(line, sizeof line, log))
        found |= strcmp(line, wanted) == 0;
    MUST(found);
    unlink(getenv("STANDIN_LOG"));
}

/* Kernels ---------------------------------------------------------------- */

#define CASES 300
#define MOST (1 << 15)

static at_t upload(const void *from, size_t bytes)
{
    if (!from)
        return 0;
    at_t at = allocate(bytes);
    CU(cuMemcpyHtoD_v2(at, from, bytes));
    return at;
}

static char *noise(uint64_t bytes)
{
    char *at = malloc(bytes);
    MUST(at);
    for (uint64_t i = 0; i < bytes; i++)
        at[i] = (char)case_below(256);
    return at;
}

static void one_case(handle_t module)
{
    case_t c;
    sw_plan_t plan;
    handle_t function;
    case_make(&c, MOST);
    char *source = noise(c.source.span), *target = noise(c.target.span);
    void *tables[] = {case_table(&c.source), case_table(&c.target)};
    at_t from = upload(source, c.source.span);
    at_t to = upload(target, c.target.span);
    at_t lists[] = {upload(tables[0], c.source.shape.table.bytes),
                    upload(tables[1], c.target.shape.table.bytes)};
    MUST(case_plan(&c, from, lists[0], to, lists[1], 4, &plan));
    case_copy(&c, source, target);
    CU(cuCtxSynchronize());
    if (plan.tiles) {
        void *parameter[] = {&plan.move};
        CU(cuModuleGetFunction(&function, module, sw_plan_kernel(&plan)));
        CU(cuLaunchKernel(function, (unsigned)plan.tiles, 1, 1, SW_THREADS, 1,
                          1, 0, stream, parameter, NULL));
    }
    CU(cuStreamSynchronize(stream));
    if (memcmp(seen(to), target, c.target.span) != 0) {
        case_print(&c, &plan, stderr);
        MUST(!"the same bytes");
    }
    for (int i = 0; i < 2; i++) {
        if (lists[i])
            CU(cuMemFree_v2(lists[i]));
        free(tables[i]);
    }
    CU(cuMemFree_v2(from));
    CU(cuMemFree_v2(to));
    free(source);
    free(target);
    case_end(&c);
}

/* 16 bytes at a time, up to the last byte of both allocations. */
static void edges(void)
{
    char data[100];
    handle_t module, function;
    sw_plan_t plan;
    driven_start();
    CU(cuModuleLoadData(&module, "anything"));
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i + 1);
    for (uint64_t i = 0; i < 4 * 4 * 40; i++) {
        uint64_t n = 40 + i / 16, before = i % 4, after = i / 4 % 4;
        at_t from = allocate(before + n), to = allocate(after + n);
        sw_shape_t s = {.kind = SW_SHAPE_NEST, .base = from + before, .run = n};
        sw_shape_t t = {.kind = SW_SHAPE_NEST, .base = to + after, .run = n};
        CU(cuMemcpyHtoD_v2(from + before, data, n));
        CU(cuCtxSynchronize());
        MUST(sw_plan(&s, 0, &t, 0, n, SW_LOOSE, 4, &plan) ||
             sw_plan(&s, 0, &t, 0, n, 0, 4, &plan));
        void *parameter[] = {&plan.move};
        CU(cuModuleGetFunction(&function, module, sw_plan_kernel(&plan)));
        CU(cuLaunchKernel(function, (unsigned)plan.tiles, 1, 1, SW_THREADS, 1,
                          1, 0, stream, parameter, NULL));
        CU(cuStreamSynchronize(stream));
        MUST(memcmp(seen(to + after), data, n) == 0);
        CU(cuMemFree_v2(from));
        CU(cuMemFree_v2(to));
    }
}

static void kernels(void)
{
    handle_t module, function;
    driven_start();
    CODE(301, cuModuleLoad(&module, "/nowhere/move.cubin"));
    CU(cuModuleLoadData(&module, "anything"));
    CODE(500, cuModuleGetFunction(&function, module, "no_such_kernel"));
    for (int i = 0; i < CASES; i++)
        one_case(module);
    MUST(standin.faults() == 0);
}

int main(void)
{
    ALONE(begins);
    ALONE(pointers);
    ALONE(blocks);
    ALONE(ids_anew);
    ALONE_WITH(ids_at_one_address, "STANDIN_REUSE", "1");
    ALONE(registers);
    ALONE(threads);
    ALONE(stack);
    ALONE(lives);
    ALONE(orphans);
    ALONE_WITH(refusals, "STANDIN_REFUSE",
               "cuMemAlloc:2:2,cuEventCreate:=2,cuStreamQuery:1:700");
    MUST(driven_status(refuses_the_fifth, "STANDIN_REFUSE", "*:=5") != 0);
    ALONE_WITH(refuses_the_fifth, "STANDIN_REFUSE", "*:=6");
    char log[100];
    snprintf(log, sizeof log, "/tmp/driven-%d.log", (int)getpid());
    ALONE_WITH(logs, "STANDIN_LOG", log);
    ALONE(edges);
    ALONE(kernels);
    return 0;
}
