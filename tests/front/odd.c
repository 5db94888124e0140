/* An MPI of no known make. Its version number tells two such MPIs apart. */
#ifndef WHO
#define WHO 7
#endif
#define BOTH(name, parameters, body)                \
    int P##name parameters body int name parameters \
        __attribute__((weak, alias("P" #name)));
BOTH(MPI_Init, (int *a, char ***b), { return 0; })
BOTH(MPI_Finalize, (void), { return 0; })
BOTH(MPI_Get_version, (int *a, int *b), {
    *a = WHO;
    *b = 0;
    return 0;
})
int odd_mpi_mark_WHO = WHO;
