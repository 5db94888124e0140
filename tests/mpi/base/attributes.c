/*
 * attributes.c - attributes belong to the program. Callbacks run as often, and
 * in the order, that the host alone runs them. A datatype's handle that the
 * host reuses for another layout is another datatype.
 *
 *   attributes [TYPES [LOG]]      TYPES: types made, used and freed (1000)
 *
 * LOG.RANK gets what must be the same with and without Straightway.
 */
#include "mpi/test.h"

#define KEYS 8

static int copied, deleted;
static int weight = 1; /* MPI may call back as late as in MPI_Finalize */
static MPI_Comm comm;

static int copy_comm(MPI_Comm from, int key, void *extra, void *value, void *to,
                     int *flag)
{
    (void)from;
    (void)key;
    copied += *(int *)extra;
    *(void **)to = value;
    return *flag = 1, MPI_SUCCESS;
}

static int delete_comm(MPI_Comm from, int key, void *value, void *extra)
{
    (void)from;
    (void)key;
    (void)value;
    deleted += *(int *)extra;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype from, int key, void *extra, void *value,
                     void *to, int *flag)
{
    (void)from;
    (void)key;
    copied += *(int *)extra;
    *(void **)to = value;
    return *flag = 1, MPI_SUCCESS;
}

static int delete_type(MPI_Datatype from, int key, void *value, void *extra)
{
    (void)from;
    (void)key;
    (void)value;
    deleted += *(int *)extra;
    return MPI_SUCCESS;
}

/* A file for each rank: launchers mix what ranks print within lines. */
static FILE *report;

static void say(const char *what)
{
    if (report)
        fprintf(report, "%s: copied %d, deleted %d\n", what, copied, deleted);
    copied = deleted = 0;
}

/* Collectives that make Straightway meet the communicator and the type. */
static void use(MPI_Comm on, MPI_Datatype type)
{
    int room[64] = {0}, sum = 0;
    for (int i = 0; i < 4; i++) {
        MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, on);
        MPI_Bcast(room, 1, type, 0, on);
    }
    CHECK(sum == world_size * (world_size - 1) / 2, "a sum of %d", sum);
}

static void on_communicators(void)
{
    int keys[KEYS];
    MPI_Comm copy[4];
    for (int i = 0; i < KEYS; i++) {
        MPI_Comm_create_keyval(copy_comm, delete_comm, &keys[i], &weight);
        MPI_Comm_set_attr(comm, keys[i], &keys[i]);
    }
    use(comm, MPI_INT);
    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(i ? copy[i - 1] : comm, &copy[i]);
        use(copy[i], MPI_INT);
    }
    say("communicators duplicated");
    for (int i = 0; i < 4; i++) {
        void *value;
        int found;
        MPI_Comm_get_attr(copy[i], keys[i], &value, &found);
        CHECK(found && value == &keys[i], "an attribute of a duplicate");
        MPI_Comm_delete_attr(copy[i], keys[i + 1]);
        use(copy[i], MPI_INT);
        MPI_Comm_free(&copy[i]);
    }
    say("duplicates freed");
    for (int i = 0; i < KEYS; i++)
        MPI_Comm_free_keyval(&keys[i]);
    /* Keys come again; the freed ones' attributes are still there. */
    int again[KEYS];
    for (int i = 0; i < KEYS; i++) {
        void *value;
        int found;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &again[i],
                               &weight);
        MPI_Comm_get_attr(comm, again[i], &value, &found);
        CHECK(!found, "a new key has a value on a communicator");
    }
    use(comm, MPI_INT);
    for (int i = 0; i < KEYS; i++)
        MPI_Comm_free_keyval(&again[i]);
    say("keys of communicators come again");
}

