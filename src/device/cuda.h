/*
 * cuda.h - the functions of CUDA's driver that the engine calls.
 *
 * No header of NVIDIA's is included. The table names each function as the
 * library's symbol table does, with its version. driver.c finds the library
 * that the program has loaded, and binds the table. Where the library lacks one
 * function the engine stays away, and the MPI serves.
 *
 * A child made by fork can call no driver that its parent has initialised. So
 * the process that first makes something there owns the driver, and the engine
 * stays away in all children (sw_cuda_own).
 */
#ifndef SW_DEVICE_CUDA_H
#define SW_DEVICE_CUDA_H

#include "node/base/base.h"

typedef unsigned long long sw_cuda_at_t; /* an address that the device uses */
typedef void *sw_cuda_handle_t; /* context, module, function or stream */
typedef struct {
    char bytes[64];
} sw_cuda_ipc_t;

#define SW_CUDA_CALLS(F)                                                      \
    F(cuDeviceGet, (int *, int))                                              \
    F(cuDeviceGetAttribute, (int *, int, int))                                \
    F(cuDevicePrimaryCtxGetState, (int, unsigned *, int *))                   \
    F(cuDevicePrimaryCtxRetain, (sw_cuda_handle_t *, int))                    \
    F(cuDevicePrimaryCtxRelease_v2, (int))                                    \
    F(cuCtxGetCurrent, (sw_cuda_handle_t *))                                  \
    F(cuCtxSetCurrent, (sw_cuda_handle_t))                                    \
    F(cuCtxPushCurrent_v2, (sw_cuda_handle_t))                                \
    F(cuCtxPopCurrent_v2, (sw_cuda_handle_t *))                               \
    F(cuCtxGetDevice, (int *))                                                \
    F(cuCtxGetId, (sw_cuda_handle_t, unsigned long long *))                   \
    F(cuCtxSynchronize, (void))                                               \
    F(cuThreadExchangeStreamCaptureMode, (int *))                             \
    F(cuModuleLoadData, (sw_cuda_handle_t *, const void *))                   \
    F(cuModuleGetFunction,                                                    \
      (sw_cuda_handle_t *, sw_cuda_handle_t, const char *))                   \
    F(cuModuleUnload, (sw_cuda_handle_t))                                     \
    F(cuLaunchKernel,                                                         \
      (sw_cuda_handle_t, unsigned, unsigned, unsigned, unsigned, unsigned,    \
       unsigned, unsigned, sw_cuda_handle_t, void **, void **))               \
    F(cuMemAlloc_v2, (sw_cuda_at_t *, size_t))                                \
    F(cuMemFree_v2, (sw_cuda_at_t))                                           \
    F(cuMemHostAlloc, (void **, size_t, unsigned))                            \
    F(cuMemFreeHost, (void *))                                                \
    F(cuMemHostGetDevicePointer_v2, (sw_cuda_at_t *, void *, unsigned))       \
    F(cuMemcpyHtoDAsync_v2,                                                   \
      (sw_cuda_at_t, const void *, size_t, sw_cuda_handle_t))                 \
    F(cuMemcpyDtoHAsync_v2, (void *, sw_cuda_at_t, size_t, sw_cuda_handle_t)) \
    F(cuMemcpyDtoDAsync_v2,                                                   \
      (sw_cuda_at_t, sw_cuda_at_t, size_t, sw_cuda_handle_t))                 \
    F(cuStreamCreate, (sw_cuda_handle_t *, unsigned))                         \
    F(cuStreamDestroy_v2, (sw_cuda_handle_t))                                 \
    F(cuStreamQuery, (sw_cuda_handle_t))                                      \
    F(cuStreamSynchronize, (sw_cuda_handle_t))                                \
    F(cuStreamIsCapturing, (sw_cuda_handle_t, int *))                         \
    F(cuPointerGetAttribute, (void *, int, sw_cuda_at_t))                     \
    F(cuPointerSetAttribute, (const void *, int, sw_cuda_at_t))               \
    F(cuPointerGetAttributes, (unsigned, int *, void **, sw_cuda_at_t))       \
    F(cuIpcGetMemHandle, (sw_cuda_ipc_t *, sw_cuda_at_t))                     \
    F(cuIpcOpenMemHandle_v2, (sw_cuda_at_t *, sw_cuda_ipc_t, unsigned))       \
    F(cuIpcCloseMemHandle, (sw_cuda_at_t))

typedef struct {
#define SW_CUDA_FIELD(name, arguments) int(*name) arguments;
    SW_CUDA_CALLS(SW_CUDA_FIELD)
#undef SW_CUDA_FIELD
} sw_cuda_t;

/* All are there once sw_cuda_usable has said so. */
extern sw_cuda_t sw_cuda;

/* The driver's numbers. */
enum {
    SW_CUDA_OK = 0,
    SW_CUDA_NOT_READY = 600,
    SW_CUDA_MEMORY_HOST = 1,
    SW_CUDA_MEMORY_DEVICE = 2,
    SW_CUDA_CONTEXT = 1, /* attributes of an address */
    SW_CUDA_MEMORY_TYPE = 2,
    SW_CUDA_DEVICE_POINTER = 3,
    SW_CUDA_SYNCHRONOUS = 6,
    SW_CUDA_BUFFER_ID = 7,
    SW_CUDA_IS_MANAGED = 8,
    SW_CUDA_ORDINAL = 9,
    SW_CUDA_IPC_CAPABLE = 10,
    SW_CUDA_RANGE_START = 11,
    SW_CUDA_RANGE_SIZE = 12,
    SW_CUDA_ACCESS = 16,
    SW_CUDA_READS = 1, /* bits of ACCESS */
    SW_CUDA_WRITES = 2,
    SW_CUDA_MAJOR = 75, /* attributes of a device */
    SW_CUDA_MINOR = 76,
    SW_CUDA_RELAXED = 2, /* a mode of stream capture */
    SW_CUDA_DEFAULT_STREAM = 1,
    SW_CUDA_NON_BLOCKING = 1, /* a stream's flag */
    SW_CUDA_PORTABLE = 1,     /* flags of pinned memory */
    SW_CUDA_MAPPED = 2,
    SW_CUDA_LAZY_PEERS = 1, /* the flag that opening memory needs */
};

/* The driver's library is loaded: look its functions up. */
void sw_cuda_bind(void *library);

/* May the engine call the driver: wanted, bound, in no child of its owner? */
SW_API bool sw_cuda_usable(void);

/* This process is about to make something in the driver. False: its parent
 * has, before the fork. */
bool sw_cuda_own(void);

/* What the driver says of an address. Unknown memory is of type 0. */
typedef struct {
    sw_cuda_handle_t context; /* NULL: of no context (pools, virtual memory) */
    unsigned type;            /* SW_CUDA_MEMORY_... */
    int ordinal;              /* of its device */
    sw_cuda_at_t start;       /* of its allocation, as the device sees that */
    uint64_t bytes;           /* of its allocation */
    uint64_t id;              /* of its allocation; never used again */
    sw_cuda_at_t at;          /* the address for the device */
    bool managed, exports;    /* `exports`: other processes may open it */
} sw_cuda_place_t;

/* False: the driver answers nothing. */
bool sw_cuda_place(const void *at, sw_cuda_place_t *to);

/* Is all of [at, at + bytes) in the place's allocation? */
static inline bool sw_cuda_holds(const sw_cuda_place_t *p, sw_cuda_at_t at,
                                 uint64_t bytes)
{
    return at >= p->start && bytes <= p->bytes &&
           at - p->start <= p->bytes - bytes;
}

#endif
