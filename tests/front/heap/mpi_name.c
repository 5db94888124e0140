/* Stands for an MPI library: its file name alone makes static data move. */
int sw_test_mpi_name(void)
{
    return 1;
}
