/*
 * sw_assert where it is off, as in a release: the compiler reads the condition,
 * and the program never evaluates it.
 */
#undef STRAIGHTWAY_ASSERT
#include "node/base/base.h"

#include "must.h"

static int evaluated;

static bool holds(bool so)
{
    evaluated++;
    return so;
}

int main(void)
{
    sw_assert(holds(false));
    sw_assert(holds(true));
    MUST(evaluated == 0);
    MUST(!holds(false) && evaluated == 1);
    return 0;
}
