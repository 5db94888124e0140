/*
 * members.c - see members.h.
 */
#include "members.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sw_members_t *table[BUCKETS];

static bool translate(MPI_Group group, sw_members_t *to)
{
    MPI_Group all;
    int n = to->n, *from = malloc((size_t)(n + !n) * sizeof *from);
    if (!from)
        return false;
    for (int i = 0; i < n; i++)
        from[i] = i;
    host.Comm_group(MPI_COMM_WORLD, &all);
    host.Group_translate_ranks(group, n, from, all, to->rank);
    host.Group_free(&all);
    free(from);
    to->all = true;
    to->hash = (uint64_t)n;
    for (int i = 0; i < n; i++) {
        if (to->rank[i] == MPI_UNDEFINED)
            to->rank[i] = -1;
        to->all &= to->rank[i] >= 0;
        to->hash = sw_members_mix(to->hash, (uint32_t)to->rank[i]);
    }
    return true;
}

static bool alike(const sw_members_t *a, const sw_members_t *b)
{
    return a->hash == b->hash && a->n == b->n &&
           !memcmp(a->rank, b->rank, (size_t)a->n * sizeof *a->rank);
}

sw_members_t *sw_members_of(MPI_Group group, int n)
{
    sw_members_t *mine = calloc(1,
                                sizeof *mine + (size_t)n * sizeof *mine->rank);
    if (mine)
        mine->n = n;
    if (!mine || !translate(group, mine)) {
        free(mine);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    sw_members_t **bucket = &table[mine->hash % BUCKETS], *m = *bucket;
    while (m && !alike(m, mine))
        m = m->next;
    if (!m) {
        m = mine;
        m->next = *bucket;
        *bucket = m;
    }
    m->holds++;
    pthread_mutex_unlock(&lock);
    if (m != mine)
        free(mine);
    return m;
}

void sw_members_hold(sw_members_t *m)
{
    pthread_mutex_lock(&lock);
    m->holds++;
    pthread_mutex_unlock(&lock);
}

void sw_members_drop(sw_members_t *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&lock);
    bool last = --m->holds == 0;
    sw_members_t **link = &table[m->hash % BUCKETS];
    while (last && *link != m)
        link = &(*link)->next;
    if (last)
        *link = m->next;
    pthread_mutex_unlock(&lock);
    if (last) {
        free(m);
    }
}
