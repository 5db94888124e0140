/*
 * cuda.c - a libcuda.so.1 to rehearse the programs of this folder with: memory
 * of the device is a memfd, a call ends when its work has, and the processor
 * runs the kernels. It says nothing of a real driver's answers.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../cuda.h"
#include "../../processor.h"

#define EXPORTED __attribute__((visibility("default")))
#define OK(name, arguments)     \
    EXPORTED int name arguments \
    {                           \
        return 0;               \
    }

enum { INVALID = 1, UNKNOWN = 400 };

/* Blocks of memory ---------------------------------------------------- */

static struct block {
    at_t at;
    size_t bytes;
    int file;
    uint64_t id;
} block[4096];
static uint64_t last_id;

static struct block *holder(at_t at)
{
    for (int i = 0; i < 4096; i++)
        if (block[i].bytes && at - block[i].at < block[i].bytes)
            return &block[i];
    return NULL;
}

static int map(at_t *at, size_t bytes, int file)
{
    struct block *b = block;
    while (b->bytes)
        b++;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                        0);
    if (mapped == MAP_FAILED)
        return 2;
    *b = (struct block){(uintptr_t)mapped, bytes, file, ++last_id};
    *at = b->at;
    return 0;
}

EXPORTED int cuMemAlloc_v2(at_t *at, size_t bytes)
{
    int file = memfd_create("device", 0);
    bytes = (bytes + 4095) / 4096 * 4096;
    return ftruncate(file, (off_t)bytes) ? 2 : map(at, bytes, file);
}

EXPORTED int cuMemFree_v2(at_t at)
{
    struct block *b = holder(at);
    if (!b || b->at != at)
        return INVALID;
    munmap((void *)b->at, b->bytes);
    close(b->file);
    b->bytes = 0;
    return 0;
}

typedef struct {
    int process, file;
    size_t bytes;
} inside_t;

EXPORTED int cuIpcGetMemHandle(ipc_t *h, at_t at)
{
    struct block *b = holder(at);
    if (!b)
        return INVALID;
    inside_t in = {getpid(), b->file, b->bytes};
    memset(h, 0, sizeof *h);
    memcpy(h, &in, sizeof in);
    return 0;
}

EXPORTED int cuIpcOpenMemHandle_v2(at_t *at, ipc_t h, unsigned flags)
{
    inside_t in;
    char path[64];
    memcpy(&in, &h, sizeof in);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", in.process, in.file);
    int file = open(path, O_RDWR);
    return file < 0 || in.bytes > (size_t)1 << 40 ? UNKNOWN
                                                  : map(at, in.bytes, file);
}

EXPORTED int cuIpcCloseMemHandle(at_t at)
{
    return cuMemFree_v2(at);
}

EXPORTED int cuMemGetAddressRange_v2(at_t *base, size_t *bytes, at_t at)
{
    struct block *b = holder(at);
    if (!b)
        return UNKNOWN;
    *base = b->at;
    *bytes = b->bytes;
    return 0;
}

EXPORTED int cuPointerGetAttribute(void *value, int attribute, at_t at)
{
    struct block *b = holder(at);
    if (!b)
        return INVALID;
    if (attribute == 7)
        *(uint64_t *)value = b->id;
    else
        *(unsigned *)value = attribute == 2 ? 2 : 0;
    return 0;
}

EXPORTED int cuPointerGetAttributes(unsigned n, int *which, void **value,
                                    at_t at)
{
    for (unsigned i = 0; i < n; i++)
        cuPointerGetAttribute(value[i], which[i], at);
    return 0;
}

EXPORTED int cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return 0;
}

EXPORTED int cuMemHostGetDevicePointer_v2(at_t *at, void *host, unsigned flags)
{
    *at = (uintptr_t)host;
    return 0;
}

/* Copies -------------------------------------------------------------- */

static int copy(at_t to, at_t from, size_t bytes)
{
    memcpy((void *)to, (const void *)from, bytes);
    return 0;
}

