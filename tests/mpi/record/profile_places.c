/*
 * profile_places.c - each rank notes, after MPI_Init, which processors it may
 * use: argv[1]/places.RANK has the kernel's list.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char line[4096], path[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/places.%d", argv[argc - 1], rank);
    FILE *in = fopen("/proc/self/status", "r"), *out = fopen(path, "w");
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    while (fgets(line, sizeof line, in))
        if (!strncmp(line, "Cpus_allowed_list:", 18))
            fputs(strrchr(line, '\t') + 1, out);
    fclose(in);
    fclose(out);
    MPI_Finalize();
    if (rank == 0)
        puts("all is well");
    return 0;
}
