/*
 * nvrtc.c - see nvrtc.h.
 */
#include "nvrtc.h"

#include "node/base/settings.h"
#include "node/os/os.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define STACK ((size_t)16 << 20)
#define ARCHITECTURES_MAX 64

typedef void *program_t;

#define CALLS(F)                                                         \
    F(nvrtcCreateProgram, (program_t *, const char *, const char *, int, \
                           const char *const *, const char *const *))    \
    F(nvrtcCompileProgram, (program_t, int, const char *const *))        \
    F(nvrtcDestroyProgram, (program_t *))                                \
    F(nvrtcGetNumSupportedArchs, (int *))                                \
    F(nvrtcGetSupportedArchs, (int *))                                   \
    F(nvrtcGetCUBINSize, (program_t, size_t *))                          \
    F(nvrtcGetCUBIN, (program_t, char *))                                \
    F(nvrtcGetPTXSize, (program_t, size_t *))                            \
    F(nvrtcGetPTX, (program_t, char *))

static struct {
    bool looked, found;
#define FIELD(name, arguments) int(*name) arguments;
    CALLS(FIELD)
} nvrtc;

static bool bind(void *library)
{
    bool all = library;
#define FIND(name, arguments)                                 \
    if (library)                                              \
        *(void **)&nvrtc.name = sw_os_symbol(library, #name); \
    all = all && nvrtc.name;
    CALLS(FIND)
    return all;
}

static bool look(void)
{
    static const char *const name[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                       "libnvrtc.so"};
    const char *stem = "libnvrtc.so";
    char path[4096];
    void *library = NULL;
    if (nvrtc.looked)
        return nvrtc.found;
    sw_os_libraries(&stem, &library, 1);
    for (int i = 0; i < 3 && !library; i++)
        library = sw_os_load(name[i]);
    const char *home = getenv("CUDA_HOME");
    int n = snprintf(path, sizeof path, "%s/lib64/libnvrtc.so",
                     home && *home ? home : "/usr/local/cuda");
    if (!library && n > 0 && n < (int)sizeof path)
        library = sw_os_load(path);
    nvrtc.looked = true;
    return nvrtc.found = bind(library);
}

/* The newest architecture of the compiler's that the device runs. */
static int architecture(int sm)
{
    int n = 0, known[ARCHITECTURES_MAX], best = 0;
    if (nvrtc.nvrtcGetNumSupportedArchs(&n) || n < 1 || n > ARCHITECTURES_MAX ||
        nvrtc.nvrtcGetSupportedArchs(known))
        return 0;
    for (int i = 0; i < n; i++)
        if (known[i] <= sm && known[i] > best)
            best = known[i];
    return best;
}

/* Machine code runs on devices of its own architecture. */
static char *image(program_t program, bool machine)
{
    int (*size_of)(program_t, size_t *) = machine ? nvrtc.nvrtcGetCUBINSize
                                                  : nvrtc.nvrtcGetPTXSize;
    int (*get)(program_t, char *) = machine ? nvrtc.nvrtcGetCUBIN
                                            : nvrtc.nvrtcGetPTX;
    size_t bytes = 0;
    if (size_of(program, &bytes) || !bytes)
        return NULL;
    char *text = malloc(bytes + 1);
    if (text && get(program, text)) {
        free(text);
        return NULL;
    }
    if (text)
        text[bytes] = 0;
    return text;
}

typedef struct {
    const sw_nvrtc_source_t *source;
    const char *wanted;
    int sm;
    char *image;
} job_t;

static void *compile(void *context)
{
    job_t *job = context;
    const sw_nvrtc_source_t *s = job->source;
    const char *const header = s->header;
    char target[64], wanted[128];
    const char *option[] = {target, wanted, "--fmad=false"};
    program_t program = NULL;
    int best = look() ? architecture(job->sm) : 0;
    if (!best || nvrtc.nvrtcCreateProgram(&program, s->text, s->name, 1,
                                          &header, &s->header_name))
        return NULL;
    bool machine = best == job->sm;
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d",
             machine ? "sm" : "compute", best);
    snprintf(wanted, sizeof wanted, "-D%s", job->wanted);
    if (nvrtc.nvrtcCompileProgram(program, 3, option) == 0)
        job->image = image(program, machine);
    nvrtc.nvrtcDestroyProgram(&program);
    return NULL;
}

char *sw_nvrtc_compile(const sw_nvrtc_source_t *source, const char *wanted,
                       int sm)
{
    job_t job = {source, wanted, sm, NULL};
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    if (nvrtc.looked && !nvrtc.found)
        return NULL;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, compile, &job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error)
        return NULL;
    pthread_join(thread, NULL);
    return job.image;
}
