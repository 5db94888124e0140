/* offload/pump.c: two chunks through one area. */
#include "weak.h"

#include "offload/pump.c"

WAITS

static struct {
    sw_pump_area_t area;
    uint64_t chunk;
} memory;

void sw_data_copy(const sw_data_t *from, const sw_data_t *to, size_t begin,
                  size_t end)
{
    (void)to;
    (void)begin;
    (void)end;
    memory.chunk = *(uint64_t *)(void *)from->at;
}

static void *sender(void *unused)
{
    sw_pump_t p = {.area = &memory.area, .room = 8};
    for (uint64_t i = 1; i <= 2; i++) {
        const sw_data_t data = {.at = (char *)&i};
        if (atomic_load_explicit(&memory.area.taken, memory_order_acquire) !=
            p.put)
            NEVER;
        sw_pump_put(&p, 1, i, &data, 16);
    }
    return unused;
}

static void *receiver(void *unused)
{
    sw_slates_t on = {.me = 1};
    sw_schedule_t s = {.on = &on};
    for (uint64_t i = 1; i <= 2; i++) {
        const sw_pump_area_t *a = sw_pump_look(&s, &memory.area);
        if (!a)
            NEVER;
        assert(a->block == i && memory.chunk == i);
        sw_pump_take(a);
    }
    return unused;
}

int main(void)
{
    run(sender, receiver);
}
