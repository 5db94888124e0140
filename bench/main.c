/*
 * main.c - straightway-bench: loads the host, loads the module built for it,
 * and runs the plan. `straightway bench` writes this command line; users do
 * not.
 */
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "straightway.h"

static void usage(void)
{
    fputs("usage: straightway-bench --host LIBMPI --module MODULE --out FILE\n"
          "         --ops NAME,... | --overlap NAME,... |\n"
          "         --onesided NAME,... [--windows KIND] |\n"
          "         --patterns NAME,... | --kernels NAME,... |\n"
          "         --items NAME,... | --placement FILE|- [--between 1]\n"
          "         [--sizes BYTES,...] [--seconds S] [--seed N] [--run N]\n"
          "         [--cells NAME/BYTES,...] [--within S] [--each-way 1]\n"
          "         [--tests N]\n"
          "         [--protocols NAME,...] [--window N]\n"
          "         [--offset-send N] [--offset-receive N] [--cold BYTES]\n"
          "         [--buffers heap|stack|mmap] [--corrupt 1]\n"
          "         [--paused 1]\n"
          "         [--computing BYTES]\n"
          "         [--data fresh,untouched] [--published 1]\n"
          "         [--gpu-first 1] [--gpu-second 1]\n"
          "(started by `straightway bench`)\n",
          stderr);
    exit(2);
}

static size_t number(const char *text)
{
    char *end;
    size_t n = strtoull(text, &end, 10);
    if (!*text || *end)
        usage();
    return n;
}

static void parse_sizes(const char *text, sw_bench_plan_t *plan)
{
    char *end = (char *)text;
    while (*end && plan->size_count < SW_BENCH_SIZES) {
        plan->size[plan->size_count++] = strtoull(text, &end, 10);
        if (*end && *end != ',')
            usage();
        text = end + 1;
    }
}

/* In the order of their enumerations. */
static const char *const memories[] = {"heap", "stack", "mmap", NULL};
static const char *const windows[] = {"created", "allocated", "shared",
                                      "dynamic", "mapped",    NULL};

static int index_of(const char *name, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(name, names[i]))
            return i;
    usage();
    return 0;
}

/* One option of the plan; false: not one. */
static bool parse(const char *name, const char *value, sw_bench_plan_t *plan)
{
    if (!strcmp(name, "--out"))
        plan->out = value;
    else if (!strcmp(name, "--ops"))
        plan->ops = value;
    else if (!strcmp(name, "--overlap"))
        plan->overlap = value;
    else if (!strcmp(name, "--cells"))
        plan->cells = value;
    else if (!strcmp(name, "--within"))
        plan->within = atof(value);
    else if (!strcmp(name, "--onesided"))
        plan->onesided = value;
    else if (!strcmp(name, "--windows"))
        plan->windows = (sw_bench_windows_t)index_of(value, windows);
    else if (!strcmp(name, "--tests"))
        plan->tests = (int)number(value);
    else if (!strcmp(name, "--patterns"))
        plan->patterns = value;
    else if (!strcmp(name, "--protocols"))
        plan->protocols = value;
    else if (!strcmp(name, "--kernels"))
        plan->kernels = value;
    else if (!strcmp(name, "--items"))
        plan->items = value;
    else if (!strcmp(name, "--placement"))
        plan->placement = value;
    else if (!strcmp(name, "--between"))
        plan->between = number(value) != 0;
    else if (!strcmp(name, "--data"))
        plan->data = value;
    else if (!strcmp(name, "--published"))
        plan->published = number(value) != 0;
    else if (!strcmp(name, "--gpu-first"))
        plan->gpu[0] = number(value) != 0;
    else if (!strcmp(name, "--gpu-second"))
        plan->gpu[1] = number(value) != 0;
    else if (!strcmp(name, "--sizes"))
        parse_sizes(value, plan);
    else if (!strcmp(name, "--seconds"))
        plan->seconds = atof(value);
    else if (!strcmp(name, "--seed"))
        plan->seed = (unsigned)number(value);
    else if (!strcmp(name, "--run"))
        plan->run = (int)number(value);
    else if (!strcmp(name, "--each-way"))
        plan->each_way = number(value) != 0;
    else if (!strcmp(name, "--window"))
        plan->window = (int)number(value);
    else if (!strcmp(name, "--offset-send"))
        plan->offset[0] = number(value);
    else if (!strcmp(name, "--offset-receive"))
        plan->offset[1] = number(value);
    else if (!strcmp(name, "--cold"))
        plan->cold = number(value);
    else if (!strcmp(name, "--computing"))
        plan->computing = true, plan->swept = number(value);
    else if (!strcmp(name, "--buffers"))
        plan->memory = (sw_bench_memory_t)index_of(value, memories);
    else if (!strcmp(name, "--paused"))
        plan->paused = number(value) != 0;
    else if (!strcmp(name, "--corrupt"))
        plan->corrupt = number(value) != 0;
    else
        return false;
    return true;
}

static void *load(const char *path, int scope)
{
    void *library = dlopen(path, RTLD_NOW | scope);
    if (!library) {
        fprintf(stderr, "straightway-bench: %s\n", dlerror());
        exit(1);
    }
    return library;
}

int main(int argc, char **argv)
{
    sw_bench_plan_t plan = {.seconds = 0.5, .seed = 1, .window = 64};
    const char *host = NULL, *module = NULL;
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!value)
            usage();
        if (!strcmp(name, "--host"))
            host = value;
        else if (!strcmp(name, "--module"))
            module = value;
        else if (!parse(name, value, &plan))
            usage();
    }
    int benchmarks = !!plan.ops + !!plan.overlap + !!plan.onesided +
                     !!plan.patterns + !!plan.kernels + !!plan.items +
                     !!plan.placement;
    if (!host || !module || !plan.out || benchmarks != 1 ||
        plan.size_count < (plan.items || plan.placement ? 0
                           : plan.kernels               ? 2
                                                        : 1))
        usage();

    /* The host must be visible to the module, and to the front. */
    load(host, RTLD_GLOBAL);
    void *half = load(module, RTLD_LOCAL);
    sw_bench_func_t run = (sw_bench_func_t)dlsym(half, SW_BENCH_SYMBOL);
    if (!run) {
        fprintf(stderr, "straightway-bench: %s is not a benchmark module\n",
                module);
        return 1;
    }
    if (!plan.items && !plan.placement)
        plan.accelerate = (straightway_accelerate_func_t)dlsym(
            RTLD_DEFAULT, STRAIGHTWAY_ACCELERATE_SYMBOL);
    return run(&plan);
}
