/*
 * cuda.h - the driver's interface, as far as these programs need it. The
 * programs open libcuda.so.1 at run time and include no header of the driver's.
 *
 * The names are those of the library's symbols, with their versions. A function
 * that the library lacks is NULL.
 */
#ifndef CUDA_H
#define CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t at_t;  /* an address on the device */
typedef void *handle_t; /* context, module, function, stream, event */

typedef struct {
    char reserved[64];
} ipc_t;

typedef struct {
    size_t x, y;
    int type;
    const void *host;
    at_t device;
    handle_t array;
    size_t pitch;
} plane_side_t;

typedef struct {
    plane_side_t source, target;
    size_t width, height;
} plane_copy_t;

typedef struct {
    size_t x, y, z, lod;
    int type;
    const void *host;
    at_t device;
    handle_t array;
    void *reserved;
    size_t pitch, height;
} cube_side_t;

typedef struct {
    cube_side_t source, target;
    size_t width, height, depth;
} cube_copy_t;

typedef struct {
    int order;
    int source_type, source_id, target_type, target_id;
    unsigned flags;
} batch_attributes_t;

typedef struct {
    int type, handle_types;
    int location_type, location_id;
    void *security;
    unsigned char compression, rdma;
    unsigned short usage;
    unsigned char reserved[4];
} allocation_t;

typedef struct {
    int location_type, location_id, flags;
} access_t;

enum { DEVICE_MEMORY = 2 };
enum { NO_TIMING = 2, INTERPROCESS = 4 };
enum { REGISTER_PORTABLE = 1, REGISTER_DEVICE_MAP = 2, REGISTER_READ_ONLY = 8 };

