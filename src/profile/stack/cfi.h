/*
 * cfi.h - from an address to the rule that leads out of its frame.
 *
 * Compilers describe, for every address of a program, where the frame of its
 * function keeps what the caller needs back. That is .eh_frame, which C++
 * exceptions need, too, so it is there in almost all programs. A profiler's
 * unwinder needs little of it: the caller's stack pointer (the *CFA*, canonical
 * frame address), return address and frame pointer. What cannot be said in
 * this structure ends the stack there.
 */
#ifndef SW_PROFILE_STACK_CFI_H
#define SW_PROFILE_STACK_CFI_H

#include "node/base/base.h"

#include <link.h>

/* What the CFA is computed from. */
enum {
    SW_CFA_NONE, /* no rule, or the outermost frame: the end */
    SW_CFA_SP,   /* the stack pointer + cfa */
    SW_CFA_BP,   /* the frame pointer + cfa */
    /* the word at the frame pointer + cfa: frames that are aligned more than
     * the ABI asks */
    SW_CFA_BP_LOAD,
    SW_CFA_SIGNAL, /* the kernel's frame of a signal */
};

/* Where the caller's frame pointer is. */
enum {
    SW_BP_SAME, /* still in its register */
    SW_BP_CFA,  /* saved at CFA + bp */
    SW_BP_BP,   /* saved at this frame's frame pointer + bp */
    SW_BP_LOST,
};

typedef struct {
    int32_t cfa, ra, bp; /* the return address is at CFA + ra */
    uint8_t cfa_from, bp_from;
} sw_cfi_rule_t;

/* The rule at `address` in the object of these program headers, which is
 * loaded at `bias`. Reads nothing outside the object. */
sw_cfi_rule_t sw_cfi_rule(const ElfW(Phdr) *phdr, uint32_t phnum,
                          uintptr_t bias, uintptr_t address);

#endif
