/*
 * rma_errors.c - the host judges wrong arguments and wrong epochs of a window.
 *
 *   rma_errors REPORT
 *
 * Writes to REPORT.rank the error class of each wrong call, and what the window
 * is to the program: its attributes, name, group, info. A run with Straightway
 * must write what a run on the host alone writes. Right calls in between prove
 * that the window still works.
 */
#include "mpi/test.h"

enum { LENGTH_ = 8192 };

static FILE *report;
static MPI_Win window;
static int *memory, me, n, handled;

static void count_handled(MPI_Win *win, int *code, ...)
{
    (void)win;
    (void)code;
    handled++;
}

static void tell(const char *what, int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    fprintf(report, "%s: class %d handled %d\n", what, class, handled);
    fflush(report);
    handled = 0;
}

#define TRY(call) tell(#call, call)

static void still_works(void)
{
    int value = me + 17, got = -1, right = (me + 1) % n;
    MPI_Win_fence(0, window);
    MPI_Put(&value, 1, MPI_INT, right, 5, 1, MPI_INT, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    CHECK(memory[5] == (me + n - 1) % n + 17, "put %d", memory[5]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
    MPI_Get(&got, 1, MPI_INT, right, 5, 1, MPI_INT, window);
    MPI_Win_unlock(right, window);
    CHECK(got == value, "got %d", got);
    MPI_Barrier(MPI_COMM_WORLD);
    handled = 0;
}

/* The rest of such a call is judged all the same. */
static void to_nobody(void)
{
    int a[4] = {0}, b[4], no = MPI_PROC_NULL;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Request request;
    TRY(MPI_Put(a, 1, MPI_INT, no, 0, 1, MPI_INT, window));
    TRY(MPI_Put(a, 1, MPI_INT, no, 0, -1, MPI_INT, window));
    TRY(MPI_Put(a, 1, MPI_INT, no, -3, 1, MPI_INT, window));
    TRY(MPI_Get(a, 1, none, no, 0, 1, MPI_INT, window));
    TRY(MPI_Accumulate(a, -1, MPI_INT, no, 0, 1, MPI_INT, MPI_SUM, window));
    TRY(MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, no, 0, 1, MPI_INT,
                           MPI_SUM, window));
    TRY(MPI_Fetch_and_op(a, b, none, no, 0, MPI_SUM, window));
    TRY(MPI_Compare_and_swap(a, b, b, none, no, 0, window));
    TRY(MPI_Rput(a, -1, MPI_INT, no, 0, 1, MPI_INT, window, &request));
    TRY(MPI_Rput(a, 1, MPI_INT, no, 0, 1, MPI_INT, window, &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* Not what ends a host alone: an operation that a type does not have. */
static void wrong_arguments(void)
{
    int a[4] = {0}, b[4];
    MPI_Datatype none = MPI_DATATYPE_NULL, raw;
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    TRY(MPI_Put(a, 1, MPI_INT, n, 0, 1, MPI_INT, window));
    TRY(MPI_Put(a, 1, MPI_INT, -77, 0, 1, MPI_INT, window));
    TRY(MPI_Put(a, -1, MPI_INT, 0, 0, 1, MPI_INT, window));
    TRY(MPI_Get(a, 1, MPI_INT, 0, 0, -1, MPI_INT, window));
    TRY(MPI_Get(a, 1, none, 0, 0, 1, MPI_INT, window));
    MPI_Type_contiguous(2, MPI_INT, &raw);
    TRY(MPI_Put(a, 1, raw, 0, 0, 1, raw, window));
    MPI_Type_free(&raw);
    TRY(MPI_Accumulate(a, 1, MPI_INT, n, 0, 1, MPI_INT, MPI_SUM, window));
    TRY(MPI_Accumulate(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, window));
    TRY(MPI_Accumulate(a, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_OP_NULL, window));
    TRY(MPI_Accumulate(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, window));
    TRY(MPI_Accumulate(a, 0, MPI_INT, 0, 0, 0, MPI_INT, MPI_NO_OP, window));
    TRY(MPI_Accumulate(a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_NO_OP,
                       window));
    TRY(MPI_Raccumulate(a, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, window,
                        &request));
    TRY(MPI_Get_accumulate(NULL, 0, MPI_INT, b, 1, MPI_INT, 0, 0, 1, MPI_INT,
                           MPI_NO_OP, window));
    TRY(MPI_Fetch_and_op(a, b, MPI_INT, n + 3, 0, MPI_SUM, window));
    TRY(MPI_Compare_and_swap(a, b, b, MPI_INT, n, 0, window));
    TRY(MPI_Put(a, 1, MPI_INT, 0, -3, 1, MPI_INT, window));
    TRY(MPI_Get(a, 0, MPI_INT, 0, -3, 0, MPI_INT, window));
    to_nobody();
    TRY(MPI_Get(a, 0, MPI_INT, 0, 0, 0, MPI_INT, window));
    MPI_Win_unlock_all(window);
    TRY(MPI_Win_lock(12345, 0, 0, window));
    TRY(MPI_Win_lock(MPI_LOCK_SHARED, n, 0, window));
}

/* Before the window, and at no rank. */
static void wrong_places(void)
{
    int a[4] = {0}, b[4];
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Request request;
    MPI_Win_lock_all(0, window);
    TRY(MPI_Put(a, 1, MPI_INT, 0, -1, 1, MPI_INT, window));
    TRY(MPI_Get(a, 1, MPI_INT, 0, -1, 1, MPI_INT, window));
    TRY(MPI_Put(a, 0, MPI_INT, 0, -1, 0, MPI_INT, window));
    TRY(MPI_Rput(a, 1, MPI_INT, 0, -1, 1, MPI_INT, window, &request));
    TRY(MPI_Accumulate(a, 1, MPI_INT, 0, -1, 1, MPI_INT, MPI_SUM, window));
    TRY(MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, 0, -1, 1, MPI_INT,
                           MPI_SUM, window));
    TRY(MPI_Fetch_and_op(a, b, MPI_INT, 0, -1, MPI_SUM, window));
    TRY(MPI_Compare_and_swap(a, a, b, MPI_INT, 0, -1, window));
    TRY(MPI_Put(a, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, window));
    TRY(MPI_Put(a, -1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window));
    TRY(MPI_Get(a, 1, none, MPI_PROC_NULL, 0, 1, MPI_INT, window));
    TRY(MPI_Accumulate(a, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, MPI_SUM,
                       window));
    TRY(MPI_Accumulate(a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, none, MPI_SUM,
                       window));
    TRY(MPI_Fetch_and_op(a, b, MPI_INT, MPI_PROC_NULL, -1, MPI_SUM, window));
    TRY(MPI_Compare_and_swap(a, a, b, MPI_INT, MPI_PROC_NULL, -1, window));
    /* These are right. */
    TRY(MPI_Rget(a, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window,
                 &request));
    TRY(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TRY(MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, MPI_PROC_NULL, 0, 1,
                           MPI_INT, MPI_SUM, window));
    TRY(MPI_Fetch_and_op(a, b, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, window));
    TRY(MPI_Compare_and_swap(a, a, b, MPI_INT, MPI_PROC_NULL, 0, window));
    MPI_Win_unlock_all(window);
}

static void wrong_epochs(void)
{
    int a[4] = {0}, b[4];
    /* A fence that nothing succeeds: no epoch is open. */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    TRY(MPI_Win_unlock(0, window));
    TRY(MPI_Win_unlock_all(window));
    TRY(MPI_Win_complete(window));
    TRY(MPI_Win_wait(window));
    TRY(MPI_Win_flush(0, window));
    to_nobody();
#ifndef OMPI_MAJOR_VERSION /* it takes a second lock, and goes wrong */
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    TRY(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    TRY(MPI_Win_lock_all(0, window));
    TRY(MPI_Win_fence(0, window));
    MPI_Win_unlock(0, window);
#endif
    TRY(MPI_Put(a, 1, MPI_INT, 0, 0, 1, MPI_INT, window));
    TRY(MPI_Get_accumulate(a, 1, MPI_INT, b, 1, MPI_INT, 0, 0, 1, MPI_INT,
                           MPI_SUM, window));
}

static void properties(void)
{
    void *value;
    int flag = 0, length = 0;
    char name[MPI_MAX_OBJECT_NAME] = "";
    MPI_Win_get_attr(window, MPI_WIN_BASE, &value, &flag);
    fprintf(report, "base %d %d\n", flag, value == (void *)memory);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, &value, &flag);
    fprintf(report, "size %d %ld\n", flag, (long)*(MPI_Aint *)value);
    MPI_Win_get_attr(window, MPI_WIN_DISP_UNIT, &value, &flag);
    fprintf(report, "unit %d %d\n", flag, *(int *)value);
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    fprintf(report, "flavour %d %d\n", flag,
            *(int *)value == MPI_WIN_FLAVOR_CREATE);
    MPI_Win_set_name(window, "a window");
    MPI_Win_get_name(window, name, &length);
    fprintf(report, "name %s\n", name);
    MPI_Group group, world;
    int same;
    MPI_Win_get_group(window, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &same);
    fprintf(report, "group %d\n", same == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

int main(int argc, char **argv)
{
    char name[4096];
    test_start(&argc, &argv);
    me = world_rank;
    n = world_size;
    snprintf(name, sizeof name, "%s.%d", argc > 2 ? argv[2] : "report", me);
    report = fopen(name, "w");
    CHECK(report != NULL, "cannot write %s", name);
    memory = calloc(LENGTH_, sizeof *memory);
    MPI_Win_create(memory, LENGTH_ * sizeof *memory, sizeof *memory,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Errhandler handler;
    MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    properties();
    still_works();
    wrong_arguments();
    wrong_places();
    still_works();
    wrong_epochs();
    still_works();
    MPI_Win_create_errhandler(count_handled, &handler);
    MPI_Win_set_errhandler(window, handler);
    wrong_arguments();
    wrong_places();
    still_works();
    MPI_Errhandler_free(&handler);
    MPI_Win_free(&window);
    CHECK(window == MPI_WIN_NULL, "a freed window is still there");
    free(memory);
    fclose(report);
    test_end();
    return 0;
}
