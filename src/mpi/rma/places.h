/*
 * places.h - where this member has mapped what the host has allocated for a
 * window, at itself and at the others.
 *
 * Hosts place the members' parts of such a window one after another in one
 * file, and every member maps that file. Three ways find the parts:
 *
 *   asked     the host tells the parts of a window of MPI_Win_allocate_shared
 *   guessed   a member adds up the sizes. A guess proves right by marks: each
 *             owner writes a number into its part, and a member looks whether
 *             the number stands where it has guessed
 *   searched  a member reads the system's list of its mappings, and finds the
 *             file there. The list grows with the program's libraries, so the
 *             members search only where a guess was wrong
 *
 * A member without a part of its own may not know where to begin its guess. It
 * searches when it first accesses another's part, and programs often access
 * none. If it finds nothing then, the system copies (far.h). So it can promise
 * that it reaches all others, if the system copies between them.
 *
 * Why a mark harms no program: no member returns to its program before each
 * owner has put back what its mark has replaced. The program does not know the
 * memory yet, and the host writes to it only for accesses.
 *
 * Why a mark is a proof: it has 62 bits that no program can have chosen, and no
 * two parts have the same. Other memory holds other numbers. The member asks
 * the kernel to compare, so a guess may point anywhere. A part of less than two
 * words has half as many bits; one of no whole word has no mark, nor has any
 * where a device's memory may come.
 */
#ifndef SW_MPI_RMA_PLACES_H
#define SW_MPI_RMA_PLACES_H

#include "window.h"

/* An owner's part of a window, as it tells the others. */
typedef struct {
    uint64_t bytes;
    uint64_t mark; /* 0: there is none */
} sw_part_of_window_t;

/* What a mark has replaced. */
typedef struct {
    _Atomic uint32_t *word[2];
    uint32_t old[2];
} sw_marked_t;

/* Marks this member's own part. Returns the mark; 0: the part is too short, or
 * the system compares nothing. */
uint64_t sw_places_mark(void *base, uint64_t bytes, sw_marked_t *marked);
void sw_places_unmark(sw_marked_t *marked);

/* Each finds the parts of all others, where they have bytes: at[i]. False: not
 * all of them. */
bool sw_places_ask(MPI_Win win, const sw_part_of_window_t *part, int n, int me,
                   void **at);
bool sw_places_guess(const void *base, const sw_part_of_window_t *part, int n,
                     int me, void **at);

/* The first access to a target comes, whose memory is unsearched. */
void sw_places_search(sw_win_target_t *target);

#endif
