/*
 * Two processes share memory and events by the handles of the stand-in for
 * CUDA's driver. Both forked before cuInit.
 */
#include "driven.h"

#include <sys/socket.h>

static void tell(int socket, const void *what, size_t bytes)
{
    MUST(write(socket, what, bytes) == (ssize_t)bytes);
}

static void hear(int socket, void *what, size_t bytes)
{
    for (ssize_t n; bytes; bytes -= (size_t)n, what = (char *)what + n)
        if ((n = read(socket, what, bytes)) <= 0)
            exit(1);
}

static void turn(int socket)
{
    char word;
    hear(socket, &word, 1);
}

static int end[2];
static pid_t child;

/* Fork the owner of what is shared; the caller is the other process. */
static int owner(void (*run)(int socket))
{
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0);
    if ((child = fork()) == 0) {
        close(end[0]);
        driven_start();
        run(end[1]);
        _exit(0);
    }
    close(end[1]);
    driven_start();
    return end[0];
}

static void ended(int wanted)
{
    int status;
    MUST(waitpid(child, &status, 0) == child);
    MUST(status == wanted);
}

static int first_byte(at_t at)
{
    unsigned char byte = 0;
    CU(cuMemcpyDtoH_v2(&byte, at, 1));
    return byte;
}

static at_t shared(int socket, size_t bytes, unsigned char byte)
{
    ipc_t handle;
    at_t at = allocate(bytes);
    CU(cuMemsetD8_v2(at, byte, bytes));
    CU(cuCtxSynchronize());
    CU(cuIpcGetMemHandle(&handle, at));
    tell(socket, &handle, sizeof handle);
    return at;
}

static at_t opened(int socket, ipc_t *handle)
{
    at_t at;
    hear(socket, handle, sizeof *handle);
    CU(cuIpcOpenMemHandle_v2(&at, *handle, 1));
    return at;
}

/* Memory ----------------------------------------------------------------- */

static void memory_owner(int socket)
{
    at_t at = shared(socket, 4 * MIB, 1), small = shared(socket, 100, 2);
    at_t next = shared(socket, 100, 3), closed = shared(socket, 4 * MIB, 6);
    turn(socket);
    MUST(*seen(at) == 9); /* the other process has stored there */
    CU(cuMemFree_v2(closed));
    CU(cuMemFree_v2(small));
    CU(cuMemFree_v2(at));
    /* New blocks, which have the addresses and the descriptors of old ones. */
    MUST(allocate(4 * MIB) == at);
    at_t again = shared(socket, 4 * MIB, 7);
    MUST(again == closed && attribute(7, again) == 912);
    shared(socket, 100, 4);
    turn(socket);
    CU(cuMemFree_v2(next));
}

static void memory(void)
{
    int socket = owner(memory_owner);
    ipc_t h, h1, h2, h3, fresh, other;
    at_t a = opened(socket, &h), b, small = opened(socket, &h1);
    at_t next = opened(socket, &h2), closed = opened(socket, &h3), c;
    MUST(attribute(2, a) == 2 && attribute(10, a) == 0);
    MUST(attribute(11, a) == a && attribute(12, a) == 4 * MIB);
    MUST(attribute(1, a) == (uintptr_t)context && attribute(7, a) == 907);
    MUST(next == small + 512 && attribute(12, next) == 100);
    MUST(first_byte(a) == 1 && first_byte(small) == 2 && first_byte(next) == 3);
    CU(cuIpcOpenMemHandle_v2(&b, h, 1));
    MUST(a == b);
    CODE(1, cuIpcGetMemHandle(&other, a));
    CODE(1, cuMemFree_v2(a));
    CU(cuIpcCloseMemHandle(b));
    CU(cuMemsetD8_v2(a, 9, 1));
    CU(cuCtxSynchronize());
    MUST(first_byte(closed) == 6);
    CU(cuIpcCloseMemHandle(closed));
    CU(cuIpcCloseMemHandle(small));
    tell(socket, "f", 1);
    /* The owner frees it: here it lives, under its old handle. */
    c = opened(socket, &fresh);
    MUST(c != a && memcmp(&fresh, &h, sizeof h) != 0);
    MUST(first_byte(a) == 9 && first_byte(c) == 7 && attribute(7, a) == 907);
    CU(cuIpcOpenMemHandle_v2(&b, h, 1));
    MUST(b == a);
    CU(cuIpcCloseMemHandle(b));
    /* What was closed and freed does not open again. */
    CODE(1, cuIpcOpenMemHandle_v2(&b, h1, 1));
    CODE(1, cuIpcOpenMemHandle_v2(&b, h3, 1));
    b = opened(socket, &other);
    MUST(first_byte(b) == 4);
    tell(socket, "x", 1);
    ended(0);
    MUST(first_byte(a) == 9 && first_byte(c) == 7 && first_byte(next) == 3);
    CU(cuIpcCloseMemHandle(a));
    CODE(1, cuIpcCloseMemHandle(a));
    CODE(1, cuPointerGetAttribute(&a, 7, a));
    CODE(1, cuIpcOpenMemHandle_v2(&b, h, 1));
    CU(cuIpcCloseMemHandle(c));
    CU(cuIpcCloseMemHandle(next));
}

