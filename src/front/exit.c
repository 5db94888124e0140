/*
 * exit.c - programs that leave by _exit, past every destructor.
 *
 * Open MPI ends a process so after an error that is fatal, and Python's
 * os._exit calls it, too. A profile must be written before. In a child of fork
 * or vfork nothing happens: its process is not the one that is watched.
 */
#include "profile/capture/ending.h"

#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noreturn)) static void leave(int status)
{
    sw_ending_now(SW_END_EXIT);
    while (true)
        syscall(SYS_exit_group, status);
}

SW_API void _exit(int status)
{
    leave(status);
}

SW_API void _Exit(int status)
{
    leave(status);
}
