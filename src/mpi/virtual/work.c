/*
 * work.c - requests under way, in virtual time; see virtual.h.
 *
 * profile/record/pending.h keeps one entry for a handle. Here there may be
 * many: hosts have one handle for all sends that are over before they begin,
 * but in virtual time they are not. A table of chains, each in the order in
 * which the operations were begun.
 */
#include "virtual.h"

#include "node/base/grow.h"

#include <stdlib.h>

#define CHAINS 4096u

static sw_work_t *chain[CHAINS], *spare;

/* Numbers that are free again, and the next new one: the engine is glad of
 * small ones. */
static uint32_t *freed, freed_count, freed_room, numbers = 1;

/* Under MPICH and its kin a persistent receive that was asked for its status
 * has none any more. */
#ifdef OMPI_MAJOR_VERSION
#define ASKS_PERSISTENT true
#else
#define ASKS_PERSISTENT false
#endif

static uint32_t wilds; /* receives with wildcards */

static sw_work_t **home(uint64_t handle)
{
    return &chain[sw_host_handle_mix(handle) % CHAINS];
}

uint32_t sw_work_number(void)
{
    return freed_count ? freed[--freed_count] : numbers++;
}

/* Without memory the number is not used again. */
void sw_work_number_free(uint32_t number)
{
    if (number && sw_grow(&freed, freed_count, &freed_room, sizeof *freed))
        freed[freed_count++] = number;
}

sw_work_t *sw_work_new(sw_known_comm_t *c, const sw_vop_t *op)
{
    sw_work_t *w = spare;
    if (w)
        spare = w->next;
    else if (!(w = malloc(sizeof *w)))
        return NULL;
    *w = (sw_work_t){.comm = c,
                     .op = *op,
                     .from.comm = MPI_COMM_NULL,
                     .makes.comm = MPI_COMM_NULL};
    if (!op->request)
        w->op.request = sw_work_number();
    return w;
}

void sw_work_add(sw_work_t *work, uint64_t handle)
{
    sw_work_t **link = home(handle);
    work->handle = handle;
    work->thread = sw_virtual_number();
    work->next = NULL;
    while (*link)
        link = &(*link)->next;
    *link = work;
}

sw_work_t *sw_work_take(uint64_t handle)
{
    sw_work_t *w = NULL;
    uint32_t thread = sw_virtual_number();
    for (sw_work_t *at = *home(handle); at; at = at->next)
        if (at->handle == handle && !at->taken &&
            (!w || at->thread == thread)) {
            w = at;
            if (at->thread == thread)
                break;
        }
    if (w)
        w->taken = true;
    return w;
}

void sw_work_back(sw_work_t *work)
{
    if (work)
        work->taken = false;
}

static void unlink_work(sw_work_t *work)
{
    sw_work_t **link = home(work->handle);
    while (*link != work)
        link = &(*link)->next;
    *link = work->next;
}

static bool waits_for_host(const sw_work_t *w)
{
    return w->wild && w->active && !w->told && !w->cancelled;
}

bool sw_work_undecided(void)
{
    for (uint32_t i = 0; wilds && i < CHAINS; i++)
        for (const sw_work_t *w = chain[i]; w; w = w->next)
            if (waits_for_host(w))
                return true;
    return false;
}

void sw_work_await(const sw_work_t *w)
{
    sw_virtual_tell(SW_OP_WAIT, w->op.request);
    for (uint32_t i = 0; i < w->other_count; i++)
        sw_virtual_tell(SW_OP_WAIT, w->others[i]);
}

void sw_work_over(sw_work_t *w)
{
    for (uint32_t i = 0; !w->done && i < w->other_count; i++)
        sw_virtual_tell(SW_OP_WAIT, w->others[i]);
    w->done = true;
}

void sw_work_drop(const sw_work_t *w, unsigned flags)
{
    sw_virtual_put(&(sw_vop_t){.kind = SW_OP_DROP,
                               .request = w->op.request,
                               .flags = (uint16_t)flags});
    for (uint32_t i = 0; i < w->other_count; i++)
        sw_virtual_tell(SW_OP_DROP, w->others[i]);
}

void sw_work_matched(sw_work_t *w, const MPI_Status *status)
{
    int64_t from = sw_known_rank(w->comm, status->MPI_SOURCE);
    if (w->told || from < 0)
        return;
    w->told = true;
    sw_virtual_put(&(sw_vop_t){.kind = SW_OP_MATCHED,
                               .request = w->op.request,
                               .peer = (int32_t)from,
                               .tag = status->MPI_TAG});
}

void sw_work_tell_matched(void)
{
    for (uint32_t i = 0; wilds && i < CHAINS; i++)
        for (sw_work_t *w = chain[i]; w; w = w->next) {
            int flag = 0;
            MPI_Status status;
            /* Those that another thread has taken it tells itself. */
            if (waits_for_host(w) && !(sw_virtual_shared && w->taken) &&
                (!w->persistent || ASKS_PERSISTENT) &&
                served.Request_get_status((MPI_Request)(uintptr_t)w->handle,
                                          &flag, &status) == MPI_SUCCESS &&
                flag)
                sw_work_matched(w, &status);
        }
}

void sw_work_wild(sw_work_t *work)
{
    work->wild = true;
    wilds++;
}

void sw_work_end(sw_work_t *work)
{
    wilds -= work->wild;
    unlink_work(work);
    sw_work_number_free(work->op.request);
    for (uint32_t i = 0; i < work->other_count; i++)
        sw_work_number_free(work->others[i]);
    free(work->others);
    free(work->parts);
    work->next = spare;
    spare = work;
}

void sw_work_rename(sw_work_t *work, uint64_t handle)
{
    if (work->handle == handle)
        return;
    unlink_work(work);
    sw_work_add(work, handle);
}
