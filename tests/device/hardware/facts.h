/*
 * facts.h - the probes of facts.c. Each runs in a process of its own, and
 * prints a line for each answer.
 */
#ifndef FACTS_H
#define FACTS_H

#include "gpu.h"

#define MIB ((size_t)1 << 20)

/* FACT(name, function): all probes, in the order in which they run. */
#define FACTS(FACT)                               \
    FACT("pointers", fact_pointers)               \
    FACT("granularity", fact_granularity)         \
    FACT("reuse", fact_reuse)                     \
    FACT("refused", fact_refused)                 \
    FACT("register", fact_register)               \
    FACT("ipc", fact_ipc)                         \
    FACT("ipc-self", fact_ipc_self)               \
    FACT("killed", fact_killed)                   \
    FACT("ipc-events", fact_ipc_events)           \
    FACT("contexts", fact_contexts)               \
    FACT("runtime", fact_runtime)                 \
    FACT("fork", fact_fork)                       \
    FACT("costs", fact_costs)                     \
    FACT("modules", fact_modules)                 \
    FACT("turns-processor", fact_turns_processor) \
    FACT("turns-host", fact_turns_host)           \
    FACT("turns-device", fact_turns_device)       \
    FACT("handover", fact_handover)               \
    FACT("handover-polls", fact_handover_polls)   \
    FACT("slices", fact_slices)

#define FACT_DECLARED(name, function) void function(void);
FACTS(FACT_DECLARED)

/* Print what the driver says of an address, attribute by attribute. */
void fact_attributes(const char *what, at_t at);
/* The id of the allocation that holds an address; 0: the driver knows none. */
uint64_t fact_id(at_t at);
at_t fact_allocate(size_t bytes);

#endif
