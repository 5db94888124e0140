/*
 * gpu.c - see gpu.h.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "sampling.h"

typedef unsigned long long at_t;
typedef void *handle_t;
enum { IN_HOST = 1, IN_DEVICE = 2 }; /* the driver's kinds of memory */

/* One side of the driver's copy of two dimensions. */
typedef struct {
    size_t x, y;
    int kind;
    const void *host;
    at_t device;
    handle_t array;
    size_t pitch;
} plane_side_t;

typedef struct {
    plane_side_t from, to;
    size_t width, height;
} plane_copy_t;

#define CALLS(F)                                                    \
    F(cuInit, (unsigned))                                           \
    F(cuDeviceGet, (int *, int))                                    \
    F(cuDevicePrimaryCtxRetain, (handle_t *, int))                  \
    F(cuCtxSetCurrent, (handle_t))                                  \
    F(cuCtxSynchronize, (void))                                     \
    F(cuMemAlloc_v2, (at_t *, size_t))                              \
    F(cuMemFree_v2, (at_t))                                         \
    F(cuMemHostAlloc, (void **, size_t, unsigned))                  \
    F(cuMemFreeHost, (void *))                                      \
    F(cuStreamCreate, (handle_t *, unsigned))                       \
    F(cuStreamSynchronize, (handle_t))                              \
    F(cuMemcpyHtoDAsync_v2, (at_t, const void *, size_t, handle_t)) \
    F(cuMemcpyDtoHAsync_v2, (void *, at_t, size_t, handle_t))       \
    F(cuMemcpyDtoDAsync_v2, (at_t, at_t, size_t, handle_t))         \
    F(cuMemcpy2DAsync_v2, (const plane_copy_t *, handle_t))

static struct {
#define FIELD(name, arguments) int(*name) arguments;
    CALLS(FIELD)
#undef FIELD
} cuda;

static handle_t stream;

#define CALL(name, ...) succeed(cuda.name(__VA_ARGS__), #name)

static void succeed(int code, const char *call)
{
    if (!code)
        return;
    fprintf(stderr, "straightway-bench: the driver refuses %s (%d)\n", call,
            code);
    MPI_Abort(sw_run.comm, 1);
}

static at_t at_of(const void *memory)
{
    return (at_t)(uintptr_t)memory;
}

static void finish(void)
{
    CALL(cuStreamSynchronize, stream);
}

/* The driver ------------------------------------------------------------- */

