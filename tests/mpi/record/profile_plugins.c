/*
 * profile_plugins.c - two plugins, opened and closed in turn, so that one lies
 * where the other lay. Says how often it did.
 *
 * Usage: profile_plugins PLUGIN PLUGIN. Each makes 40 visits of 7 calls.
 */
#include "mpi/test.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
    uintptr_t before = 0;
    int same = 0;

    test_start(&argc, &argv);
    CHECK(argc == 3, "two plugins");
    for (int i = 0; i < 80; i++) {
        void *plugin = dlopen(argv[1 + i % 2], RTLD_NOW | RTLD_LOCAL);
        CHECK(plugin, "%s", dlerror());
        void (*call)(int);
        *(void **)&call = dlsym(plugin, "call");
        call(7);
        same += (uintptr_t)call == before;
        before = (uintptr_t)call;
        CHECK(dlclose(plugin) == 0, "%s", dlerror());
    }
    if (world_rank == 0)
        printf("%d of 79 at the same address\n", same);
    test_end();
    return 0;
}
