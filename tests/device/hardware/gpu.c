/*
 * gpu.c - see gpu.h and cuda.h.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

cuda_t cuda;
handle_t gpu_context, gpu_stream;
int gpu_sms;
FILE *gpu_json;
const char *gpu_kernels = ".";

void cuda_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("no driver: %s\n", dlerror());
        exit(77);
    }
#define FIND(name, arguments) *(void **)&cuda.name = dlsym(library, #name);
    CUDA_CALLS(FIND)
}

void cuda_find_batch(void)
{
    void *found = NULL;
    int version = 0, status = 0;
    cuda.cuDriverGetVersion(&version);
    if (!cuda.cuGetProcAddress_v2)
        return;
    int as = version >= 13000 ? 13000 : 12080;
    if (version < as ||
        cuda.cuGetProcAddress_v2("cuMemcpyBatchAsync", &found, as, 0,
                                 &status) ||
        !found)
        return;
    if (as == 13000)
        *(void **)&cuda.batch_13 = found;
    else
        *(void **)&cuda.batch_12 = found;
}

void gpu_start(void)
{
    int device, version = 0;
    char name[100] = "";
    cuda_open();
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetName(name, sizeof name, device));
    CU(cuDeviceGetAttribute(&gpu_sms, 16, device));
    CU(cuDriverGetVersion(&version));
    CU(cuDevicePrimaryCtxRetain(&gpu_context, device));
    CU(cuCtxSetCurrent(gpu_context));
    CU(cuStreamCreate(&gpu_stream, 1));
    cuda_find_batch();
    if (gpu_json)
        fprintf(gpu_json, "{\"device\": \"%s\", \"sms\": %d, \"driver\": %d}\n",
                name, gpu_sms, version);
}

handle_t gpu_module(const char *name)
{
    static const char *const form[] = {"cubin", "ptx"};
    handle_t module = NULL;
    char path[600];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s.%s", gpu_kernels, name, form[i]);
        if (access(path, R_OK) == 0 && cuda.cuModuleLoad(&module, path) == 0)
            return module;
    }
    printf("no kernels %s in %s\n", name, gpu_kernels);
    return NULL;
}

handle_t gpu_function(handle_t module, const char *name)
{
    handle_t function;
    CU(cuModuleGetFunction(&function, module, name));
    return function;
}

void gpu_kernels_load(gpu_kernels_t *k, const char *name, int unroll)
{
    *k = (gpu_kernels_t){.module = gpu_module(name), .unroll = unroll};
}

void gpu_launch(gpu_kernels_t *k, const sw_plan_t *plan, bool resident,
                handle_t stream)
{
    int i = plan->kernel;
    if (plan->tiles == 0)
        return;
    if (!k->function[i]) {
        k->function[i] = gpu_function(k->module, sw_plan_kernel(plan));
        CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &k->resident[i], k->function[i], SW_THREADS, 0));
    }
    uint64_t blocks = plan->tiles,
             most = (uint64_t)k->resident[i] * (uint64_t)gpu_sms;
    if (resident && blocks > most)
        blocks = most;
    if (blocks > INT32_MAX)
        blocks = INT32_MAX;
    void *parameter[] = {(void *)(uintptr_t)&plan->move};
    CU(cuLaunchKernel(k->function[i], (unsigned)blocks, 1, 1, SW_THREADS, 1, 1,
                      0, stream, parameter, NULL));
}

double gpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double gpu_median(double *sample, int n)
{
    qsort(sample, (size_t)n, sizeof *sample, compare);
    return n ? (sample[n / 2] + sample[(n - 1) / 2]) / 2 : 0;
}

int gpu_peer(void (*f)(int socket))
{
    int end[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0);
    fflush(NULL);
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(end[0]);
        f(end[1]);
        exit(0);
    }
    close(end[1]);
    return end[0];
}

void gpu_tell(int socket, const void *what, size_t bytes)
{
    MUST(write(socket, what, bytes) == (ssize_t)bytes);
}

void gpu_hear(int socket, void *what, size_t bytes)
{
    for (ssize_t n; bytes; bytes -= (size_t)n, what = (char *)what + n)
        if ((n = read(socket, what, bytes)) <= 0)
            exit(1);
}

const unsigned char *gpu_noise(void)
{
    static uint64_t *noise, state = 0x9e3779b97f4a7c15;
    if (!noise) {
        MUST(noise = malloc(GPU_NOISE));
        for (size_t i = 0; i < GPU_NOISE / 8; i++)
            noise[i] = random_from(&state);
    }
    return (const unsigned char *)noise;
}

void gpu_fill(at_t at, size_t bytes)
{
    size_t first = bytes < GPU_NOISE ? bytes : GPU_NOISE;
    CU(cuMemcpyHtoD_v2(at, gpu_noise(), first));
    for (size_t i = GPU_NOISE; i < bytes; i += GPU_NOISE)
        CU(cuMemcpyDtoD_v2(at + i, at,
                           bytes - i < GPU_NOISE ? bytes - i : GPU_NOISE));
    CU(cuCtxSynchronize());
}