EXPORTED int cuMemcpyHtoD_v2(at_t to, const void *from, size_t bytes)
{
    return copy(to, (uintptr_t)from, bytes);
}

EXPORTED int cuMemcpyDtoH_v2(void *to, at_t from, size_t bytes)
{
    return copy((uintptr_t)to, from, bytes);
}

EXPORTED int cuMemcpyDtoD_v2(at_t to, at_t from, size_t bytes)
{
    return copy(to, from, bytes);
}

EXPORTED int cuMemcpyHtoDAsync_v2(at_t to, const void *from, size_t bytes,
                                  handle_t stream)
{
    return copy(to, (uintptr_t)from, bytes);
}

EXPORTED int cuMemcpyDtoHAsync_v2(void *to, at_t from, size_t bytes,
                                  handle_t stream)
{
    return copy((uintptr_t)to, from, bytes);
}

EXPORTED int cuMemcpyDtoDAsync_v2(at_t to, at_t from, size_t bytes,
                                  handle_t stream)
{
    return copy(to, from, bytes);
}

EXPORTED int cuMemcpy2DAsync_v2(const plane_copy_t *c, handle_t stream)
{
    for (size_t y = 0; y < c->height; y++)
        copy(c->target.device + y * c->target.pitch,
             c->source.device + y * c->source.pitch, c->width);
    return 0;
}

EXPORTED int cuMemcpy3DAsync_v2(const cube_copy_t *c, handle_t stream)
{
    const cube_side_t *s = &c->source, *t = &c->target;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            copy(t->device + (z * t->height + y) * t->pitch,
                 s->device + (z * s->height + y) * s->pitch, c->width);
    return 0;
}

static int batch(at_t *to, at_t *from, size_t *bytes, size_t n,
                 batch_attributes_t *a, size_t *first, size_t attributes,
                 handle_t stream)
{
    for (size_t i = 0; i < n; i++)
        copy(to[i], from[i], bytes[i]);
    return 0;
}

EXPORTED int cuGetProcAddress_v2(const char *name, void **found, int version,
                                 uint64_t flags, int *status)
{
    *found = version == 13000 ? (void *)batch : NULL;
    return 0;
}

EXPORTED int cuMemsetD8_v2(at_t at, unsigned char byte, size_t n)
{
    memset((void *)at, byte, n);
    return 0;
}

EXPORTED int cuMemsetD8Async(at_t at, unsigned char byte, size_t n,
                             handle_t stream)
{
    return cuMemsetD8_v2(at, byte, n);
}

/* Kernels --------------------------------------------------------------- */

#define NAME(width, source, target, unit) \
    "sw_move_" #width "_" #source "_" #target "_" #unit,
static const char *const kernels[] = {
    SW_KERNELS(NAME) "probe_empty", "probe_busy", "probe_flag", "probe_turns"};
#define KERNELS (sizeof kernels / sizeof *kernels)

EXPORTED int cuModuleGetFunction(handle_t *f, handle_t module, const char *name)
{
    for (size_t i = 0; i < KERNELS; i++)
        if (strcmp(kernels[i], name) == 0) {
            *f = (handle_t)(i + 1);
            return 0;
        }
    return 500;
}

static struct {
    volatile unsigned *flag;
    unsigned side, turns;
    long long *done;
    pthread_t thread;
    int runs;
} party;

static void *take_turns(void *nothing)
{
    time_t end = time(NULL) + 3;
    unsigned i = 0;
    for (; i < party.turns && time(NULL) < end; i++) {
        while (*party.flag != 2 * i + party.side && time(NULL) < end)
            ;
        *party.flag = 2 * i + party.side + 1;
    }
    party.done[0] = i;
    party.done[1] = 0;
    return NULL;
}