#define CUDA_CALLS(F)                                                        \
    F(cuInit, (unsigned))                                                    \
    F(cuDriverGetVersion, (int *))                                           \
    F(cuDeviceGet, (int *, int))                                             \
    F(cuDeviceGetCount, (int *))                                             \
    F(cuDeviceGetName, (char *, int, int))                                   \
    F(cuDeviceGetAttribute, (int *, int, int))                               \
    F(cuDeviceCanAccessPeer, (int *, int, int))                              \
    F(cuDevicePrimaryCtxRetain, (handle_t *, int))                           \
    F(cuDevicePrimaryCtxRelease_v2, (int))                                   \
    F(cuDevicePrimaryCtxReset_v2, (int))                                     \
    F(cuDevicePrimaryCtxGetState, (int, unsigned *, int *))                  \
    F(cuCtxSetCurrent, (handle_t))                                           \
    F(cuCtxGetCurrent, (handle_t *))                                         \
    F(cuCtxCreate_v2, (handle_t *, unsigned, int))                           \
    F(cuCtxDestroy_v2, (handle_t))                                           \
    F(cuCtxPushCurrent_v2, (handle_t))                                       \
    F(cuCtxPopCurrent_v2, (handle_t *))                                      \
    F(cuCtxGetDevice, (int *))                                               \
    F(cuCtxGetId, (handle_t, unsigned long long *))                          \
    F(cuCtxEnablePeerAccess, (handle_t, unsigned))                           \
    F(cuCtxDisablePeerAccess, (handle_t))                                    \
    F(cuCtxSynchronize, (void))                                              \
    F(cuModuleLoad, (handle_t *, const char *))                              \
    F(cuModuleLoadData, (handle_t *, const void *))                          \
    F(cuModuleGetFunction, (handle_t *, handle_t, const char *))             \
    F(cuModuleUnload, (handle_t))                                            \
    F(cuOccupancyMaxActiveBlocksPerMultiprocessor,                           \
      (int *, handle_t, int, size_t))                                        \
    F(cuLaunchKernel,                                                        \
      (handle_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
       unsigned, handle_t, void **, void **))                                \
    F(cuMemAlloc_v2, (at_t *, size_t))                                       \
    F(cuMemFree_v2, (at_t))                                                  \
    F(cuMemAllocManaged, (at_t *, size_t, unsigned))                         \
    F(cuMemAllocAsync, (at_t *, size_t, handle_t))                           \
    F(cuMemFreeAsync, (at_t, handle_t))                                      \
    F(cuMemHostAlloc, (void **, size_t, unsigned))                           \
    F(cuMemFreeHost, (void *))                                               \
    F(cuMemHostRegister_v2, (void *, size_t, unsigned))                      \
    F(cuMemHostUnregister, (void *))                                         \
    F(cuMemHostGetDevicePointer_v2, (at_t *, void *, unsigned))              \
    F(cuMemGetAddressRange_v2, (at_t *, size_t *, at_t))                     \
    F(cuMemcpyHtoD_v2, (at_t, const void *, size_t))                         \
    F(cuMemcpyDtoH_v2, (void *, at_t, size_t))                               \
    F(cuMemcpyDtoD_v2, (at_t, at_t, size_t))                                 \
    F(cuMemcpyHtoDAsync_v2, (at_t, const void *, size_t, handle_t))          \
    F(cuMemcpyDtoHAsync_v2, (void *, at_t, size_t, handle_t))                \
    F(cuMemcpyDtoDAsync_v2, (at_t, at_t, size_t, handle_t))                  \
    F(cuMemcpy, (at_t, at_t, size_t))                                        \
    F(cuMemcpyAsync, (at_t, at_t, size_t, handle_t))                         \
    F(cuMemcpyPeerAsync, (at_t, handle_t, at_t, handle_t, size_t, handle_t)) \
    F(cuMemcpy2DAsync_v2, (const plane_copy_t *, handle_t))                  \
    F(cuMemcpy3DAsync_v2, (const cube_copy_t *, handle_t))                   \
    F(cuMemsetD8_v2, (at_t, unsigned char, size_t))                          \
    F(cuMemsetD8Async, (at_t, unsigned char, size_t, handle_t))              \
    F(cuStreamCreate, (handle_t *, unsigned))                                \
    F(cuStreamCreateWithPriority, (handle_t *, unsigned, int))               \
    F(cuStreamDestroy_v2, (handle_t))                                        \
    F(cuStreamSynchronize, (handle_t))                                       \
    F(cuStreamQuery, (handle_t))                                             \
    F(cuStreamWaitEvent, (handle_t, handle_t, unsigned))                     \
    F(cuStreamBeginCapture_v2, (handle_t, int))                              \
    F(cuStreamEndCapture, (handle_t, handle_t *))                            \
    F(cuStreamIsCapturing, (handle_t, int *))                                \
    F(cuThreadExchangeStreamCaptureMode, (int *))                            \
    F(cuEventCreate, (handle_t *, unsigned))                                 \
    F(cuEventRecord, (handle_t, handle_t))                                   \
    F(cuEventQuery, (handle_t))                                              \
    F(cuEventSynchronize, (handle_t))                                        \
    F(cuEventElapsedTime, (float *, handle_t, handle_t))                     \
    F(cuEventDestroy_v2, (handle_t))                                         \
    F(cuPointerGetAttribute, (void *, int, at_t))                            \
    F(cuPointerGetAttributes, (unsigned, int *, void **, at_t))              \
    F(cuPointerSetAttribute, (const void *, int, at_t))                      \
    F(cuIpcGetMemHandle, (ipc_t *, at_t))                                    \
    F(cuIpcOpenMemHandle_v2, (at_t *, ipc_t, unsigned))                      \
    F(cuIpcCloseMemHandle, (at_t))                                           \
    F(cuIpcGetEventHandle, (ipc_t *, handle_t))                              \
    F(cuIpcOpenEventHandle, (handle_t *, ipc_t))                             \
    F(cuMemGetAllocationGranularity, (size_t *, const allocation_t *, int))  \
    F(cuMemCreate, (uint64_t *, size_t, const allocation_t *, uint64_t))     \
    F(cuMemAddressReserve, (at_t *, size_t, size_t, at_t, uint64_t))         \
    F(cuMemMap, (at_t, size_t, size_t, uint64_t, uint64_t))                  \
    F(cuMemSetAccess, (at_t, size_t, const access_t *, size_t))              \
    F(cuMemUnmap, (at_t, size_t))                                            \
    F(cuGetProcAddress_v2, (const char *, void **, int, uint64_t, int *))

#define CUDA_FIELD(name, arguments) int(*name) arguments;
typedef struct {
    CUDA_CALLS(CUDA_FIELD)
    /* The interface of 12.8, which has a place for the entry that failed, and
     * that of 13.0, which has none. At most one is set. */
    int (*batch_12)(at_t *, at_t *, size_t *, size_t, batch_attributes_t *,
                    size_t *, size_t, size_t *, handle_t);
    int (*batch_13)(at_t *, at_t *, size_t *, size_t, batch_attributes_t *,
                    size_t *, size_t, handle_t);
} cuda_t;
extern cuda_t cuda;

/* Open the library; exits if there is none. */
void cuda_open(void);
/* The batched copy, if the driver has it, once cuInit has succeeded. */
void cuda_find_batch(void);

#endif
