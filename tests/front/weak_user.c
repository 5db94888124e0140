/* A program that uses MPI only if it is there. */
#include <stdio.h>

int MPI_Initialized(int *) __attribute__((weak));
int PMPI_Send_c(void) __attribute__((weak));

int main(void)
{
    int (*volatile initialized)(int *) = MPI_Initialized;
    int (*volatile send_c)(void) = PMPI_Send_c;

    printf("%s\n", initialized || send_c ? "MPI" : "no MPI");
    return 0;
}
