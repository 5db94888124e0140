/*
 * time_host.c - what kernels cost that use the host's memory, and what a launch
 * and the wait for its end cost.
 */
#include "times.h"

#include <sys/mman.h>
#include <unistd.h>

#include "must.h"

void times_with_host(void)
{
    size_t size[] = {4 << 10, 64 << 10, MIB, 16 * MIB, 64 * MIB};
    int file = memfd_create("pinned", 0);
    at_t seen;
    if (file < 0 || ftruncate(file, (off_t)(64 * MIB)))
        return;
    char *host = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      0);
    MUST(host != MAP_FAILED);
    memset(host, 1, 64 * MIB);
    double begin = gpu_now();
    int code = cuda.cuMemHostRegister_v2(
        host, 64 * MIB, REGISTER_PORTABLE | REGISTER_DEVICE_MAP);
    printf("\ncuMemHostRegister of 64 MiB of a memfd: code %d, %.0f us\n", code,
           gpu_now() - begin);
    if (code)
        return;
    CU(cuMemHostGetDevicePointer_v2(&seen, host, 0));
    printf("pinned host memory, GB/s: the kernel stores to it, pack then copy, "
           "plain copy to the host; the kernel loads from it, copy then "
           "unpack, plain copy from the host\n");
    for (int i = 0; i < 10 && gpu_now() < deadline; i++) {
        size_t n = size[i / 2];
        type_t t = i % 2 ? type_vector("vector 64", 64, n)
                         : type_vector("vector 8", 8, n);
        sw_plan_t out = time_plan(&t, mine, true, seen, false, 0, 4),
                  in = time_plan(&t, seen, false, target, true, 0, 4),
                  pack = time_plan(&t, mine, true, packed, false, 0, 4),
                  unpack = time_plan(&t, packed, false, target, true, 0, 4);
        const struct {
            const char *name;
            way_t way;
            const sw_plan_t *plan;
        } way[] = {{"kernel to host", KERNEL, &out},
                   {"pack, copy to host", KERNEL_THEN_TO_HOST, &pack},
                   {"copy to host", TO_HOST, NULL},
                   {"kernel from host", KERNEL, &in},
                   {"copy from host, unpack", FROM_HOST_THEN_KERNEL, &unpack},
                   {"copy from host", FROM_HOST, NULL}};
        printf("%-12s%10zu", t.name, n);
        for (int w = 0; w < 6; w++) {
            job_t j = {.way = way[w].way,
                       .plan = way[w].plan,
                       .kernels = &standard,
                       .host = host,
                       .from = packed,
                       .to = packed,
                       .bytes = n};
            cost_t c = time_measure(&j);
            time_record(t.name, n, way[w].name, c);
            printf("%9.2f", time_rate(n, c));
        }
        printf("\n");
    }
}

static void wait_for(int how, volatile unsigned *flag, unsigned value)
{
    if (how == 0)
        CU(cuStreamSynchronize(gpu_stream));
    else if (how == 1)
        while (cuda.cuEventQuery(after) == 600)
            ;
    else
        for (double end = gpu_now() + 1e6; *flag != value && gpu_now() < end;)
            ;
}

void times_of_launches(void)
{
    static const char *const how[] = {"stream synchronize", "event query",
                                      "flag in pinned memory"};
    handle_t module = gpu_module("probe"), empty, set, event;
    volatile unsigned *flag;
    at_t seen;
    if (!module)
        return;
    empty = gpu_function(module, "probe_empty");
    set = gpu_function(module, "probe_flag");
    CU(cuMemHostAlloc((void **)(uintptr_t)&flag, 4096, 3));
    CU(cuMemHostGetDevicePointer_v2(&seen, (void *)(uintptr_t)flag, 0));
    CU(cuEventCreate(&event, NO_TIMING));
    handle_t timed = after;
    after = event;
    type_t t = type_vector("vector 8", 8, 1024);
    sw_plan_t plan = time_plan(&t, mine, true, packed, false, 0, 4);
    *flag = 0;
    double begin = gpu_now();
    for (int i = 0; i < 1000; i++)
        plan = time_plan(&t, mine, true, packed, false, 0, 4);
    printf("\nplan of a message: %.3f us\n", (gpu_now() - begin) / 1000);
    printf("\nlatency, us: launch call, launch to end seen; empty kernel, then "
           "a message of 1 KiB\n");
    for (int h = 0; h < 6; h++) {
        double call[200], end[200];
        for (unsigned i = 0; i < 220; i++) {
            unsigned value = (unsigned)h * 1000 + i + 1;
            void *argument[] = {&seen, &value};
            double start = gpu_now();
            if (h >= 3)
                gpu_launch(&standard, &plan, false, gpu_stream);
            else if (h < 2)
                CU(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, gpu_stream, NULL,
                                  NULL));
            if (h % 3 == 2)
                CU(cuLaunchKernel(set, 1, 1, 1, 1, 1, 1, 0, gpu_stream,
                                  argument, NULL));
            double called = gpu_now();
            if (h % 3 == 1)
                CU(cuEventRecord(after, gpu_stream));
            wait_for(h % 3, flag, value);
            if (i >= 20) {
                call[i - 20] = called - start;
                end[i - 20] = gpu_now() - start;
            }
            CU(cuStreamSynchronize(gpu_stream));
        }
        cost_t c = {gpu_median(call, 200), gpu_median(end, 200), 200};
        printf("%-26s%-10s%8.2f%8.2f\n", how[h % 3], h < 3 ? "empty" : "1 KiB",
               c.device, c.host);
        time_record(h < 3 ? "empty" : "1 KiB", 0, how[h % 3], c);
    }
    after = timed;
}
