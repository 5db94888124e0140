/*
 * The stand-in for CUDA's driver finds each kind of fault, where the program
 * meets it on hardware: in the call, or in the next wait. A second device's
 * memory is a fault, too, until the program asks for access.
 */
#include "driven.h"

static void touch(at_t at)
{
    void *parameter[] = {&at};
    CU(cuLaunchKernel(kernel("standin_touch"), 1, 1, 1, 1, 1, 1, 0, stream,
                      parameter, NULL));
}

/* A kernel's fault is seen by the next wait, and stays. */
static void spoils(int code)
{
    at_t at;
    handle_t event;
    CODE(code, cuStreamSynchronize(stream));
    MUST(standin.faults() == 1);
    CODE(code, cuMemAlloc_v2(&at, 100));
    CODE(code, cuEventCreate(&event, 0));
    CODE(code, cuCtxSynchronize());
}

static void leaves_a_block(void)
{
    driven_start();
    at_t at = allocate(100);
    touch(at + 99);
    CU(cuStreamSynchronize(stream));
    touch(at + 100);
    spoils(700);
}

static void store_word(at_t at)
{
    unsigned value = 1;
    void *parameter[] = {&at, &value};
    CU(cuLaunchKernel(kernel("probe_flag"), 1, 1, 1, 1, 1, 1, 0, stream,
                      parameter, NULL));
}

static void leaves_with_half_a_unit(void)
{
    driven_start();
    at_t at = allocate(103);
    store_word(at + 96);
    CU(cuStreamSynchronize(stream));
    store_word(at + 100);
    spoils(700);
}

static void uses_a_freed_block(void)
{
    driven_start();
    at_t at = allocate(100);
    CU(cuMemFree_v2(at));
    touch(at);
    spoils(700);
}

/* A copy that waits in its stream while another stream frees the memory. */
static void frees_what_waits(void)
{
    handle_t other, freed;
    at_t at, to;
    driven_start();
    to = allocate(100);
    CU(cuStreamCreate(&other, 1));
    CU(cuEventCreate(&freed, NO_TIMING));
    CU(cuMemAllocAsync(&at, 100, stream));
    standin.hold();
    CU(cuMemFreeAsync(at, other));
    CU(cuEventRecord(freed, other));
    CU(cuStreamWaitEvent(stream, freed, 0));
    CU(cuMemcpyDtoDAsync_v2(to, at, 100, stream));
    standin.release();
    spoils(700);
}

static void reads_the_host(void)
{
    static char here;
    driven_start();
    touch((uintptr_t)&here);
    spoils(700);
}

static void is_unaligned(void)
{
    driven_start();
    store_word(allocate(100) + 2);
    spoils(716);
}

