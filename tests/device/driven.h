/*
 * driven.h - a test that drives the stand-in for CUDA's driver: it opens the
 * library, and gives each case a process of its own, since cuInit lasts.
 */
#ifndef DRIVEN_H
#define DRIVEN_H

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hardware/cuda.h"
#include "must.h"

#define MIB ((size_t)1 << 20)

/* The threads of streams live on when a process ends. The thread sanitizer need
 * not give them a second for that. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "atexit_sleep_ms=0";
}

cuda_t cuda;
static struct {
    uint64_t (*count)(const char *call);
    uint64_t (*faults)(void);
    void (*hold)(void);
    void (*release)(void);
    void *(*allocate)(size_t bytes, int managed);
    void *(*alias)(const void *device);
} standin;
static handle_t context, stream; /* the primary one; one that is not blocking */

static inline void code_is(int wanted, int code, const char *call, int line)
{
    if (code != wanted) {
        fprintf(stderr, "line %d: %s: code %d, not %d\n", line, call, code,
                wanted);
        exit(1);
    }
}

/* A call answers with this code; one that succeeds. */
#define CODE(wanted, call) code_is(wanted, cuda.call, #call, __LINE__)
#define CU(call) CODE(0, call)

static inline void driven_open(void)
{
    void *library = dlopen(CUDA, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    MUST(library);
#define FIND(name, arguments) \
    MUST(*(void **)&cuda.name = dlsym(library, #name));
    CUDA_CALLS(FIND)
#define FIND_CONTROL(name) \
    MUST(*(void **)&standin.name = dlsym(library, "standin_" #name))
    FIND_CONTROL(count);
    FIND_CONTROL(faults);
    FIND_CONTROL(hold);
    FIND_CONTROL(release);
    FIND_CONTROL(allocate);
    FIND_CONTROL(alias);
}

static inline void driven_start(void)
{
    driven_open();
    CU(cuInit(0));
    CU(cuDevicePrimaryCtxRetain(&context, 0));
    CU(cuCtxSetCurrent(context));
    CU(cuStreamCreate(&stream, 1));
}

static inline at_t allocate(size_t bytes)
{
    at_t at;
    CU(cuMemAlloc_v2(&at, bytes));
    return at;
}

/* Where the processor finds a byte of the device's memory. */
static inline unsigned char *seen(at_t at)
{
    return standin.alias((const void *)at);
}

static inline uint64_t attribute(int number, at_t at)
{
    uint64_t value = 0;
    CU(cuPointerGetAttribute(&value, number, at));
    return value;
}

static inline handle_t kernel(const char *name)
{
    handle_t module, function;
    CU(cuModuleLoadData(&module, "anything"));
    CU(cuModuleGetFunction(&function, module, name));
    return function;
}

/* Run a case in a process of its own, with a setting or "". */
static inline int driven_status(void (*run)(void), const char *name,
                                const char *value)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    MUST(child >= 0);
    if (child == 0) {
        if (*name)
            MUST(setenv(name, value, 1) == 0);
        run();
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    return status;
}

#define ALONE_WITH(run, name, value)                            \
    do {                                                        \
        int status_ = driven_status(run, name, value);          \
        if (status_)                                            \
            fprintf(stderr, "%s: status %#x\n", #run, status_); \
        MUST(!status_);                                         \
    } while (0)
#define ALONE(run) ALONE_WITH(run, "", "")

#endif
