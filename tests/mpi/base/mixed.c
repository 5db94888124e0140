/*
 * mixed.c - large messages of elements that mix basic types, between types of
 * the same sequence and other gaps.
 *
 *   mixed
 *
 * The program works out which of them may travel as a descriptor, of 192 bytes:
 * those in whose data a basic element ends there. Rank 0 prints how many there
 * were, and the test compares that with --stats.
 */
#include "mpi/test.h"

enum { BYTES = 12000, DESCRIPTOR = 192, BASICS_MAX = 48, BLOCK = 1 << 18 };

/* An element, a letter for each basic type. */
static const char *const sequences[] = {
    "id", "dddi", "iddd", "idcccs", "cccsid", "dcdc", "ssdi", "di", "ci",
    "icd", "fdz", "idz", "zid", "iiiiiiiiiiiiiiiiiiiiiiid",
    "dddddddddddddddddddddddiii", "dddddddddddddddddddddddid",
};

/* Their number, the bytes of data, and of each how long it is and where it
 * lies. */
typedef struct {
    MPI_Datatype type;
    int n, size, length[BASICS_MAX];
    MPI_Aint at[BASICS_MAX], extent;
} element_t;

/* NESTED: the first one, and a structure of the others. */
enum { DENSE, PADDED, SPREAD, NESTED, WAYS };

static int basic(char letter, MPI_Datatype *type)
{
    static const char letters[] = "csifdz";
    const MPI_Datatype types[] = { MPI_CHAR, MPI_SHORT, MPI_INT, MPI_FLOAT,
                                   MPI_DOUBLE, MPI_C_DOUBLE_COMPLEX };
    static const int sizes[] = { 1, 2, 4, 4, 8, 16 };
    size_t i = (size_t)(strchr(letters, letter) - letters);
    *type = types[i];
    return sizes[i];
}

static element_t element(const char *letters, int way)
{
    element_t e = { .n = (int)strlen(letters) };
    int ones[BASICS_MAX];
    MPI_Aint end = 0;
    MPI_Datatype type[BASICS_MAX], inner, whole;
    for (int i = 0; i < e.n; i++) {
        int size = basic(letters[i], &type[i]);
        int step = way == DENSE ? 1 : size;
        ones[i] = 1;
        e.length[i] = size;
        e.at[i] = (end + step - 1) / step * step;
        end = e.at[i] + size + (way == SPREAD ? 24 : 0);
        e.size += size;
    }
    e.extent = way == DENSE ? end : (end + 15) / 16 * 16;
    if (way == NESTED) {
        MPI_Type_create_struct(e.n - 1, ones, e.at + 1, type + 1, &inner);
        MPI_Type_create_struct(2, ones, (MPI_Aint[]){ e.at[0], 0 },
                               (MPI_Datatype[]){ type[0], inner }, &whole);
        MPI_Type_free(&inner);
    } else {
        MPI_Type_create_struct(e.n, ones, e.at, type, &whole);
    }
    MPI_Type_create_resized(whole, 0, e.extent, &e.type);
    MPI_Type_commit(&e.type);
    MPI_Type_free(&whole);
    return e;
}

/* Does a basic element end where a descriptor does? */
static bool travels(const element_t *e)
{
    int rest = DESCRIPTOR % e->size;
    for (int i = 0; rest > 0; i++)
        rest -= e->length[i];
    return rest == 0;
}

/* The data of `count` elements, from the key, into memory of gaps. */
static void lay_out(const element_t *e, int count, uint64_t key, char *to)
{
    size_t size = (size_t)e->size, before = 0;
    char *data = malloc((size_t)count * size);
    fill_from(data, (size_t)count * size, key);
    memset(to, '.', (size_t)(count * e->extent));
    for (int k = 0; k < count; k++)
        for (int i = 0; i < e->n; i++) {
            memcpy(to + k * e->extent + e->at[i], data + before,
                   (size_t)e->length[i]);
            before += (size_t)e->length[i];
        }
    free(data);
}

/* Receive it: just so, with more room, or after a look at it. */
static void receive(int how, char *to, int count, const element_t *e)
{
    int probed = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    switch (how) {
    case 0:
        MPI_Recv(to, count, e->type, 0, 7, MPI_COMM_WORLD, &status);
        break;
    case 1:
        MPI_Irecv(to, 3 * count, e->type, 0, 7, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        break;
    case 2:
        MPI_Probe(0, 7, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, e->type, &probed);
        CHECK(probed == count, "%d elements probed, not %d", probed, count);
        MPI_Recv(to, count, e->type, 0, 7, MPI_COMM_WORLD, &status);
        break;
    default:
        MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(to, count, e->type, &message, &status);
    }
    MPI_Get_count(&status, e->type, &probed);
    CHECK(probed == count, "%d elements came, not %d", probed, count);
}

int main(int argc, char **argv)
{
    enum { RECEIVES = 4 };
    int expected = 0;
    test_start(&argc, &argv);
    char *memory = malloc(BLOCK), *wanted = malloc(BLOCK);
    for (size_t s = 0; s < LENGTH(sequences); s++)
        for (int ways = 0; ways < WAYS * WAYS; ways++) {
            element_t out = element(sequences[s], ways / WAYS);
            element_t in = element(sequences[s], ways % WAYS);
            int count = BYTES / out.size;
            bool ours = travels(&out);
            for (int how = 0; how < RECEIVES; how++) {
                uint64_t key = key2(s, (uint64_t)(ways * RECEIVES + how));
                expected += ours;
                if (world_rank == 0) {
                    lay_out(&out, count, key, memory);
                    MPI_Send(memory, count, out.type, 1, 7, MPI_COMM_WORLD);
                } else if (world_rank == 1) {
                    lay_out(&in, count, key, wanted);
                    memset(memory, '.', BLOCK);
                    /* MPICH and its kin match less data than there is room
                     * for with one basic type only, of the messages that
                     * they carry. */
                    receive(how == 1 && !ours ? 0 : how, memory, count, &in);
                    CHECK(!memcmp(memory, wanted,
                                  (size_t)(count * in.extent)),
                          "%s, from %d to %d, receive %d", sequences[s],
                          ways / WAYS, ways % WAYS, how);
                }
            }
            MPI_Type_free(&out.type);
            MPI_Type_free(&in.type);
        }
    free(memory);
    free(wanted);
    if (world_rank == 0)
        printf("%d messages can travel\n", expected);
    test_end();
}