EXPORTED int cuLaunchKernel(handle_t f, unsigned x, unsigned y, unsigned z,
                            unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, handle_t stream, void **parameter,
                            void **extra)
{
    size_t i = (size_t)f - 1;
    if (i < SW_KERNEL_COUNT)
        processor_launch((int)i, x, parameter[0]);
    else if (strcmp(kernels[i], "probe_flag") == 0)
        **(unsigned **)parameter[0] = *(unsigned *)parameter[1];
    else if (strcmp(kernels[i], "probe_turns") == 0) {
        party.flag = *(volatile unsigned **)parameter[0];
        party.side = *(unsigned *)parameter[1];
        party.turns = *(unsigned *)parameter[2];
        party.done = *(long long **)parameter[4];
        party.runs = pthread_create(&party.thread, NULL, take_turns, NULL) == 0;
    }
    return 0;
}

EXPORTED int cuStreamSynchronize(handle_t stream)
{
    if (party.runs)
        pthread_join(party.thread, NULL);
    party.runs = 0;
    return 0;
}

EXPORTED int cuEventRecord(handle_t event, handle_t stream)
{
    clock_gettime(CLOCK_MONOTONIC, event);
    return 0;
}

EXPORTED int cuEventCreate(handle_t *event, unsigned flags)
{
    *event = calloc(1, sizeof(struct timespec));
    return 0;
}

EXPORTED int cuEventElapsedTime(float *ms, handle_t from, handle_t to)
{
    const struct timespec *a = from, *b = to;
    *ms = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 +
                  (double)(b->tv_nsec - a->tv_nsec) * 1e-6);
    return 0;
}

/* What needs no work ------------------------------------------------------ */

EXPORTED int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = 4;
    return 0;
}

EXPORTED int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                         handle_t f, int size,
                                                         size_t shared)
{
    *blocks = 2;
    return 0;
}

OK(cuInit, (unsigned flags))
OK(cuDeviceGet, (int *device, int number))
OK(cuDeviceGetName, (char *name, int bytes, int device))
OK(cuDevicePrimaryCtxRetain, (handle_t * context, int device))
OK(cuDevicePrimaryCtxGetState, (int device, unsigned *flags, int *active))
OK(cuCtxSetCurrent, (handle_t context))
OK(cuCtxGetCurrent, (handle_t * context))
OK(cuCtxGetDevice, (int *device))
OK(cuCtxSynchronize, (void))
EXPORTED int cuModuleLoad(handle_t *module, const char *path)
{
    *module = &party;
    return 0;
}
OK(cuModuleLoadData, (handle_t * module, const void *image))
OK(cuModuleUnload, (handle_t module))
OK(cuMemAllocManaged, (at_t * at, size_t bytes, unsigned flags))
OK(cuMemAllocAsync, (at_t * at, size_t bytes, handle_t stream))
OK(cuMemFreeAsync, (at_t at, handle_t stream))
OK(cuMemFreeHost, (void *at))
OK(cuMemHostRegister_v2, (void *at, size_t bytes, unsigned flags))
OK(cuMemHostUnregister, (void *at))
OK(cuStreamCreate, (handle_t * stream, unsigned flags))
OK(cuStreamQuery, (handle_t stream))
OK(cuStreamWaitEvent, (handle_t stream, handle_t event, unsigned flags))
OK(cuEventQuery, (handle_t event))
OK(cuEventSynchronize, (handle_t event))
OK(cuEventDestroy_v2, (handle_t event))
OK(cuPointerSetAttribute, (const void *value, int attribute, at_t at))
OK(cuIpcGetEventHandle, (ipc_t * h, handle_t event))
EXPORTED int cuIpcOpenEventHandle(handle_t *event, ipc_t h)
{
    return cuEventCreate(event, 0);
}
OK(cuMemGetAllocationGranularity,
   (size_t *bytes, const allocation_t *a, int option))
OK(cuMemCreate,
   (uint64_t *piece, size_t bytes, const allocation_t *a, uint64_t flags))
OK(cuMemAddressReserve,
   (at_t * at, size_t bytes, size_t alignment, at_t wish, uint64_t flags))
OK(cuMemMap,
   (at_t at, size_t bytes, size_t offset, uint64_t piece, uint64_t flags))
OK(cuMemSetAccess, (at_t at, size_t bytes, const access_t *a, size_t n))
