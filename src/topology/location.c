/*
 * location.c - where in the machine a process runs.
 *
 * The domains of the first allowed processor are looked up; each counts if it
 * holds all the other allowed processors too.
 */
#include "location.h"

#include "node/os/os.h"

#include <pthread.h>
#include <string.h>

/* The domain's name if all of `allowed` lies in it. */
static int16_t name_of(bool found, const sw_cpus_t *allowed,
                       const sw_cpus_t *domain)
{
    return found && sw_cpus_inside(allowed, domain)
               ? (int16_t)sw_cpus_next(domain, 0)
               : -1;
}

void sw_location_of(const sw_cpus_t *allowed, sw_location_t *to)
{
    *to = (sw_location_t){-1, -1, -1, -1};
    int cpu = sw_cpus_next(allowed, 0);
    if (cpu < 0)
        return;
    sw_cpus_t in;
    to->package = name_of(sw_sysfs_package(cpu, &in), allowed, &in);
    to->numa = name_of(sw_sysfs_numa(cpu, &in), allowed, &in);
    int index = sw_sysfs_cache(cpu, 3);
    to->l3 = name_of(
        index >= 0 &&
            sw_sysfs_cpus(&in, "cpu/cpu%d/cache/index%d/shared_cpu_list", cpu,
                          index),
        allowed, &in);
    to->core = name_of(sw_sysfs_core(cpu, &in), allowed, &in);
}

/* Reading the machine's tables takes 60 us, and a program may make many
 * communicators: what was found holds as long as the mask does. */
void sw_location_self(sw_location_t *to)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool known;
    static sw_cpus_t mask, allowed;
    static sw_location_t found;
    pthread_mutex_lock(&lock);
    sw_os_affinity_all(allowed.word);
    if (!known || memcmp(&mask, &allowed, sizeof mask)) {
        sw_location_of(&allowed, &found);
        mask = allowed;
        known = true;
    }
    *to = found;
    pthread_mutex_unlock(&lock);
}
