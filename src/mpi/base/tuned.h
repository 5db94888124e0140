/*
 * tuned.h - what `straightway tune` found on this machine (coll/ways.h), in
 * force.
 *
 * Which collectives the host does faster: all ranks of the node must have read
 * the same, so each tells the hash of its table in the handshake of MPI_Init
 * (roster.c). Where two differ the table serves none. A communicator on one
 * node goes by the entry with as many ranks as it has. The members of a
 * call ask with the collective, its form, and its bytes by signature.
 *
 * Settings: of the entry with as many ranks as the node has. None of them needs
 * an agreement: docs/one-decision.md says why. What the user has set stays.
 */
#ifndef SW_MPI_BASE_TUNED_H
#define SW_MPI_BASE_TUNED_H

#include "coll/ways.h"

/* Reads the file, and puts the settings in force for so many ranks. Returns
 * the table's hash, or 0. */
uint64_t sw_tuned_start(int ranks);

/* Do all ranks of the node have the same table? `speaks`: this rank says so
 * where they do not. */
void sw_tuned_agree(bool alike, bool speaks);

/* The table's entry for a communicator of so many members on one node; NULL:
 * ours serve it. */
const sw_ways_entry_t *sw_tuned_find(int members);

/* Does the host serve a collective of so many bytes by signature? `form`:
 * sw_call_form_t. */
static inline bool sw_tuned_hosts(const sw_ways_entry_t *entry, int form,
                                  sw_collective_t id, size_t bytes)
{
    return entry->form[form].way[id][sw_ways_class(bytes)] == SW_WAY_HOST;
}

#endif
