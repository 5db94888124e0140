/*
 * Straightway tells a device's memory from the processor's, for each driver
 * that it knows, from the moment at which the program loads the driver's
 * library. Without a driver the question reads two words.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "must.h"
#include "device/memory.h"
#include "node/arena/arena.h"
#include "node/os/os.h"
#include "node/base/settings.h"

#define SIZE (1 << 20)

/* dlclose frees what dl_iterate_phdr reads, under a lock of the dynamic
 * linker's own, which the thread sanitizer does not see. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "called_from_lib:ld-linux\nrace:_dl_close_worker\n";
}

static void *open_one(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    MUST(library);
    return library;
}

static void *function(void *library, const char *name)
{
    void *found = dlsym(library, name);
    MUST(found);
    return found;
}

/* After a library of no interest was loaded, one question settles it. */
static void settles(const void *at)
{
    MUST(!sw_device_holds(at));
    MUST(!sw_device_possible());
}

static void without_a_driver(void)
{
    int here;
    sw_device_start();
    MUST(!sw_device_holds(&here));
    for (int i = 0; i < 3; i++) {
        void *other = open_one(OTHER);
        MUST(sw_device_possible());
        settles(&here);
        MUST(dlclose(other) == 0);
        settles(&here);
    }
    /* Unloaded before the first question, and another one in its place. */
    MUST(dlclose(open_one(OTHER)) == 0);
    open_one(OTHER);
    MUST(sw_device_possible());
    settles(&here);
}

static void tells(const char *path)
{
    int here;
    char *mine = malloc(SIZE);
    MUST(mine);
    void *driver = open_one(path);
    void *(*allocate)(size_t, int);
    *(void **)&allocate = function(driver, "standin_allocate");
    uint64_t (*count)(const char *);
    *(void **)&count = function(driver, "standin_count");
    /* The driver of CUDA has no memory before it is initialised. */
    int *ready = dlsym(driver, "standin_ready");
    MUST(sw_device_possible());
    MUST(!sw_device_holds(mine));
    char *device = allocate(SIZE, 0), *managed = allocate(SIZE, 1);
    MUST(device && managed);

    MUST(sw_device_present());
    if (ready && !strstr(path, "ze_loader"))
        MUST(!sw_device_holds(device)); /* it is not initialised yet */
    if (ready)
        *ready = 1;
    for (int i = 0; i < 3; i++) {
        MUST(sw_device_holds(device));
        MUST(sw_device_holds(device + SIZE - 1));
        MUST(!sw_device_holds(managed));
        MUST(!sw_device_holds(mine));
        MUST(!sw_device_holds(&here));
        MUST(!sw_device_holds(NULL));
        open_one(OTHER); /* more is loaded meanwhile */
    }
    /* Straightway never asks the driver about the arena. */
    char *block = sw_arena_alloc(SIZE, SW_LINE);
    uint64_t before = count(NULL);
    MUST(!block || !sw_device_holds(block));
    MUST(!block || count(NULL) == before);
    free(mine);
}

static void cuda(void)
{
    sw_device_start();
    without_a_driver();
    tells(CUDA);
}

static void hsa(void)
{
    sw_device_start();
    tells(HSA);
}

static void level_zero(void)
{
    sw_device_start();
    tells(ZE);
}

static void all_three(void)
{
    tells(CUDA);
    tells(HSA);
    tells(ZE);
}

static void without_the_linkers_data(void)
{
    int here;
    sw_device_start();
    open_one(OTHER);
    MUST(!sw_device_holds(&here));
    MUST(sw_device_possible());
    tells(CUDA);
}

/* One thread is given device memory while others ask all the time. */
static _Atomic(char *) given;
static _Atomic bool done;

static void *ask(void *unused)
{
    int here;
    while (!atomic_load(&done)) {
        MUST(!sw_device_holds(&here));
        char *device = atomic_load(&given);
        MUST(!device || sw_device_holds(device));
    }
    return unused;
}

static void threads(void)
{
    pthread_t thread[3];
    sw_device_start();
    for (int i = 0; i < 3; i++)
        MUST(pthread_create(&thread[i], NULL, ask, NULL) == 0);
    for (int i = 0; i < 200; i++)
        MUST(dlclose(open_one(OTHER)) == 0);
    void *driver = open_one(CUDA);
    void *(*allocate)(size_t, int);
    *(void **)&allocate = function(driver, "standin_allocate");
    atomic_store(&given, allocate(SIZE, 0));
    for (int i = 0; i < 200; i++)
        MUST(dlclose(open_one(OTHER)) == 0);
    atomic_store(&done, true);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

/* What is loaded stays so: a process for each. */
static void alone(void (*run)(void), const char *name, const char *refused)
{
    pid_t child = fork();
    int status;
    if (child == 0) {
        MUST(setenv("STRAIGHTWAY_REFUSE", refused, 1) == 0);
        sw_settings_load();
        sw_arena_start();
        run();
        _exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    if (status)
        fprintf(stderr, "%s\n", name);
    MUST(status == 0);
}

int main(void)
{
    alone(without_a_driver, "without a driver", "");
    alone(cuda, "CUDA", "");
    alone(hsa, "HSA", "");
    alone(level_zero, "Level Zero", "");
    alone(all_three, "all three", "");
    alone(without_the_linkers_data, "the linker refused", "linker");
    alone(threads, "threads", "");
    return 0;
}
