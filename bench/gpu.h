/*
 * gpu.h - arrays in the memory of a GPU, for a benchmark.
 *
 * The benchmark opens CUDA's driver at run time, and takes its first device. A
 * program that packs by hand copies with the driver, in one of two ways: a copy
 * for each run of bytes, or a copy of two dimensions for each plane of runs
 * that lie evenly. A call that the driver refuses ends the benchmark, with the
 * name of the call on stderr.
 */
#ifndef SW_BENCH_GPU_H
#define SW_BENCH_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "places.h"

/* Open the driver and its first device. False: there is none, as stderr
 * says. */
bool sw_gpu_open(void);

/* The MPI says that it takes the addresses of a GPU. */
bool sw_gpu_host_takes(void);

/* Memory of the device, and memory of the host that the device reads. */
void *sw_gpu_memory(size_t bytes);
void sw_gpu_memory_free(void *at);
void *sw_gpu_pinned(size_t bytes);
void sw_gpu_pinned_free(void *at);

/* Copy, and wait for the copy's end. */
void sw_gpu_write(void *to, const void *from, size_t bytes);
void sw_gpu_read(void *to, const void *from, size_t bytes);
/* `times` copies within the device, one after the other. */
void sw_gpu_copies(void *to, const void *from, size_t bytes, int times);

/* Runs of as many bytes, each `pitch` bytes behind the last. */
typedef struct {
    size_t at, packed; /* bytes from the array's and the message's beginning */
    size_t bytes, pitch, rows;
} sw_gpu_plane_t;

/* The planes of a message, longest first found; NULL: no memory. */
sw_gpu_plane_t *sw_gpu_planes(const sw_places_t *p, size_t *count);

/* Between an array in the device and a packed message in pinned memory: a copy
 * for each plane, or for each of its runs. */
typedef enum { SW_GPU_PACK, SW_GPU_UNPACK } sw_gpu_way_t;
void sw_gpu_by_planes(sw_gpu_way_t way, const sw_gpu_plane_t *planes,
                      size_t count, void *array, void *packed);
void sw_gpu_by_runs(sw_gpu_way_t way, const sw_gpu_plane_t *planes,
                    size_t count, void *array, void *packed);

#endif
