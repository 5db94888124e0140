/*
 * fact_memory.c - what the driver says of kinds of memory.
 */
#include "facts.h"

#include <sys/mman.h>
#include <unistd.h>

#include "must.h"

void fact_pointers(void)
{
    int local;
    gpu_start();
    char *heap = malloc(100);
    at_t at = fact_allocate(3 * MIB), managed = 0;
    fact_attributes("malloc", (uintptr_t)heap);
    fact_attributes("stack", (uintptr_t)&local);
    fact_attributes("null", 0);
    fact_attributes("unmapped", 0x123456789000);
    fact_attributes("device", at);
    fact_attributes("device, interior", at + 1234567);
    fact_attributes("device, last byte", at + 3 * MIB - 1);
    fact_attributes("device, one past", at + 3 * MIB);
    CU(cuMemFree_v2(at));
    fact_attributes("device, freed", at);
    at_t again = fact_allocate(3 * MIB);
    fact_attributes(again == at ? "same address again" : "another address",
                    again);
    if (cuda.cuMemAllocManaged(&managed, MIB, 1) == 0)
        fact_attributes("managed", managed);
    void *pinned = NULL;
    if (cuda.cuMemHostAlloc(&pinned, MIB, 3) == 0) {
        fact_attributes("cuMemHostAlloc", (uintptr_t)pinned);
        fact_attributes("cuMemHostAlloc, interior", (uintptr_t)pinned + 100);
    }
    char *page = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("cuMemHostRegister: code %d\n",
           cuda.cuMemHostRegister_v2(page, MIB, 3));
    fact_attributes("registered", (uintptr_t)page);
    printf("cuMemHostUnregister: code %d\n", cuda.cuMemHostUnregister(page));
    fact_attributes("unregistered", (uintptr_t)page);
}

void fact_granularity(void)
{
    gpu_start();
    at_t a[6], base;
    size_t size;
    for (int i = 0; i < 6; i++)
        a[i] = fact_allocate(i < 3 ? 100 : i < 5 ? MIB : 5 * MIB);
    for (int i = 0; i < 6; i++) {
        ipc_t h;
        int code = cuda.cuMemGetAddressRange_v2(&base, &size, a[i] + 10);
        int ipc = cuda.cuIpcGetMemHandle(&h, a[i]);
        unsigned sum = 0;
        for (int k = 0; k < 64; k++)
            sum = sum * 31 + (unsigned char)h.reserved[k];
        printf("allocation %d at %#llx id %llu: range code %d base %#llx size "
               "%zu; IPC code %d, hash of handle %08x\n",
               i, (unsigned long long)a[i], (unsigned long long)fact_id(a[i]),
               code, (unsigned long long)base, size, ipc, ipc ? 0 : sum);
    }
    ipc_t h, g;
    int code = cuda.cuIpcGetMemHandle(&h, a[5] + 4096);
    cuda.cuIpcGetMemHandle(&g, a[5]);
    printf("IPC handle of an interior pointer: code %d, same as of the start: "
           "%d\n",
           code, memcmp(&h, &g, sizeof h) == 0);
    int again = cuda.cuIpcGetMemHandle(&h, a[5]);
    printf("IPC handle asked again: code %d, same: %d\n", again,
           memcmp(&h, &g, sizeof h) == 0);
    for (int i = 0; i < 16; i++)
        printf("%08x%s", ((uint32_t *)(void *)&g)[i], i < 15 ? " " : "\n");
    printf("range of an unknown address: code %d\n",
           cuda.cuMemGetAddressRange_v2(&base, &size, 0x123456789000));
}

void fact_reuse(void)
{
    gpu_start();
    for (int i = 0; i < 4; i++) {
        at_t at = fact_allocate(8 * MIB);
        ipc_t h;
        unsigned long long id = fact_id(at);
        int code = cuda.cuIpcGetMemHandle(&h, at);
        int freed = cuda.cuMemFree_v2(at);
        printf("round %d: at %#llx id %llu, IPC code %d, free code %d, id "
               "afterwards %llu\n",
               i, (unsigned long long)at, id, code, freed,
               (unsigned long long)fact_id(at));
        printf("free again: code %d\n", cuda.cuMemFree_v2(at));
    }
}

void fact_refused(void)
{
    gpu_start();
    ipc_t h;
    at_t at = 0;
    int code = cuda.cuMemAllocAsync(&at, MIB, gpu_stream);
    CU(cuStreamSynchronize(gpu_stream));
    printf("pool: allocation code %d, IPC code %d\n", code,
           cuda.cuIpcGetMemHandle(&h, at));
    fact_attributes("pool", at);
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
    fact_attributes("virtual", at);
}

void fact_register(void)
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
    fact_attributes("registered memfd", (uintptr_t)a + 8192);
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
