/*
 * kernels.c - see kernels.h.
 */
#include "kernels.h"

#include "node/base/settings.h"
#include "node/os/os.h"
#include "nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY ".visible .entry "

/* Looked for in vain, so often: the driver may have lacked memory. */
#define TRIES 3
static char none;
#define NONE ((sw_cuda_handle_t) & none)

/* Files ------------------------------------------------------------------ */

static bool folder(char *to, size_t room)
{
    Dl_info info;
    int n = -1;
    if (*sw_settings.gpu_kernels) {
        n = snprintf(to, room, "%s", sw_settings.gpu_kernels);
    } else if (dladdr(&none, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        int length = slash ? (int)(slash - info.dli_fname) + 1 : 0;
        n = snprintf(to, room, "%.*sdevice", length, info.dli_fname);
    }
    return n > 0 && n < (int)room;
}

/* A whole file of the folder, with a 0 behind it; NULL: there is none. One
 * thread at a time; its stack may be small. */
static char *text_of(const char *name)
{
    static char path[PATH_MAX];
    char *text = NULL;
    if (!folder(path, sizeof path) ||
        strlen(path) + strlen(name) + 2 > sizeof path)
        return NULL;
    strcat(strcat(path, "/"), name);
    FILE *file = fopen(path, "re");
    long size = 0;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) > 0 &&
        fseek(file, 0, SEEK_SET) == 0 && (text = malloc((size_t)size + 1))) {
        size_t n = fread(text, 1, (size_t)size, file);
        text[n] = 0;
    }
    if (file)
        fclose(file);
    return text;
}

/* Images ------------------------------------------------------------------ */

char *sw_kernel_slice(const char *ptx, const char *name)
{
    const char *first = strstr(ptx, ENTRY), *at = first;
    size_t length = strlen(name), entry = strlen(ENTRY);
    while (at && (strncmp(at + entry, name, length) != 0 ||
                  !strchr("( \t\n", at[entry + length])))
        at = strstr(at + entry, ENTRY);
    if (!at)
        return NULL;
    const char *end = strstr(at + entry, ENTRY);
    size_t head = (size_t)(first - ptx);
    size_t body = end ? (size_t)(end - at) : strlen(at);
    char *slice = malloc(head + body + 1);
    if (!slice)
        return NULL;
    memcpy(slice, ptx, head);
    memcpy(slice + head, at, body);
    slice[head + body] = 0;
    return slice;
}

/* What has been read and compiled so far. Images are for a second context of
 * the same kind of device. */
typedef struct image {
    struct image *next;
    int kernel, sm;
    bool ptx;
    char *text;
} image_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static image_t *images;

enum { MOVES, REDUCTIONS, FILES };
static struct {
    sw_nvrtc_source_t source;
    const char *ptx_name;
    char *ptx;
    bool read;
} files[FILES] = {
    [MOVES] = {.source = {.name = "move.cu", .header_name = "move.h"},
               .ptx_name = "move.ptx"},
    [REDUCTIONS] = {.source = {.name = "reduce.cu", .header_name = "reduce.h"},
                    .ptx_name = "reduce.ptx"},
};

static char *make(int kernel, const char *name, int sm, bool from_ptx)
{
#define MOVE(width, from, to, unit) \
    "SW_MOVES=SW_MOVE(" #width "," #from "," #to "," #unit ")",
#define REDUCE(op, type) "SW_REDUCES=SW_REDUCE(" #op "," #type ")",
    static const char *const wanted[] = {SW_KERNELS(MOVE)
                                             SW_REDUCTIONS(REDUCE)};
    int k = kernel < SW_KERNEL_COUNT ? MOVES : REDUCTIONS;
    sw_nvrtc_source_t *s = &files[k].source;
    if (!files[k].read) {
        s->text = text_of(s->name);
        s->header = text_of(s->header_name);
        files[k].ptx = text_of(files[k].ptx_name);
        files[k].read = true;
    }
    if (from_ptx)
        return files[k].ptx ? sw_kernel_slice(files[k].ptx, name) : NULL;
    return s->text && s->header ? sw_nvrtc_compile(s, wanted[kernel], sm)
                                : NULL;
}

/* NULL: there is none. */
static const char *image_of(int kernel, const char *name, int sm, bool from_ptx)
{
    pthread_mutex_lock(&lock);
    image_t *i = images;
    while (i && (i->kernel != kernel || i->sm != sm || i->ptx != from_ptx))
        i = i->next;
    if (!i && (i = malloc(sizeof *i))) {
        *i = (image_t){images, kernel, sm, from_ptx,
                       make(kernel, name, sm, from_ptx)};
        images = i;
    }
    pthread_mutex_unlock(&lock);
    return i ? i->text : NULL;
}

/* Functions ---------------------------------------------------------------- */

static sw_cuda_handle_t load(sw_context_t *c, int kernel, const char *name)
{
    for (int from_ptx = 0; from_ptx < 2; from_ptx++) {
        sw_cuda_handle_t module, function;
        const char *image = image_of(kernel, name, c->sm, from_ptx);
        if (!image || sw_cuda.cuModuleLoadData(&module, image))
            continue;
        if (sw_cuda.cuModuleGetFunction(&function, module, name) == SW_CUDA_OK)
            return function;
        sw_cuda.cuModuleUnload(module);
    }
    if (++c->tries[kernel] < TRIES)
        return NULL;
    static _Atomic bool said[FILES];
    bool moves = kernel < SW_KERNEL_COUNT;
    sw_say_once(&said[moves ? MOVES : REDUCTIONS],
                "--gpu: this device has no kernel %s: %s", name,
                moves ? "the MPI serves datatypes with gaps in its memory"
                      : "the processor reduces what lies in its memory");
    return NONE;
}

static sw_cuda_handle_t function(sw_context_t *c, int kernel, const char *name)
{
    _Atomic(sw_cuda_handle_t) *to = &c->function[kernel];
    sw_cuda_handle_t found = atomic_load_explicit(to, memory_order_acquire);
    if (sw_unlikely(!found)) {
        pthread_mutex_lock(&c->loading);
        found = atomic_load_explicit(to, memory_order_relaxed);
        if (!found) {
            found = load(c, kernel, name);
            atomic_store_explicit(to, found, memory_order_release);
        }
        pthread_mutex_unlock(&c->loading);
    }
    return found == NONE ? NULL : found;
}

sw_cuda_handle_t sw_kernel(sw_context_t *c, const sw_plan_t *plan)
{
    return function(c, plan->kernel, sw_plan_kernel(plan));
}

sw_cuda_handle_t sw_kernel_reduce(sw_context_t *c, int place)
{
#define NAME(op, type) "sw_reduce_" #op "_" #type,
    static const char *const name[] = {SW_REDUCTIONS(NAME)};
    return function(c, SW_KERNEL_COUNT + place, name[place]);
}
