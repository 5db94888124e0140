/* rma/regions.c: a reader finds no mixture of two regions. */
#include "weak.h"

#include "rma/regions.c"

static sw_regions_t r;

static void *member(void *unused)
{
    sw_regions_add(&r, 100, 10, 1000);
    sw_regions_remove(&r, 100);
    sw_regions_add(&r, 200, 10, 3000);
    return unused;
}

static void *origin(void *unused)
{
    uint64_t found = sw_regions_find(&r, 100, 105);
    assert(found == UINT64_MAX || found == 1000);
    return unused;
}

int main(void)
{
    run(member, origin);
}
