/*
 * main.c - straightway-bench: load the host, load the module built for it,
 * run the plan. `straightway bench` writes this command line; it is not meant
 * to be typed.
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
          "         --ops NAME,... --sizes BYTES,... [--seconds S] [--seed N]\n"
          "(started by `straightway bench`)\n", stderr);
    exit(2);
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
    sw_bench_plan_t plan = {.seconds = 0.5, .seed = 1};
    const char *host = NULL, *module = NULL;
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!value)
            usage();
        if (!strcmp(name, "--host"))
            host = value;
        else if (!strcmp(name, "--module"))
            module = value;
        else if (!strcmp(name, "--out"))
            plan.out = value;
        else if (!strcmp(name, "--ops"))
            plan.ops = value;
        else if (!strcmp(name, "--seconds"))
            plan.seconds = atof(value);
        else if (!strcmp(name, "--seed"))
            plan.seed = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(name, "--sizes")) {
            char *end = (char *)value;
            while (*end && plan.size_count < SW_BENCH_SIZES) {
                plan.size[plan.size_count++] = strtoull(value, &end, 10);
                if (*end && *end != ',')
                    usage();
                value = end + 1;
            }
        } else
            usage();
    }
    if (!host || !module || !plan.out || !plan.ops || !plan.size_count)
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
    plan.accelerate = (straightway_accelerate_func_t)
        dlsym(RTLD_DEFAULT, STRAIGHTWAY_ACCELERATE_SYMBOL);
    return run(&plan);
}
