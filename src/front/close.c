/*
 * close.c - dlclose, so that a profile and the clocks learn at once that the
 * program has closed an object.
 *
 * What is known of a call's address is void when another object may come to
 * lie there (profile/stack/site.h). The next dlclose in the order of lookup
 * gives the answer, which does not depend on the caller.
 */
#include "front/clock/callers.h"
#include "profile/record/recorder.h"
#include "profile/stack/site.h"

#include <dlfcn.h>

typedef int (*dlclose_t)(void *handle);

SW_API int dlclose(void *handle)
{
    static _Atomic(dlclose_t) next;
    dlclose_t real = atomic_load_explicit(&next, memory_order_relaxed);

    if (sw_unlikely(!real)) {
        *(void **)&real = dlsym(RTLD_NEXT, "dlclose");
        atomic_store_explicit(&next, real, memory_order_relaxed);
    }
    int result = real(handle);
    if (sw_unlikely(atomic_load(&sw_recording)))
        sw_sites_closed();
    sw_callers_closed();
    return result;
}
