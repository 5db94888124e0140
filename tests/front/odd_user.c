/* Uses the MPI it finds: argv[1] is the word, the rest are libraries to open
 * first; a leading + opens globally. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int MPI_Get_version(int *, int *);
int MPI_Barrier(void *);

int work(int argc, char **argv)
{
    int major = 0, minor = 0;

    for (int i = 2; i < argc; i++) {
        int global = argv[i][0] == '+';
        if (!dlopen(argv[i] + global,
                    RTLD_LAZY | (global ? RTLD_GLOBAL : RTLD_LOCAL))) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
    if (strcmp(argv[1], "barrier") == 0)
        MPI_Barrier(NULL);
    MPI_Get_version(&major, &minor);
    printf("version %d\n", major);
    return 0;
}
