/*
 * main.c - a mode of the program that a machine with a GPU runs:
 *
 *   gpu KERNELS JSON check SECONDS | alone SECONDS [UNROLL] |
 *                    reductions SECONDS | times SECONDS | facts | fact NAME
 *
 * KERNELS is the folder of the compiled kernels, JSON a file to add to, or "-".
 */
#include "gpu.h"

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    gpu_kernels = argv[1];
    if (strcmp(argv[2], "-") != 0) {
        gpu_json = fopen(argv[2], "a");
        if (gpu_json)
            setvbuf(gpu_json, NULL, _IOLBF, 0);
    }
    double seconds = argc > 4 ? atof(argv[4]) : 10;
    if (strcmp(argv[3], "check") == 0)
        mode_check(seconds, false, 4);
    else if (strcmp(argv[3], "alone") == 0)
        mode_check(seconds, true, argc > 5 ? atoi(argv[5]) : 4);
    else if (strcmp(argv[3], "reductions") == 0)
        mode_reductions(seconds);
    else if (strcmp(argv[3], "times") == 0)
        mode_times(seconds);
    else if (strcmp(argv[3], "facts") == 0)
        mode_facts();
    else if (strcmp(argv[3], "fact") == 0 && argc > 4)
        mode_fact(argv[4]);
    else
        return 2;
    return 0;
}
