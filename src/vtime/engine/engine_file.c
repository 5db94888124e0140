/*
 * engine_file.c - see engine_file.h.
 */
#include "engine_file.h"

#include <stdlib.h>

bool sw_engine_contexts(sw_engine_t *engine, const sw_op_file_t *f)
{
    for (uint32_t i = 0; i < sw_op_context_count(f); i++) {
        uint32_t number, n, *members = sw_op_context(f, i, &number, &n);
        bool good = members && (number == 0 ||
                                sw_engine_context(engine, number, n, members));
        free(members);
        if (!good)
            return false;
    }
    return true;
}
