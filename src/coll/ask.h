/*
 * ask.h - a copy that the system refuses is made by the memory's owner.
 *
 * The system may refuse a copy between two processes at any time: a program
 * drops its rights after MPI_Init, say. And where the common zone is full, no
 * copy stands in for memory that no peer maps. A member then *asks* the owner,
 * which waits for it anyway: memory is offered until its readers and writers
 * are done. So each wait of a member answers what the others ask of it.
 *
 *   asker    writes its question, and the bytes to be written, then asked = k
 *   owner    copies between its memory and the asker's box, then answered = k
 *   asker    takes the bytes that it reads out of its box
 *
 * The questions lie in the members' columns, the boxes behind the stagings.
 * Each word has one writer. `asked` and `answered` are stored with release and
 * loaded with acquire, so that either side sees the box as the other left it.
 * `asked` names the owner, too: only the owner looks at the rest, which may
 * change as soon as it has answered.
 *
 * No cycle: an asker answers others while it waits. An owner leaves its memory
 * only after all its readers and writers are done (sequence.h), and none is
 * done before it has its answers.
 */
#ifndef SW_COLL_ASK_H
#define SW_COLL_ASK_H

#include "sequence.h"

/* Copies n bytes at `offset` of a member's part, by plain loads, by the system,
 * or by asking its owner. Returns SW_OK, or SW_BROKEN where a member has died
 * or given up. */
int sw_sequence_read(sw_sequence_t *seq, int member, const sw_part_t *part,
                     uint64_t offset, void *to, size_t n);
int sw_sequence_write(sw_sequence_t *seq, int member, const sw_part_t *part,
                      uint64_t offset, const void *from, size_t n);

#endif
