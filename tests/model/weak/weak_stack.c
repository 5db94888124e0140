/* node/parcel_stack.h: the owner sees what all pushers did before. */
#include "weak.h"

#include "node/parcel_stack.h"

static sw_parcel_stack_t stack;
static uint64_t below[3], bytes[3];

static void *push(uint64_t entry)
{
    bytes[entry] = entry;
    sw_parcel_push(&stack, entry, &below[entry]);
    return NULL;
}

static void *one(void *unused)
{
    (void)unused;
    return push(1);
}

static void *two(void *unused)
{
    (void)unused;
    return push(2);
}

static void look(void)
{
    for (uint64_t at = sw_parcel_take_all(&stack); at; at = below[at])
        assert(bytes[at] == at);
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    look();
}
