/*
 * cma.h - does this system copy memory between processes at all? An emulator of
 * processors (qemu-user) has no such call. A kernel that has it, and refuses,
 * is another matter: there the rooms' tests fail.
 */
#ifndef CMA_H
#define CMA_H

#include <errno.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

static inline bool knows_cma(void)
{
    char from = 1, to = 0;
    struct iovec here = {&to, 1}, there = {&from, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 ||
           errno != ENOSYS;
}

#endif
