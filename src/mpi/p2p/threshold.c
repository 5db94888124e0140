/*
 * threshold.c - see threshold.h.
 */
#include "threshold.h"

#include "mpi/base/host.h"
#include "node/base/settings.h"
#include "p2p/descriptor.h"

#include <string.h>

bool sw_threshold_stages;
size_t sw_threshold_scattered_min, sw_threshold_coarse_min;

/* What was measured of each host (docs/performance.md, "The threshold"): from
 * `least` on we win in every pattern, with data that has gaps from `scattered`
 * on, if its pieces are long from `coarse` on. `stages`: two copies of private
 * memory beat it, too. */
void sw_threshold_start(void)
{
    static const struct {
        const char *name;
        size_t least, scattered, coarse;
        bool stages;
    } known[] = {
        {"Open MPI", 4096, 4096, 4096, true},
        {"Intel", 16384, 4096, 6144, false},
        {"MPICH", 8192, 4096, 4096, true},
        {"", 16384, 16384, 16384, false},
    }, *found = known;
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    host.Get_library_version(text, &length);
    while (!strstr(text, found->name))
        found++;
    sw_threshold_stages = found->stages;
    size_t asked = sw_settings.p2p_min
        ? sw_max(sw_settings.p2p_min, SW_DESCRIPTOR_BYTES) : 0;
    sw_settings.p2p_min = asked ? asked : found->least;
    sw_threshold_scattered_min = asked ? asked : found->scattered;
    sw_threshold_coarse_min = asked ? asked : found->coarse;
}
