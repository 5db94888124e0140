/*
 * What strangers free comes back to the owner: each entry once, with all that
 * its freer did before. Threads stand for the strangers, so that the thread
 * sanitizer sees them.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "node/os/os.h"
#include "node/parcel_stack.h"

#define CHECK(what)                                                      \
    ((what) ? (void)0                                                    \
            : (printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what), \
               fflush(stdout), _exit(1)))

#define STRANGERS 3
#define ENTRIES 40 /* few: they come back and are pushed anew */
#define ROUNDS 30000

typedef struct {
    uint64_t below;
    uint64_t written; /* by the last stranger that had it */
} entry_t;

static sw_parcel_stack_t stack;
static entry_t entry[ENTRIES + 1];
/* The owner hands entries to strangers: a slot each. */
static _Atomic uint64_t to[STRANGERS];
static _Atomic bool over;

static void *stranger(void *slot)
{
    _Atomic uint64_t *mine = slot;
    while (!atomic_load(&over)) {
        uint64_t at = atomic_exchange(mine, 0);
        if (!at) {
            sw_os_yield();
            continue;
        }
        entry[at].written++;
        sw_parcel_push(&stack, at, &entry[at].below);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[STRANGERS];
    uint64_t expected[ENTRIES + 1] = {0}, free_ones[ENTRIES];
    int n = ENTRIES, back = 0;
    for (int i = 0; i < ENTRIES; i++)
        free_ones[i] = (uint64_t)i + 1;
    for (int i = 0; i < STRANGERS; i++)
        CHECK(pthread_create(&thread[i], NULL, stranger, &to[i]) == 0);
    for (int turn = 0; back < ROUNDS; turn++) {
        uint64_t none = 0;
        if (n && atomic_compare_exchange_strong(&to[turn % STRANGERS], &none,
                                                free_ones[n - 1]))
            n--;
        else
            sw_os_yield();
        for (uint64_t at = sw_parcel_take_all(&stack), next; at; at = next) {
            next = entry[at].below;
            CHECK(at <= ENTRIES && n < ENTRIES);
            CHECK(entry[at].written == ++expected[at]);
            free_ones[n++] = at;
            back++;
        }
    }
    atomic_store(&over, true);
    for (int i = 0; i < STRANGERS; i++)
        pthread_join(thread[i], NULL);
    puts("ok");
    return 0;
}
