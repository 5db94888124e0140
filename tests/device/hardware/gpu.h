/*
 * gpu.h - what all modes share: a context with a stream, kernels, clocks, a
 * second process, and the file of results.
 */
#ifndef GPU_H
#define GPU_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.h"
#include "device/plan.h"

/* A call that must succeed. */
#define CU(call)                                                               \
    do {                                                                       \
        int code_ = cuda.call;                                                 \
        if (code_) {                                                           \
            printf("%s:%d: %s: error %d\n", __FILE__, __LINE__, #call, code_); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

extern handle_t gpu_context, gpu_stream;
extern int gpu_sms;
extern FILE *gpu_json;          /* a JSON record a line, or NULL */
extern const char *gpu_kernels; /* the folder of the compiled kernels */

void gpu_start(void);

/* A compiled source: cubin, or else PTX, NAME of the folder. */
handle_t gpu_module(const char *name);
handle_t gpu_function(handle_t module, const char *name);

/* Kernels of one module, found when first used. */
typedef struct {
    handle_t module;
    int unroll;
    handle_t function[SW_KERNEL_COUNT];
    int resident[SW_KERNEL_COUNT]; /* blocks on an SM */
} gpu_kernels_t;
void gpu_kernels_load(gpu_kernels_t *k, const char *name, int unroll);
/* Launch a plan: one pass, or as many blocks as are resident at once. */
void gpu_launch(gpu_kernels_t *k, const sw_plan_t *plan, bool resident,
                handle_t stream);

double gpu_now(void); /* microseconds */
double gpu_median(double *sample, int n);

/* A second process that runs `f` with one end of a socket; the caller has the
 * other end. The caller has not opened the driver yet. */
int gpu_peer(void (*f)(int socket));
void gpu_tell(int socket, const void *what, size_t bytes);
void gpu_hear(int socket, void *what, size_t bytes);

/* Bytes of noise, the same in each process. */
#define GPU_NOISE (64u << 20)
const unsigned char *gpu_noise(void);
/* Fill device memory with the noise, again and again. */
void gpu_fill(at_t at, size_t bytes);

/* Alone: without a second process. The kernels are move-UNROLL. */
void mode_check(double seconds, bool alone, int unroll);
void mode_reductions(double seconds);
void mode_times(double seconds);
void mode_facts(void);
void mode_fact(const char *name);

#endif