/* The processor has no access to a device's memory. */
static void is_touched_by_the_processor(void)
{
    int status;
    driven_start();
    at_t at = allocate(100);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        *(volatile char *)at = 1;
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

/* Contexts of one device do not see each other's memory, except to copy it. */
static void uses_another_context(void)
{
    handle_t own;
    driven_start();
    at_t theirs = allocate(100);
    CU(cuMemsetD8_v2(theirs, 8, 100));
    CU(cuCtxSynchronize());
    CU(cuCtxCreate_v2(&own, 0, 0));
    CU(cuStreamCreate(&stream, 1));
    at_t at = allocate(100);
    CU(cuMemcpyDtoDAsync_v2(at, theirs, 100, stream));
    CU(cuStreamSynchronize(stream));
    MUST(*seen(at) == 8);
    touch(theirs);
    spoils(700);
    /* The other context is as good as before. */
    CU(cuCtxPopCurrent_v2(&own));
    CU(cuMemsetD8_v2(theirs, 9, 100));
    CU(cuCtxSynchronize());
}

/* A stream waits for a stream of a context that is spoilt: not for ever. */
static void waits_for_a_fault(void)
{
    handle_t event, own, mine = NULL;
    driven_start();
    at_t at = allocate(100);
    CU(cuEventCreate(&event, NO_TIMING));
    standin.hold();
    touch(at + 100);
    CU(cuEventRecord(event, stream));
    CU(cuCtxCreate_v2(&own, 0, 0));
    CU(cuStreamCreate(&mine, 1));
    CU(cuStreamWaitEvent(mine, event, 0));
    standin.release();
    CU(cuStreamSynchronize(mine));
    CODE(700, cuEventSynchronize(event));
}

/* Faults that the call itself finds. */
static void calls_are_wrong(void)
{
    handle_t other, theirs, event;
    char byte;
    driven_start();
    at_t at = allocate(100), freed = allocate(2 * MIB);
    CU(cuMemFree_v2(freed));
    CODE(1, cuMemcpyDtoH_v2(&byte, freed, 1));
    CODE(1, cuMemcpyHtoD_v2(at + 100, &byte, 1));
    CODE(1, cuMemcpyDtoDAsync_v2(at, at + 1, 100, stream));
    CODE(1, cuMemcpyAsync((uintptr_t)&byte, freed, 1, stream));
    CODE(1, cuMemsetD8Async(at + 50, 0, 51, stream));
    MUST(standin.faults() == 5);
    CU(cuEventCreate(&event, 0));
    CU(cuEventDestroy_v2(event));
    CODE(400, cuEventRecord(event, stream));
    CU(cuStreamCreate(&other, 0));
    CU(cuStreamDestroy_v2(other));
    CODE(400, cuStreamSynchronize(other));
    MUST(standin.faults() == 7);
    handle_t ours = kernel("probe_empty");
    CU(cuCtxCreate_v2(&theirs, 0, 0));
    CU(cuStreamCreate(&other, 1));
    CODE(400, cuLaunchKernel(ours, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL));
    CU(cuEventCreate(&event, 0));
    CODE(400, cuEventRecord(event, stream));
    MUST(standin.faults() == 9);
    CU(cuCtxSynchronize());
}

static void is_no_fault(void)
{
    driven_start();
    at_t at = allocate(100);
    touch(at);
    CU(cuStreamSynchronize(stream));
    CODE(1, cuMemFree_v2(at + 1));
    MUST(*seen(at) == 1 && standin.faults() == 0);
}

/* Two devices ------------------------------------------------------------ */

static void devices(void)
{
    handle_t second;
    int n, can;
    driven_start();
    CU(cuDeviceGetCount(&n));
    CODE(101, cuDeviceGet(&n, 2));
    CU(cuDevicePrimaryCtxRetain(&second, 1));
    CU(cuCtxPushCurrent_v2(second));
    at_t theirs = allocate(100), ours;
    CU(cuMemsetD8_v2(theirs, 9, 100));
    CU(cuCtxSynchronize());
    CU(cuCtxPopCurrent_v2(&second));
    MUST(attribute(9, theirs) == 1 &&
         attribute(1, theirs) == (uintptr_t)second);
    ours = allocate(100);
    CU(cuMemcpyDtoDAsync_v2(ours, theirs, 100, stream));
    CU(cuStreamSynchronize(stream));
    MUST(seen(ours)[99] == 9);
    CU(cuDeviceCanAccessPeer(&can, 0, 1));
    MUST(can);
    CU(cuCtxEnablePeerAccess(second, 0));
    CODE(704, cuCtxEnablePeerAccess(second, 0));
    touch(theirs);
    CU(cuStreamSynchronize(stream));
    MUST(*seen(theirs) == 1);
    CU(cuCtxDisablePeerAccess(second));
    CODE(705, cuCtxDisablePeerAccess(second));
    touch(theirs);
    spoils(700);
}

int main(void)
{
    int status = driven_status(calls_are_wrong, "", "");
    MUST(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    ALONE(is_no_fault);
    MUST(setenv("STANDIN_FAULTS", "count", 1) == 0);
    ALONE(leaves_a_block);
    ALONE(leaves_with_half_a_unit);
    ALONE(uses_a_freed_block);
    ALONE(frees_what_waits);
    ALONE(reads_the_host);
    ALONE(is_unaligned);
    ALONE(is_touched_by_the_processor);
    ALONE(uses_another_context);
    ALONE(waits_for_a_fault);
    ALONE(calls_are_wrong);
    ALONE_WITH(devices, "STANDIN_DEVICES", "2");
    return 0;
}