static void killed_owner(int socket)
{
    shared(socket, 4 * MIB, 5);
    turn(socket);
    kill(getpid(), SIGKILL);
}

static void killed(void)
{
    int socket = owner(killed_owner);
    ipc_t h;
    at_t a = opened(socket, &h), b;
    tell(socket, "x", 1);
    ended(SIGKILL);
    MUST(first_byte(a) == 5);
    CU(cuIpcOpenMemHandle_v2(&b, h, 1));
    MUST(a == b);
}

/* Events ----------------------------------------------------------------- */

static void events_owner(int socket)
{
    ipc_t handle;
    handle_t event, plain;
    long long ticks = 30000000;
    void *parameter[] = {&ticks};
    at_t at = shared(socket, 100, 1);
    CODE(1, cuEventCreate(&event, INTERPROCESS));
    CU(cuEventCreate(&plain, NO_TIMING));
    CODE(400, cuIpcGetEventHandle(&handle, plain));
    CU(cuEventCreate(&event, NO_TIMING | INTERPROCESS));
    CU(cuIpcGetEventHandle(&handle, event));
    CODE(201, cuIpcOpenEventHandle(&plain, handle));
    CU(cuLaunchKernel(kernel("probe_busy"), 1, 1, 1, 1, 1, 1, 0, stream,
                      parameter, NULL));
    CU(cuMemsetD8Async(at, 2, 100, stream));
    CU(cuEventRecord(event, stream));
    tell(socket, &handle, sizeof handle);
    turn(socket);
    /* The other records it now. */
    CU(cuStreamWaitEvent(stream, event, 0));
    CU(cuMemcpyDtoDAsync_v2(at + 1, at, 1, stream));
    CU(cuStreamSynchronize(stream));
    MUST(seen(at)[1] == 3);
    tell(socket, "y", 1);
}

static void events(void)
{
    int socket = owner(events_owner);
    ipc_t h;
    handle_t event;
    at_t at = opened(socket, &h), copy = allocate(100);
    hear(socket, &h, sizeof h);
    CU(cuIpcOpenEventHandle(&event, h));
    CU(cuStreamWaitEvent(stream, event, 0));
    CU(cuMemcpyDtoDAsync_v2(copy, at, 100, stream));
    CU(cuEventSynchronize(event));
    CU(cuEventQuery(event));
    CU(cuStreamSynchronize(stream));
    MUST(*seen(copy) == 2);
    standin.hold();
    CU(cuMemsetD8Async(at, 3, 1, stream));
    CU(cuEventRecord(event, stream));
    CODE(600, cuEventQuery(event));
    tell(socket, "x", 1);
    usleep(5000);
    standin.release();
    turn(socket);
    ended(0);
}

int main(void)
{
    MUST(setenv("STANDIN_REUSE", "1", 1) == 0);
    ALONE(memory);
    ALONE(killed);
    ALONE(events);
    return 0;
}