static void on_types(void)
{
    int keys[KEYS];
    MPI_Datatype type, copy;
    MPI_Type_vector(3, 2, 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < KEYS; i++) {
        MPI_Type_create_keyval(copy_type, delete_type, &keys[i], &weight);
        MPI_Type_set_attr(type, keys[i], &keys[i]);
    }
    use(comm, type);
    MPI_Type_dup(type, &copy);
    use(comm, copy);
    say("a type duplicated");
    void *value;
    int found;
    MPI_Type_get_attr(copy, keys[3], &value, &found);
    CHECK(found && value == &keys[3], "an attribute of a type's duplicate");
    MPI_Type_free(&type);
    use(comm, copy);
    say("a type freed");
    MPI_Type_free(&copy);
    say("its duplicate freed");
    for (int i = 0; i < KEYS; i++) {
        MPI_Type_free_keyval(&keys[i]);
        MPI_Type_create_keyval(copy_type, delete_type, &keys[i], &weight);
    }
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    use(comm, type);
    for (int i = 0; i < KEYS; i++) {
        MPI_Type_get_attr(type, keys[i], &value, &found);
        CHECK(!found, "a new key has a value on a type");
        MPI_Type_free_keyval(&keys[i]);
    }
    MPI_Type_free(&type);
    say("keys of types come again");
}

/* A type of layout `which`; marks the ints that it covers. */
static MPI_Datatype layout(int which, char covers[32])
{
    MPI_Datatype type, inner;
    memset(covers, 0, 32);
    int k = 1 + which / 5 % 5; /* a parameter, 1 to 5 */
    switch (which % 5) {
    case 0:
        MPI_Type_contiguous(k, MPI_INT, &type);
        memset(covers, 1, (size_t)k);
        break;
    case 1:
        MPI_Type_vector(3, 1, k + 1, MPI_INT, &type);
        for (int i = 0; i < 3; i++)
            covers[i * (k + 1)] = 1;
        break;
    case 2:
        MPI_Type_indexed(2, (int[]){1, 2}, (int[]){0, k + 1}, MPI_INT, &type);
        covers[0] = covers[k + 1] = covers[k + 2] = 1;
        break;
    case 3:
        MPI_Type_contiguous(k, MPI_INT, &inner);
        MPI_Type_create_resized(inner, 0, 32, &type);
        MPI_Type_free(&inner);
        memset(covers, 1, (size_t)k);
        break;
    default:
        MPI_Type_create_hindexed_block(2, k, (MPI_Aint[]){0, (k + 2) * 4},
                                       MPI_INT, &type);
        memset(covers, 1, (size_t)k);
        memset(covers + k + 2, 1, (size_t)k);
    }
    MPI_Type_commit(&type);
    return type;
}

/* Handles come again at once, always with another layout. A type may be freed
 * without any member having used it, or be used by a call of the host's. */
static void handles_come_again(long many)
{
    for (long i = 0; i < many; i++) {
        char covers[32];
        int buffer[32], root = (int)(i % world_size);
        MPI_Datatype type = layout((int)(mix((uint64_t)i) % 25), covers);
        for (int k = 0; k < 32; k++)
            buffer[k] = world_rank == root ? (int)i + k : -1;
        if (i % 7)
            MPI_Bcast(buffer, 1, type, root, comm);
        MPI_Type_free(&type);
        for (int k = 0; k < 32 && i % 7; k++) {
            int want = world_rank == root || covers[k] ? (int)i + k : -1;
            CHECK(buffer[k] == want, "type %ld: int %d is %d, not %d", i, k,
                  buffer[k], want);
        }
    }
}

int main(int argc, char **argv)
{
    test_start(&argc, &argv);
    int key, late = 100;
    if (argc > 2) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", argv[2], world_rank);
        CHECK((report = fopen(path, "w")), "cannot write %s", path);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    on_communicators();
    on_types();
    handles_come_again(argument(argc, argv, 1, 1000));
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_comm, &key, &late);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
    MPI_Comm_set_attr(comm, key, &key);
    use(comm, MPI_INT);
    MPI_Comm_free(&comm);
    say("the last one freed");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    say("MPI_Finalize");
    if (report)
        fclose(report);
    if (world_rank == 0)
        printf("all is well\n");
}
