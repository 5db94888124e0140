/*
 * refuse.c - run a program to which the system refuses some calls, as a
 * container may: a seccomp filter, for good and for all its children.
 *
 * Usage: refuse NAME... -- PROGRAM [ARGUMENT]...
 *
 * NAME is memfd, cma, flock, exec (all but that of PROGRAM) or spawn (starting
 * a child as posix_spawn does). Exit status 77: the system has no seccomp.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST 64
#define SKIPPED 77

static struct sock_filter filter[MOST];
static unsigned short length;

static void add(uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
    filter[length++] = (struct sock_filter){code, yes, no, k};
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(int error)
{
    add(BPF_RET | BPF_K,
        error ? SECCOMP_RET_ERRNO | (uint32_t)error : SECCOMP_RET_ALLOW, 0, 0);
}

static void refuse(long number, int error)
{
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
    answer(error);
}

/* Unless the lower half of the first argument is `but`. */
static void refuse_but(long number, uint32_t but, int error)
{
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3);
    load(offsetof(struct seccomp_data, args[0]));
    add(BPF_JMP | BPF_JEQ | BPF_K, but, 1, 0);
    answer(error);
}

/* Where the first argument has one of these bits. */
static void refuse_with(long number, uint32_t bits, int error)
{
    load(offsetof(struct seccomp_data, nr));
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3);
    load(offsetof(struct seccomp_data, args[0]));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
    answer(error);
}

/* `path` is where no other path will ever be. */
static int choose(const char *name, const char *path)
{
    if (!strcmp(name, "memfd"))
        refuse(SYS_memfd_create, EPERM);
    else if (!strcmp(name, "cma"))
        refuse(SYS_process_vm_readv, EPERM);
    else if (!strcmp(name, "flock"))
        refuse(SYS_flock, ENOSYS);
    else if (!strcmp(name, "exec"))
        refuse_but(SYS_execve, (uint32_t)(uintptr_t)path, EPERM);
    else if (!strcmp(name, "spawn")) {
        refuse(435 /* clone3 */, ENOSYS);
        refuse_with(SYS_clone, CLONE_VFORK, EAGAIN);
    } else
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int i = 1;

    for (; i < argc && strcmp(argv[i], "--"); i++)
        if (path == MAP_FAILED || choose(argv[i], path)) {
            fprintf(stderr, "refuse: what is %s?\n", argv[i]);
            return 2;
        }
    if (++i >= argc || strlen(argv[i]) >= 4096)
        return 2;
    answer(0);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("refuse: seccomp");
        return SKIPPED;
    }
    strcpy(path, argv[i]);
    execv(path, argv + i);
    perror(path);
    return 1;
}