static bool bind_calls(void *library)
{
    const char *missing = NULL;
#define BIND(name, arguments)                            \
    if (!(*(void **)&cuda.name = dlsym(library, #name))) \
        missing = #name;
    CALLS(BIND)
#undef BIND
    if (missing)
        fprintf(stderr, "straightway-bench: the driver has no %s\n", missing);
    return !missing;
}

bool sw_gpu_open(void)
{
    int device;
    handle_t context;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "straightway-bench: no driver of a GPU: %s\n",
                dlerror());
        return false;
    }
    if (!bind_calls(library))
        return false;
    int code = cuda.cuInit(0);
    if (code || (code = cuda.cuDeviceGet(&device, 0))) {
        fprintf(stderr, "straightway-bench: the driver finds no GPU (%d)\n",
                code);
        return false;
    }
    CALL(cuDevicePrimaryCtxRetain, &context, device);
    CALL(cuCtxSetCurrent, context);
    CALL(cuStreamCreate, &stream, 0);
    return true;
}

bool sw_gpu_host_takes(void)
{
    int (*query)(void);
    *(void **)&query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    return query && query() == 1;
}

/* Memory ----------------------------------------------------------------- */

void *sw_gpu_memory(size_t bytes)
{
    at_t at = 0;
    CALL(cuMemAlloc_v2, &at, bytes);
    return (void *)(uintptr_t)at;
}

void sw_gpu_memory_free(void *at)
{
    CALL(cuMemFree_v2, at_of(at));
}

void *sw_gpu_pinned(size_t bytes)
{
    void *at = NULL;
    CALL(cuMemHostAlloc, &at, bytes, 0);
    return at;
}

void sw_gpu_pinned_free(void *at)
{
    CALL(cuMemFreeHost, at);
}

void sw_gpu_write(void *to, const void *from, size_t bytes)
{
    CALL(cuMemcpyHtoDAsync_v2, at_of(to), from, bytes, stream);
    finish();
}

void sw_gpu_read(void *to, const void *from, size_t bytes)
{
    CALL(cuMemcpyDtoHAsync_v2, to, at_of(from), bytes, stream);
    finish();
}

void sw_gpu_copies(void *to, const void *from, size_t bytes, int times)
{
    for (int i = 0; i < times; i++) {
        CALL(cuMemcpyDtoDAsync_v2, at_of(to), at_of(from), bytes, stream);
        finish();
    }
}

/* By hand ---------------------------------------------------------------- */

static size_t bytes_of(const sw_stretch_t *s)
{
    return s->words * sizeof(uint32_t);
}

/* Does the run `s` continue the plane? The second one gives the pitch. */
static bool continues(sw_gpu_plane_t *plane, const sw_stretch_t *s)
{
    size_t at = s->at * sizeof(uint32_t);
    if (bytes_of(s) != plane->bytes || at < plane->at + plane->bytes)
        return false;
    if (plane->rows == 1)
        plane->pitch = at - plane->at;
    return at == plane->at + plane->rows * plane->pitch;
}

sw_gpu_plane_t *sw_gpu_planes(const sw_places_t *p, size_t *count)
{
    sw_gpu_plane_t *planes = malloc(p->count * sizeof *planes);
    size_t n = 0, packed = 0;
    if (!planes)
        return NULL;
    for (size_t i = 0; i < p->count; i++) {
        const sw_stretch_t *s = &p->stretches[i];
        if (n && continues(&planes[n - 1], s))
            planes[n - 1].rows++;
        else
            planes[n++] = (sw_gpu_plane_t){s->at * sizeof(uint32_t), packed,
                                           bytes_of(s), bytes_of(s), 1};
        packed += bytes_of(s);
    }
    *count = n;
    return planes;
}

static void copy_plane(sw_gpu_way_t way, const sw_gpu_plane_t *p, char *array,
                       char *packed)
{
    plane_side_t device = {
        .kind = IN_DEVICE, .device = at_of(array + p->at), .pitch = p->pitch};
    plane_side_t host = {
        .kind = IN_HOST, .host = packed + p->packed, .pitch = p->bytes};
    plane_copy_t copy = {way == SW_GPU_PACK ? device : host,
                         way == SW_GPU_PACK ? host : device, p->bytes, p->rows};
    CALL(cuMemcpy2DAsync_v2, &copy, stream);
}

void sw_gpu_by_planes(sw_gpu_way_t way, const sw_gpu_plane_t *planes,
                      size_t count, void *array, void *packed)
{
    for (size_t i = 0; i < count; i++)
        copy_plane(way, &planes[i], array, packed);
    finish();
}

void sw_gpu_by_runs(sw_gpu_way_t way, const sw_gpu_plane_t *planes,
                    size_t count, void *array, void *packed)
{
    for (const sw_gpu_plane_t *p = planes; p < planes + count; p++)
        for (size_t i = 0; i < p->rows; i++) {
            char *at = (char *)array + p->at + i * p->pitch;
            char *message = (char *)packed + p->packed + i * p->bytes;
            if (way == SW_GPU_PACK)
                CALL(cuMemcpyDtoHAsync_v2, message, at_of(at), p->bytes,
                     stream);
            else
                CALL(cuMemcpyHtoDAsync_v2, at_of(at), message, p->bytes,
                     stream);
        }
    finish();
}
