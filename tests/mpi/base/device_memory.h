/*
 * device_memory.h - memory of a device that does not exist, and a host that
 * serves it.
 *
 * The device's memory is pages without access (tests/device/standin/cuda/).
 * A host built for devices would copy from and to them, but the hosts here were
 * not. So this header catches each fault. It lets the host's through, by a
 * single step with the page open. Any other fault ends the test with the name
 * of the object that touched the page. On machines other than x86-64 the pages
 * stay open until the next call of device_close.
 *
 * DEVICE_STRICT in the environment: the host touches nothing either.
 */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "gpu_memory.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

static char *device_open;  /* pages that can be touched just now */
static bool device_strict; /* the host must not touch it either */
#define DEVICE_OPEN 8192

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* The object whose function, or whose call of libc, is at `pc`. */
static const char *who(const void *pc)
{
    void *frame[32];
    int n = backtrace(frame, 32), at = 0;
    Dl_info info;
    while (at < n && frame[at] != pc)
        at++;
    for (; at < n; at++) {
        if (!dladdr(frame[at], &info))
            continue;
        const char *name = last_part(info.dli_fname);
        if (strncmp(name, "libc.so", 7) && strncmp(name, "libc-", 5) &&
            strncmp(name, "ld-linux", 8))
            return name;
    }
    return "?";
}

/* The hosts' libraries, and what they stand on. */
static bool is_host(const char *name)
{
    static const char *const host[] = {
        "libmpi", "libmpich", "libopen-pal", "libopen-rte", "mca_",    "libucs",
        "libuct", "libucp",   "libfabric",   "libpmpi",     "libyaksa"};
    for (size_t i = 0; i < LENGTH(host); i++)
        if (!strncmp(name, host[i], strlen(host[i])))
            return true;
    return false;
}

static void device_close(void)
{
    if (device_open)
        mprotect(device_open, DEVICE_OPEN, PROT_NONE);
    device_open = NULL;
}

static void step(ucontext_t *context, bool one)
{
#if defined(__x86_64__)
    greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];
    *flags = one ? *flags | 0x100 : *flags & ~0x100;
#endif
}

/* Instruction and stack pointer. */
static void place_of_fault(const ucontext_t *context, uintptr_t at[2])
{
#if defined(__x86_64__)
    at[0] = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    at[1] = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    at[0] = (uintptr_t)context->uc_mcontext.pc;
    at[1] = (uintptr_t)context->uc_mcontext.sp;
#endif
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    static char text[256];
    char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)4095);
    /* A loop over the bytes is one caller's: its frame stays where it is. */
    static uintptr_t last[2];
    uintptr_t at[2];
    place_of_fault(context, at);
    bool same = at[0] == last[0] && at[1] == last[1];
    memcpy(last, at, sizeof last);
    const char *name = !device_alias(info->si_addr) ? ""
                       : same                       ? "libmpi"
                                                    : who((void *)at[0]);
    if (device_strict || !is_host(name)) {
        int n = snprintf(text, sizeof text, "rank %d: %s touched %p\n",
                         world_rank, *name ? name : "something", info->si_addr);
        if (write(2, text, (size_t)n) < 0)
            _exit(98);
        signal(SIGSEGV, SIG_DFL);
        return;
    }
    device_close();
    device_open = page;
    mprotect(page, DEVICE_OPEN, PROT_READ | PROT_WRITE);
    step(context, true);
}

static void on_step(int number, siginfo_t *info, void *context)
{
    step(context, false);
    device_close();
}

/* Load the driver. Memory beyond what is used keeps the pages that
 * are opened inside the device's. */
static void device_start(const char *library)
{
    void *frame[4];
    backtrace(frame, 4); /* what it loads it loads now */
    device_strict = getenv("DEVICE_STRICT");
    device_load(library);
    if (device_real) /* the processor reaches none of its pages */
        return;
    struct sigaction act = {.sa_flags = SA_SIGINFO};
    act.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &act, NULL);
    act.sa_sigaction = on_step;
    sigaction(SIGTRAP, &act, NULL);
}

#endif
