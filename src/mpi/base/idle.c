/*
 * idle.c - see idle.h.
 */
#include "idle.h"

void sw_idle(sw_idle_t *idle, sw_doorbell_t *bell)
{
    sw_wait_t *wait = &idle->wait;
    if (!sw_idle_is_long(idle)) {
        idle->turns++;
        if (sw_wait_crowded())
            sw_os_yield();
        else
            sw_os_pause();
        return;
    }
    if (wait->doorbell != bell) {
        sw_wait_end(wait);
        wait->doorbell = bell;
    }
    sw_wait_step(wait);
}

void sw_idle_end(sw_idle_t *idle)
{
    sw_wait_end(&idle->wait);
}
