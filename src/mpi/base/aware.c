/*
 * aware.c - see aware.h.
 */
#include "aware.h"

#include "node/base/settings.h"

enum { CUDA = 0 }; /* a kind of GPU, for MPIX_GPU_query_support */
enum { UNKNOWN, NO, YES };

static int (*query_cuda)(void);
static int (*query_gpu)(int kind, int *is);
static _Atomic int answer;

void sw_aware_bind(void *(*find)(const char *symbol))
{
    *(void **)&query_cuda = find("MPIX_Query_cuda_support");
    *(void **)&query_gpu = find("MPIX_GPU_query_support");
}

static bool ask(void)
{
    int is = 0;
    if (sw_settings.gpu_aware != SW_AUTO)
        return sw_settings.gpu_aware;
    if (query_cuda)
        return query_cuda() == 1;
    return query_gpu && query_gpu(CUDA, &is) == MPI_SUCCESS && is;
}

bool sw_aware(void)
{
    int known = atomic_load_explicit(&answer, memory_order_relaxed);
    if (known == UNKNOWN) {
        known = ask() ? YES : NO;
        atomic_store_explicit(&answer, known, memory_order_relaxed);
    }
    return known == YES;
}

bool sw_aware_lacks(void)
{
    return sw_settings.gpu && !sw_aware();
}
