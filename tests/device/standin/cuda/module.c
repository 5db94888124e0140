/*
 * module.c - modules, functions and launches. A module of any image has every
 * kernel.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "inside.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

typedef struct module {
    struct module *next;
    context_t *context;
    bool live;
} module_t;

typedef struct function {
    struct function *next;
    module_t *module;
    const kernel_info_t *kernel;
} function_t;

static module_t *modules;
static function_t *functions;

static int module_find(handle_t handle, module_t **module)
{
    *module = NULL;
    for (module_t *m = modules; m; m = m->next)
        if (m == handle && m->live) {
            *module = m;
            return m->context->fault;
        }
    return fault(NULL, INVALID_HANDLE, "there is no module %p", handle);
}

static int function_find(handle_t handle, function_t **function)
{
    *function = NULL;
    for (function_t *f = functions; f; f = f->next)
        if (f == handle && f->module->live) {
            *function = f;
            return f->module->context->fault;
        }
    return fault(NULL, INVALID_HANDLE, "there is no function %p", handle);
}

void module_end_all(const context_t *c)
{
    for (module_t *m = modules; m; m = m->next)
        if (m->context == c)
            m->live = false;
}

static int make(handle_t *module)
{
    module_t *m = malloc(sizeof *m);
    if (!m)
        return OUT_OF_MEMORY;
    *m = (module_t){modules, context_current(), true};
    modules = m;
    *module = m;
    return 0;
}

EXPORTED int cuModuleLoad(handle_t *module, const char *path)
{
    CALL(CONTEXT | UNSAFE);
    return access(path, R_OK) == 0 ? make(module) : FILE_NOT_FOUND;
}

EXPORTED int cuModuleLoadData(handle_t *module, const void *image)
{
    CALL(CONTEXT | UNSAFE);
    return image ? make(module) : INVALID_VALUE;
}

EXPORTED int cuModuleUnload(handle_t module)
{
    CALL(CONTEXT | UNSAFE);
    module_t *m;
    int code = module_find(module, &m);
    if (code)
        return code;
    stream_await_all(m->context);
    m->live = false;
    return 0;
}

EXPORTED int cuModuleGetFunction(handle_t *function, handle_t module,
                                 const char *name)
{
    CALL(CONTEXT);
    module_t *m;
    int code = module_find(module, &m);
    const kernel_info_t *kernel = kernel_find(name);
    if (code || !kernel)
        return code ? code : NOT_FOUND;
    function_t *f = functions;
    while (f && (f->module != m || f->kernel != kernel))
        f = f->next;
    if (!f) {
        if (!(f = malloc(sizeof *f)))
            return OUT_OF_MEMORY;
        *f = (function_t){functions, m, kernel};
        functions = f;
    }
    *function = f;
    return 0;
}

EXPORTED int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                         handle_t function,
                                                         int threads,
                                                         size_t shared)
{
    CALL(CONTEXT);
    function_t *f;
    int code = function_find(function, &f);
    *blocks = 2;
    return code;
}

/* The parameters are the launch's own from now on. */
static launch_t *make_launch(const kernel_info_t *k, void **parameter)
{
    size_t bytes = 0;
    for (int i = 0; i < PARAMETERS; i++)
        bytes += (k->parameter[i] + 15) / 16 * 16;
    launch_t *l = op_make(sizeof *l + bytes, kernel_run);
    char *at = l ? l->room : NULL;
    for (int i = 0; l && i < PARAMETERS && k->parameter[i]; i++) {
        memcpy(at, parameter[i], k->parameter[i]);
        l->parameter[i] = at;
        at += (k->parameter[i] + 15) / 16 * 16;
    }
    return l;
}

EXPORTED int cuLaunchKernel(handle_t function, unsigned gx, unsigned gy,
                            unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned shared, handle_t stream, void **parameter,
                            void **extra)
{
    CALL(CONTEXT);
    function_t *f;
    stream_t *s;
    int code = function_find(function, &f);
    if (!code)
        code = stream_find(stream, &s);
    if (code)
        return code;
    const kernel_info_t *k = f->kernel;
    if (f->module->context != s->context)
        return fault(NULL, INVALID_HANDLE,
                     "%s runs in a stream of another context", k->name);
    uint64_t threads = (uint64_t)bx * by * bz;
    if (!gx || gx > INT32_MAX || gy != 1 || gz != 1 || !threads ||
        threads > 1024 || (k->parameter[0] && !parameter))
        return INVALID_VALUE;
    if (k->threads && (bx != k->threads || threads != bx))
        return fault(NULL, INVALID_VALUE, "%s needs %u threads a block",
                     k->name, k->threads);
    launch_t *l = make_launch(k, parameter);
    if (!l)
        return OUT_OF_MEMORY;
    l->kernel = k;
    l->blocks = gx;
    return stream_put(s, &l->op);
}

/* The symbol of a name, its second version first. Only the batched copy depends
 * on the version that the program asks for. */
EXPORTED int cuGetProcAddress_v2(const char *name, void **found, int version,
                                 uint64_t flags, int *status)
{
    CALL(ALWAYS);
    static void *self;
    Dl_info here;
    char second[100];
    if (!self && dladdr(&modules, &here))
        self = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    snprintf(second, sizeof second, "%s_v2", name);
    *found = self ? dlsym(self, second) : NULL;
    if (strcmp(name, "cuMemcpyBatchAsync") == 0 && version < 13000)
        *found = NULL;
    else if (self && !*found)
        *found = dlsym(self, name);
    if (status)
        *status = *found ? 0 : 1;
    return *found ? 0 : NOT_FOUND;
}
