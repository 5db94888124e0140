/*
 * comms.c - the rows of communicators.
 *
 * A row's id is made of its parent's, of how many communicators the parent's
 * members have made together, and of its first member. So all members find the
 * same id, and need not communicate. Where only its own members make it, the
 * id is made of all their ranks, and of how many of just these members came
 * before. Two threads that make such at once, of the same members, may spoil
 * the ids, and so a report; nothing else depends on them.
 *
 * The row goes to another communicator when this one is gone, the longest
 * unused row first.
 */
#include "watched.h"

#include "mpi/base/guard.h"

#include <stdlib.h>
#include <string.h>

sw_watched_comm_t sw_watched_no_comm;

/* Rows that were used and are free: a ring, in the order in which they became
 * so. */
static struct {
    uint16_t row[SW_WATCH_COMMS];
    uint32_t used; /* rows that were used at all, row 0 among them */
    uint32_t first, count;
} spare = {.used = 1};

/* What is kept of a row's communicator, until the row is another one's: a
 * request may outlive its communicator. */
static sw_watched_comm_t parts[SW_WATCH_COMMS];

static uint32_t take_row(void)
{
    uint32_t row = 0;
    sw_watch_lock(SW_WATCH_LOCK_COMMS);
    if (spare.used < SW_WATCH_COMMS) {
        row = spare.used++;
    } else if (spare.count) {
        row = spare.row[spare.first];
        spare.first = (spare.first + 1) % SW_WATCH_COMMS;
        spare.count--;
        sw_watched_forget_pairs(row);
        sw_members_drop(parts[row].targets);
        memset(&sw_watch->comms[row], 0, sizeof sw_watch->comms[row]);
    }
    sw_watch_unlock(SW_WATCH_LOCK_COMMS);
    if (!row)
        sw_watch_lose(comms);
    return row;
}

/* The communicator's state goes. */
static void free_part(void *part)
{
    const sw_watched_comm_t *c = part;
    sw_watch_lock(SW_WATCH_LOCK_COMMS);
    c->shown->freed = true;
    spare.row[(spare.first + spare.count++) % SW_WATCH_COMMS] = (uint16_t)
                                                                    c->row;
    sw_watch_unlock(SW_WATCH_LOCK_COMMS);
}

const sw_watched_comm_t *sw_watched_comm_of(uint32_t row)
{
    return &parts[row];
}

sw_comm_part_t sw_watched_comm_part = {.free = free_part};

/* So many communicators have been made by these members alone. */
typedef struct made {
    struct made *next;
    uint64_t members; /* their hash */
    uint64_t count;
} made_t;

static uint64_t count_of(uint64_t members)
{
    static made_t *made[64];
    made_t **bucket = &made[members % 64], *m;
    sw_watch_lock(SW_WATCH_LOCK_COMMS);
    for (m = *bucket; m && m->members != members; m = m->next)
        ;
    if (!m && (m = calloc(1, sizeof *m))) {
        *m = (made_t){*bucket, members, 0};
        *bucket = m;
    }
    uint64_t count = m ? ++m->count : 0;
    sw_watch_unlock(SW_WATCH_LOCK_COMMS);
    return count;
}

static sw_members_t *remote_members(MPI_Comm comm, int *n)
{
    MPI_Group remote;
    host.Comm_remote_size(comm, n);
    host.Comm_remote_group(comm, &remote);
    sw_members_t *m = sw_members_of(remote, *n);
    host.Group_free(&remote);
    return m;
}

/* Both sides of an intercommunicator find the same. */
static uint64_t mix_groups(const sw_members_t *own, const sw_members_t *others)
{
    uint64_t a = own->hash, b = others->hash;
    return a < b ? sw_members_mix(a, b) : sw_members_mix(b, a);
}

/* Alike on all members; 0: some have no rank in MPI_COMM_WORLD. */
static uint64_t id_of(uint64_t made, const sw_members_t *own,
                      const sw_members_t *targets)
{
    if (!own || !own->all || !targets || !targets->all || !own->n)
        return 0;
    uint64_t those = own == targets ? own->hash : mix_groups(own, targets);
    if (made == SW_WATCHED_ALONE)
        return sw_members_mix(those, count_of(those)) | 1;
    return sw_members_mix(made,
                          own == targets ? (uint64_t)own->rank[0] : those) |
           1;
}

void sw_watched_comm_meet(MPI_Comm comm, uint64_t made)
{
    SW_INSIDE_LOCAL;
    int inter = 0, n = 0;
    sw_comm_t *state = comm == MPI_COMM_NULL ? NULL : sw_comm_state(comm);
    uint32_t row = state && sw_watched_comm(comm) == &sw_watched_no_comm
                       ? take_row()
                       : 0;
    if (!row)
        return;
    sw_members_t *own = sw_comm_members(state), *targets = own;
    host.Comm_test_inter(comm, &inter);
    if (inter)
        targets = own ? remote_members(comm, &n) : NULL;
    else if (own)
        sw_members_hold(own);
    sw_watch_comm_t *shown = &sw_watch->comms[row];
    shown->size = state->n;
    shown->rank = state->me;
    shown->remote = n;
    shown->first = own && own->n ? own->rank[0] : SW_WATCH_FOREIGN;
    shown->id = id_of(made, own, targets);
    parts[row] = (sw_watched_comm_t){
        .shown = shown, .row = row, .targets = targets};
    void *none = NULL;
    if (!atomic_compare_exchange_strong(
            &state->part[sw_watched_comm_part.place], &none,
            (void *)&parts[row]))
        free_part(&parts[row]);
}

uint64_t sw_watched_comm_promise(MPI_Comm parent)
{
    sw_watched_comm_t *c = sw_watched_comm(parent);
    return sw_members_mix(
        c->shown ? c->shown->id : 0,
        __atomic_add_fetch(&c->children, 1, __ATOMIC_RELAXED));
}

void sw_watched_comm_made(MPI_Comm parent, MPI_Comm comm)
{
    uint64_t made = parent == MPI_COMM_NULL ? SW_WATCHED_ALONE
                                            : sw_watched_comm_promise(parent);
    if (comm != MPI_COMM_NULL)
        sw_watched_comm_meet(comm, made);
}

void sw_watched_comm_named(MPI_Comm comm, const char *name)
{
    sw_watched_comm_t *c = sw_watched_comm(comm);
    size_t n = strnlen(name, SW_WATCH_TEXT - 1);
    if (!c->row)
        return;
    memcpy(c->shown->name, name, n);
    c->shown->name[n] = '\0';
}

uint64_t sw_watched_next(const sw_watched_comm_t *c, uint32_t procedure,
                         int32_t root)
{
    sw_watch_comm_t *shown = c->shown;
    if (sw_unlikely(!c->row))
        return 0;
    uint64_t n = sw_counter_add(&shown->begun, 1, sw_threaded,
                                memory_order_relaxed);
    shown->recent[n % SW_WATCH_RECENT].procedure = procedure;
    shown->recent[n % SW_WATCH_RECENT].root = root;
    return n;
}
