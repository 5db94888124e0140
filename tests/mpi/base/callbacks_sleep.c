/*
 * callbacks_sleep.c - attribute callbacks that sleep: no signal of a library's
 * cuts a sleep short.
 */
#include <mpi.h>

#include <stdio.h>
#include <time.h>

static int short_sleeps, sleeps;

static void rest(void)
{
    const struct timespec t = {0, 3000000};
    sleeps++;
    short_sleeps += nanosleep(&t, NULL) != 0;
}

static int copy(MPI_Comm comm, int key, void *state, void *in, void *out,
                int *flag)
{
    (void)comm, (void)key, (void)state;
    rest();
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int end_comm(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    rest();
    return MPI_SUCCESS;
}

static int end_win(MPI_Win win, int key, void *value, void *state)
{
    (void)win, (void)key, (void)value, (void)state;
    rest();
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static int memory[16];
    int me, comm_key, win_key, most;
    MPI_Comm with, again;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_create_keyval(copy, end_comm, &comm_key, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, end_win, &win_key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &with);
    MPI_Comm_set_attr(with, comm_key, &me);
    for (int i = 0; i < 10; i++) {
        MPI_Comm_dup(with, &again);
        MPI_Comm_free(&again);
        MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                       &win);
        MPI_Win_set_attr(win, win_key, &me);
        MPI_Win_free(&win);
    }
    MPI_Comm_free(&with);
    MPI_Allreduce(&short_sleeps, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d sleeps, %d cut short\n", sleeps, most);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Win_free_keyval(&win_key);
    MPI_Finalize();
    return 0;
}
