/* Calls straightway.h from a shared object that it loads, and finds the calls
 * with dlsym. */
#include <dlfcn.h>
#include <stdio.h>
#include <straightway.h>

int main(int argc, char **argv)
{
    straightway_version_func_t version;
    void *object = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*make_calls)(void) = NULL;

    *(void **)&version = dlsym(RTLD_DEFAULT, STRAIGHTWAY_VERSION_SYMBOL);
    if (object)
        *(void **)&make_calls = dlsym(object, "make_calls");
    if (!make_calls)
        return 1;
    make_calls();
    printf("dlsym %d\n", version ? version() : 0);
    return 0;
}
