/*
 * random_comms.h - communicators of every make, living side by side.
 *
 * A slot is one communicator, or one family of them (what a split returns on
 * each rank). Every rank draws from the same numbers when to remake which slot,
 * and how. It asks MPI for its place in the family. A rank that is left out
 * holds MPI_COMM_NULL there and skips the slot's calls.
 */
#ifndef RANDOM_COMMS_H
#define RANDOM_COMMS_H

#include "mpi/test.h"

#define SLOTS 10

typedef struct {
    MPI_Comm comm;
    int size, rank;
    int *member; /* rank in the communicator -> rank in the world */
    const char *made_by;
} slot_t;

static slot_t slots[SLOTS];

static void slot_learn(slot_t *s, const char *made_by)
{
    s->made_by = made_by;
    s->size = s->rank = 0;
    free(s->member);
    s->member = NULL;
    if (s->comm == MPI_COMM_NULL)
        return;
    MPI_Group group, world;
    MPI_Comm_size(s->comm, &s->size);
    MPI_Comm_rank(s->comm, &s->rank);
    s->member = malloc((size_t)s->size * sizeof(int));
    int *mine = malloc((size_t)s->size * sizeof(int));
    for (int i = 0; i < s->size; i++)
        mine[i] = i;
    MPI_Comm_group(s->comm, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(group, s->size, mine, world, s->member);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    free(mine);
    MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
}

static void slot_free(slot_t *s)
{
    if (s->comm != MPI_COMM_NULL && s->comm != MPI_COMM_WORLD &&
        s->comm != MPI_COMM_SELF)
        MPI_Comm_free(&s->comm);
    s->comm = MPI_COMM_NULL;
    free(s->member);
    s->member = NULL;
}

/* Two groups of the parent's members, drawn at random but for its ranks 0 and
 * 1, meet in an intercommunicator, which is merged. Either may come first. */
static MPI_Comm merged_from_two(const slot_t *parent, uint64_t key)
{
    MPI_Comm half, inter, made;
    int side = parent->rank < 2
                   ? parent->rank
                   : (int)(key2(key, 99u + (uint64_t)parent->rank) & 1);
    MPI_Comm_split(parent->comm, side, parent->rank, &half);
    MPI_Intercomm_create(half, 0, parent->comm, !side, 29, &inter);
    MPI_Intercomm_merge(inter, key >> 1 & 1 ? side : !side, &made);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    return made;
}

/* Make slot s anew from the common numbers `r`. */
static void slot_make(rng_t *r, slot_t *s)
{
    /* The parent may be the old communicator of this slot itself: nested
     * creation, the parent freed after. */
    slot_t *parent = &slots[rng_below(r, SLOTS)];
    int how = (int)rng_below(r, 10);
    uint64_t key = rng_next(r);
    uint64_t own = key2(key, (uint64_t)world_rank);
    MPI_Comm made = MPI_COMM_NULL;
    const char *made_by = "left out";

    if (parent->comm == MPI_COMM_NULL)
        goto done;
    switch (how) {
    case 0:
        made_by = "dup";
        MPI_Comm_dup(parent->comm, &made);
        break;
    case 1: {
        made_by = "split";
        int colours = 1 + (int)(key % 3);
        MPI_Comm_split(parent->comm, (int)(own % (unsigned)colours),
                       (int)(own >> 40), &made);
        break;
    }
    case 2:
        made_by = "split, some left out";
        MPI_Comm_split(parent->comm, own % 4 ? 0 : MPI_UNDEFINED, -parent->rank,
                       &made);
        break;
    case 3:
        made_by = "reversed";
        MPI_Comm_split(parent->comm, 0, -parent->rank, &made);
        break;
    case 4:
        made_by = "split_type shared";
        MPI_Comm_split_type(parent->comm, MPI_COMM_TYPE_SHARED, 0,
                            MPI_INFO_NULL, &made);
        break;
    case 5:
    case 6: {
        /* A group of some ranks in an order of its own. */
        int n = 0, *take = malloc((size_t)parent->size * sizeof(int));
        for (int i = 0; i < parent->size; i++)
            if (key2(key, (uint64_t)i) % 4)
                take[n++] = i;
        if (key & 1)
            for (int i = 0; i < n / 2; i++) {
                int t = take[i];
                take[i] = take[n - 1 - i];
                take[n - 1 - i] = t;
            }
        MPI_Group all, some;
        int in;
        MPI_Comm_group(parent->comm, &all);
        MPI_Group_incl(all, n, take, &some);
        MPI_Group_rank(some, &in);
        if (how == 5) {
            made_by = "create";
            MPI_Comm_create(parent->comm, some, &made);
        } else if (in != MPI_UNDEFINED) {
            made_by = "create_group";
            MPI_Comm_create_group(parent->comm, some, 17, &made);
        }
        MPI_Group_free(&all);
        MPI_Group_free(&some);
        free(take);
        break;
    }
    case 7: {
        made_by = "cart";
        int dims[2] = {0, 0}, periods[2] = {1, 0};
        MPI_Dims_create(parent->size, 2, dims);
        MPI_Cart_create(parent->comm, 2, dims, periods, (int)(key & 1), &made);
        break;
    }
    case 8: {
        made_by = "idup";
        MPI_Request request;
        MPI_Comm_idup(parent->comm, &made, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    }
    default:
        if (key & 1 && parent->size > 1) {
            made_by = "merged from two";
            made = merged_from_two(parent, key);
            break;
        }
        made_by = "dup_with_info";
        MPI_Comm_dup_with_info(parent->comm, MPI_INFO_NULL, &made);
    }
done:
    slot_free(s);
    s->comm = made;
    slot_learn(s, made == MPI_COMM_NULL ? "left out" : made_by);
}

/* Slots 0 and 1 stay the world and self; the others begin as the world's
 * duplicates. */
static void slots_start(void)
{
    for (int i = 0; i < SLOTS; i++) {
        slots[i].comm = MPI_COMM_NULL;
        if (i == 0)
            slots[i].comm = MPI_COMM_WORLD;
        else if (i == 1)
            slots[i].comm = MPI_COMM_SELF;
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &slots[i].comm);
        slot_learn(&slots[i], i == 0 ? "world" : i == 1 ? "self" : "dup");
    }
}

static void slots_end(void)
{
    for (int i = 0; i < SLOTS; i++)
        slot_free(&slots[i]);
}

#endif
