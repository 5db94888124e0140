/* A program that is not linked with MPI: it opens the MPI library named in
 * argv[1] privately and takes every function from its handle; argv[2], if
 * given, is a module that is linked with MPI and opened then. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *need(void *handle, const char *name)
{
    void *p = dlsym(handle, name);
    if (!p) {
        fprintf(stderr, "%s\n", dlerror());
        exit(3);
    }
    return p;
}

int main(int argc, char **argv)
{
    int flag = -1;
    const char *error;

    dlerror();
    if (dlsym(RTLD_DEFAULT, "MPI_Get_version") || !(error = dlerror())) {
        fprintf(stderr, "MPI is seen before it is there\n");
        return 2;
    }
    if (dlsym(dlopen(NULL, RTLD_LAZY), "PMPI_Init") || !dlerror()) {
        fprintf(stderr, "MPI is seen in the program\n");
        return 2;
    }
    void *mpi = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!mpi) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    if (argc > 2) {
        void *module = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
        if (!module) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        return ((int (*)(int, char **))need(module, "work"))(argc, argv);
    }
    int (*init)(int *, char ***) = need(mpi, "MPI_Init");
    int (*initialized)(int *) = need(mpi, "MPI_Initialized");
    int (*finalize)(void) = need(mpi, "MPI_Finalize");
    init(&argc, &argv);
    initialized(&flag);
    printf("initialized %d\n", flag);
    return finalize();
}
