/*
 * Stacks that are not simply a thread's: a coroutine's, a signal handler's on
 * either stack, code without tables, registers that hold nonsense. Where the
 * way out is known, the stack is whole; where not, it ends, and nothing breaks.
 */
#include "oracle.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define DEPTH 16

static uint32_t site;
static void *back[80];
static int n;

__attribute__((noinline)) static void wrapper(void)
{
    sw_caller_t from = SW_CALLER();
    site = sw_site(&from);
    n = outside(from.pc, back, 80);
}

static void check_whole(void)
{
    must(site_is(site, back, n, DEPTH));
}

/* At least `least` frames, all of them right. (What a signal interrupted is
 * no return address: there, the offset is that of the instruction itself.) */
static void check_begin(int least)
{
    must(site);
    const sw_site_t *s = sw_table_row(&sw_sites, site);
    must(s->natives >= least);
    for (int i = 0; i < s->natives && i < n; i++)
        must(frame_is(s->frames[i], (uintptr_t)back[i] - 1) ||
             frame_is(s->frames[i], (uintptr_t)back[i]));
}

static ucontext_t home, away;
static volatile int arrived;

__attribute__((noinline)) static void deeper(int levels)
{
    if (levels)
        deeper(levels - 1);
    else
        wrapper();
    arrived++;
}

static void coroutine(void)
{
    deeper(5);
    swapcontext(&away, &home);
}

static void on_foreign_stack(void)
{
    for (int i = 0; i < 20; i++) {
        size_t size = 65536;
        char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        must(stack != MAP_FAILED);
        getcontext(&away);
        away.uc_stack.ss_sp = stack;
        away.uc_stack.ss_size = size;
        away.uc_link = NULL;
        makecontext(&away, coroutine, 0);
        swapcontext(&home, &away);
        check_begin(7);
        munmap(stack, size);
    }
}

static void handler(int signal)
{
    deeper(2);
}

__attribute__((noinline)) static void interrupted(void)
{
    must(raise(SIGUSR1) == 0);
    arrived++;
}

static void in_handlers(void)
{
    struct sigaction action = {.sa_handler = handler};
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    interrupted();
#if defined(__x86_64__)
    check_begin(8); /* through the kernel's frame, too */
#else
    check_begin(4);
#endif
    stack_t alternative = {.ss_sp = malloc(65536), .ss_size = 65536};
    must(sigaltstack(&alternative, NULL) == 0);
    action.sa_flags = SA_ONSTACK;
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    interrupted();
    check_begin(4);
    alternative.ss_flags = SS_DISABLE;
    must(sigaltstack(&alternative, NULL) == 0);
    free(alternative.ss_sp);
}

/* A function without a table that calls its argument. */
void without_tables(void (*call)(void));
#if defined(__x86_64__)
__asm__(".text\n.type without_tables, @function\nwithout_tables:\n"
        "  push %rbx\n  mov %rsp, %rbx\n  sub $48, %rsp\n  and $-16, %rsp\n"
        "  call *%rdi\n  mov %rbx, %rsp\n  pop %rbx\n  ret\n"
        ".size without_tables, . - without_tables\n");
#else
__asm__(".text\n.type without_tables, %function\nwithout_tables:\n"
        "  stp x29, x30, [sp, -32]!\n  blr x0\n  ldp x29, x30, [sp], 32\n"
        "  ret\n.size without_tables, . - without_tables\n");
#endif

static void to_wrapper(void)
{
    wrapper();
    arrived++;
}

static void from_unknown_code(void)
{
    void (*volatile call)(void (*)(void)) = without_tables;
    call(to_wrapper);
    must(site);
    const sw_site_t *s = sw_table_row(&sw_sites, site);
    must(s->natives == 2);
    call(wrapper);
    s = sw_table_row(&sw_sites, site);
    must(s->natives == 1);
}

/* Code that was made at run time: in no module. */
static void from_made_code(void)
{
#if defined(__x86_64__)
    static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
                                         0x48, 0x83, 0xc4, 0x08, 0xc3};
#else
    static const uint32_t code[] = {0xa9bf7bfd, 0xd63f0000, 0xa8c17bfd,
                                    0xd65f03c0};
#endif
    void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(made != MAP_FAILED);
    memcpy(made, code, sizeof code);
    must(mprotect(made, 4096, PROT_READ | PROT_EXEC) == 0);
    __builtin___clear_cache(made, (char *)made + 4096);
    for (int i = 0; i < 3; i++) {
        ((void (*)(void (*)(void)))made)(wrapper);
        must(site);
        const sw_site_t *s = sw_table_row(&sw_sites, site);
        must(s->natives == 1);
        const sw_frame_t *f = sw_table_row(&sw_frames, s->frames[0]);
        must(f->place == 0 && f->offset - (uintptr_t)made < 4096);
    }
    munmap(made, 4096);
}

/* Any registers at all. */
static void from_nonsense(void)
{
    static char page[3 * 4096];
    unsigned long state = 7;
    deeper(1);
    char here;
    for (int i = 0; i < 200000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uintptr_t random = state >> 20;
        sw_caller_t from = {
            .pc = i % 3 ? (uintptr_t)back[i % 4] : random,
            .sp = i % 5 == 0   ? random
                  : i % 5 == 1 ? (uintptr_t)page + random % sizeof page
                  : i % 5 == 2 ? random << 30
                               : (uintptr_t)&here + random % 40000,
            .bp = i % 2 ? (uintptr_t)&here + random % 4000 : random};
        must(sw_site(&from));
    }
}

/* Layers below the program are left out, when they are said to be. */
static void skipping(void)
{
    int two[2] = {0, 0};
    must(sw_site_skip_module("libc.so*"));
    must(sw_site_skip_module("libc.so*"));
    qsort(two, 2, sizeof *two, (int (*)(const void *, const void *))wrapper);
    must(site);
    const sw_site_t *s = sw_table_row(&sw_sites, site);
    int i = 0;
    for (Dl_info info; i < n; i++)
        if (!dladdr(back[i], &info) || !strstr(info.dli_fname, "libc.so"))
            break;
    must(i > 0 && s->natives >= 2);
    must(frame_is(s->frames[0], (uintptr_t)back[i] - 1));
    must(frame_is(s->frames[1], (uintptr_t)back[i + 1] - 1));
}

static void *in_thread(void *none)
{
    deeper(3);
    check_whole();
    on_foreign_stack();
    in_handlers();
    return none;
}

int main(void)
{
    must(sw_site_depth(DEPTH));
    deeper(3);
    check_whole();
    on_foreign_stack();
    in_handlers();
    from_unknown_code();
    from_made_code();
    pthread_t thread;
    must(pthread_create(&thread, NULL, in_thread, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    from_nonsense();
    skipping();
    return 0;
}
