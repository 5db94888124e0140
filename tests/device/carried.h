/*
 * carried.h - what the tests of the engine share: the driver, its memory, the
 * kernels' file, and a process for each test.
 *
 * DRIVER is the stand-in for CUDA's driver (standin/cuda/standin.h). It runs
 * the kernels of src/device/ for any image, so the files of PTX that the engine
 * finds here have the kernels' names alone.
 */
#ifndef CARRIED_H
#define CARRIED_H

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/carry.h"
#include "device/memory.h"
#include "device/move.h"
#include "device/reduce.h"
#include "hardware/cuda.h"
#include "layout/share.h"
#include "must.h"
#include "node/arena/arena.h"
#include "node/base/settings.h"

cuda_t cuda;

static struct {
    uint64_t (*count)(const char *call);
    uint64_t (*faults)(void);
    void *(*allocate)(size_t bytes, int managed);
    void *(*alias)(const void *device);
    void (*hold)(void), (*release)(void);
    int (*create)(handle_t *context, unsigned flags, int device);
    int (*destroy)(handle_t context);
    int (*reset)(int device);
    int (*let_go)(int device); /* of a primary context */
    int (*exchange)(int *mode);
    int (*begin_capture)(handle_t stream, int mode);
    int (*end_capture)(handle_t stream, handle_t *graph);
} standin;

/* A call that must succeed. */
#define CU(call) MUST(cuda.call == 0)

static char kernels[64]; /* the folder */

static void *carried_symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found)
        fprintf(stderr, "%s\n", name);
    MUST(found);
    return found;
}

/* The driver is in the process from here on. */
static void carried_open(void)
{
    void *library = dlopen(DRIVER, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    MUST(library);
#define FIND(name, arguments) *(void **)&cuda.name = dlsym(library, #name);
    CUDA_CALLS(FIND)
    *(void **)&standin.count = carried_symbol(library, "standin_count");
    *(void **)&standin.faults = carried_symbol(library, "standin_faults");
    *(void **)&standin.allocate = carried_symbol(library, "standin_allocate");
    *(void **)&standin.alias = carried_symbol(library, "standin_alias");
    *(void **)&standin.hold = carried_symbol(library, "standin_hold");
    *(void **)&standin.release = carried_symbol(library, "standin_release");
    *(void **)&standin.create = carried_symbol(library, "cuCtxCreate_v2");
    *(void **)&standin.destroy = carried_symbol(library, "cuCtxDestroy_v2");
    *(void **)&standin.reset = carried_symbol(library,
                                              "cuDevicePrimaryCtxReset_v2");
    *(void **)&standin.let_go = carried_symbol(library,
                                               "cuDevicePrimaryCtxRelease_v2");
    *(void **)&standin.exchange = carried_symbol(
        library, "cuThreadExchangeStreamCaptureMode");
    *(void **)&standin.begin_capture = carried_symbol(
        library, "cuStreamBeginCapture_v2");
    *(void **)&standin.end_capture = carried_symbol(library,
                                                    "cuStreamEndCapture");
    MUST(sw_device_present());
}

/* The processor's address of device memory: what a kernel would see there. */
static char *seen(const void *device)
{
    char *at = standin.alias(device);
    MUST(at);
    return at;
}

/* Device memory in the primary context. */
static char *device_memory(size_t bytes)
{
    char *at = standin.allocate(bytes, 0);
    MUST(at);
    return at;
}

static void write_entries(const char *folder, const char *name,
                          const char *const *entry, size_t n)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    MUST(file);
    fputs(".version 7.0\n.target sm_70\n.address_size 64\n\n", file);
    for (size_t i = 0; i < n; i++)
        fputs(entry[i], file);
    MUST(fclose(file) == 0);
}

static void write_kernels(const char *folder)
{
#define ENTRY(width, source, target, unit)                              \
    ".visible .entry sw_move_" #width "_" #source "_" #target "_" #unit \
    "(\n)\n{\n}\n\n",
    static const char *const moves[] = {SW_KERNELS(ENTRY)};
#define REDUCTION_ENTRY(op, type) \
    ".visible .entry sw_reduce_" #op "_" #type "(\n)\n{\n}\n\n",
    static const char *const reductions[] = {SW_REDUCTIONS(REDUCTION_ENTRY)};
    write_entries(folder, "move.ptx", moves, sizeof moves / sizeof *moves);
    write_entries(folder, "reduce.ptx", reductions,
                  sizeof reductions / sizeof *reductions);
}

static void make_kernels(void)
{
    snprintf(kernels, sizeof kernels, "/tmp/carried-%d", (int)getpid());
    MUST(mkdir(kernels, 0700) == 0);
    write_kernels(kernels);
}

static void remove_kernels(void)
{
    char path[128];
    snprintf(path, sizeof path, "%s/move.ptx", kernels);
    unlink(path);
    snprintf(path, sizeof path, "%s/reduce.ptx", kernels);
    unlink(path);
    rmdir(kernels);
}

/* Run a test in a process of its own, with the driver's environment. */
static void __attribute__((unused)) alone(void (*run)(void), const char *name,
                                          const char *refuse, const char *delay)
{
    fflush(NULL);
    pid_t child = fork();
    int status;
    if (child == 0) {
        alarm(300);
        MUST(setenv("STANDIN_REFUSE", refuse, 1) == 0);
        MUST(setenv("STANDIN_DELAY", delay, 1) == 0);
        sw_settings_load();
        sw_settings.gpu = true;
        sw_settings.gpu_kernels = kernels;
        sw_arena_start();
        sw_device_start();
        carried_open();
        run();
        MUST(standin.faults() == 0);
        fflush(NULL);
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    if (status)
        fprintf(stderr, "%s, refused: %s\n", name, refuse);
    MUST(status == 0);
}

#endif
