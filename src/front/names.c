/*
 * names.c - a procedure that the host lacks must not seem present.
 *
 * The library defines every name of the standard. But Open MPI 5 lacks the
 * large-count forms, and MPICH's ABI library the Fortran conversions; a
 * program may carry no MPI at all. Programs ask: mpi4py refers to such names
 * weakly and takes NULL for "not there"; others ask dlsym. Without us they
 * would learn the truth, so they must with us.
 *
 * The dynamic linker skips a definition whose value is 0, and for one of type
 * STT_GNU_IFUNC it calls the value and takes what that returns. Both can be
 * written into our own symbol table (a private copy of a few pages) after
 * start-up. The linker binds the program to us before any code of ours runs;
 * so the constructor has two cases.
 *
 *   The host came with the program. It is known what it has: the other names
 *   get the value 0 and are out of sight for all later lookups. Weak
 *   references that were already bound to them are set back to NULL.
 *
 *   No host yet. Perhaps none will come; perhaps one is dlopened later, and
 *   with it modules that refer to it. Every name becomes an IFUNC whose
 *   resolver ("answer", in stubs.S) looks, at the moment of the lookup, for a
 *   host that has the procedure: then it is our stub, else NULL. A host is
 *   mapped, and listed, before it or anything that needs it is relocated. All
 *   weak references of the start-up objects are set to NULL; their strong
 *   ones stay with the stubs, which say what is wrong if no host comes.
 *
 * The linker refuses an IFUNC of an object that is not relocated yet ("relink
 * for IFUNC symbol"). Ours are made after our own relocation, so this cannot
 * happen; it is why they are not IFUNCs from the start.
 *
 * A name that is an IFUNC answers dlsym with NULL, but without the error text
 * that goes with it: handle.c mends that. One limit is left: a strong
 * reference, in a module opened late, that meets no host gets NULL where the
 * linker would have named the missing symbol.
 */
#include "door.h"
#include "front/objects/hosts.h"

#include <string.h>

static bool late; /* there was no host at start-up */

bool sw_names_late(void)
{
    return late;
}

static void *stub(unsigned k)
{
    return sw_stubs + (size_t)k * SW_STUB_STRIDE;
}

int sw_names_number(const char *name)
{
    int profiling = name[0] == 'P', low = 0, high = SW_PROC_COUNT;

    if (!sw_elf_text_begins(name + profiling, "MPI_"))
        return -1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        int order = sw_elf_text_order(name + profiling, sw_proc_names[middle]);
        if (order == 0)
            return 2 * middle + profiling;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

static bool has(const sw_object_t *host, unsigned k)
{
    char symbol[72] = "P";

    strncat(symbol, sw_proc_names[k / 2], sizeof symbol - 2);
    sw_name_t name = sw_name(symbol);
    if (sw_object_symbol(host, &name))
        return true;
    if (k & 1)
        return false;
    name = sw_name(symbol + 1);
    return sw_object_symbol(host, &name) != NULL;
}

/* The resolver of name k. It runs inside the dynamic linker, on any thread:
 * no allocation, no dl* call but the walk. The hosts are remembered for each
 * thread, because relocating one module asks hundreds of times. */
__attribute__((visibility("hidden"))) void *sw_names_answer(unsigned k)
{
    static _Thread_local struct {
        uint64_t generation;
        int count;
        sw_object_t host[2];
    } known __attribute__((tls_model("initial-exec")));
    uint64_t generation = sw_objects_generation();

    if (known.generation != generation) {
        sw_object_t hosts[SW_HOSTS_MAX];
        known.count = sw_hosts_find(hosts);
        if (known.count > 2)
            known.count = 2;
        memcpy(known.host, hosts, sizeof known.host);
        known.generation = generation;
    }
    for (int i = 0; i < known.count; i++)
        if (has(&known.host[i], k))
            return stub(k);
    return NULL;
}

bool sw_names_present(unsigned k)
{
    return sw_names_answer(k) != NULL;
}

/* Is k among the names that are out of sight? */
typedef struct {
    bool hidden[SW_STUB_COUNT];
    bool any;
    bool later; /* no host yet: all names answer for themselves */
} plan_t;

static void patch_symbols(const sw_object_t *self, const plan_t *plan)
{
    size_t count = sw_object_symbols(self);
    ElfW(Sym) *symbols = (ElfW(Sym) *)self->symbols;
    size_t bytes = count * sizeof *symbols;
    uintptr_t first = (uintptr_t)sw_stubs - self->base;

    if (sw_object_writable(self, symbols, bytes, true) != 0)
        return;
    for (size_t i = 1; i < count; i++) {
        uintptr_t offset = symbols[i].st_value - first;
        unsigned k = (unsigned)(offset / SW_STUB_STRIDE);
        if (symbols[i].st_shndx == SHN_UNDEF ||
            offset >= (uintptr_t)SW_STUB_COUNT * SW_STUB_STRIDE)
            continue;
        if (plan->later) {
            symbols[i].st_value = (uintptr_t)sw_answers - self->base +
                                  (uintptr_t)k * SW_STUB_STRIDE;
            symbols[i].st_info = ELF64_ST_INFO(
                ELF64_ST_BIND(symbols[i].st_info), STT_GNU_IFUNC);
        } else if (plan->hidden[k]) {
            symbols[i].st_value = 0;
        }
    }
    sw_object_writable(self, symbols, bytes, false);
}

/* Set a bound weak reference to a name out of sight back to NULL. */
static void unbind(const sw_object_t *object, const ElfW(Rela) *rela,
                   const plan_t *plan)
{
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(rela->r_info)];
    void **place = (void **)(object->base + rela->r_offset);

    if (ELF64_R_SYM(rela->r_info) == 0 || rela->r_offset % sizeof *place ||
        symbol->st_shndx != SHN_UNDEF ||
        ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
        return;
    const char *name = object->strings + symbol->st_name;
    if (strncmp(name, "MPI_", 4) != 0 && strncmp(name, "PMPI_", 5) != 0)
        return;
    uintptr_t offset = (uintptr_t)*place - (uintptr_t)sw_stubs;
    if (offset >= (uintptr_t)SW_STUB_COUNT * SW_STUB_STRIDE ||
        !plan->hidden[offset / SW_STUB_STRIDE] ||
        sw_object_writable(object, place, sizeof *place, true) != 0)
        return;
    *place = NULL;
    sw_object_writable(object, place, sizeof *place, false);
}

/* Which object defines a name first, in the order of lookup: ours, or one
 * before it? */
static int first_definition(const sw_object_t *object, void *context)
{
    if (sw_object_holds(object, sw_stubs))
        return 1;
    return sw_object_symbol(object, context) ? 2 : 0;
}

/* A call of a start-up object, not bound yet. Its lookup would meet a name
 * that answers NULL while there is no host, and the program would jump there;
 * bound to the stub it gets a host that comes in time, or a clear message. */
static void bind_call(const sw_object_t *object, const ElfW(Rela) *rela)
{
    const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(rela->r_info)];
    void **place = (void **)(object->base + rela->r_offset);

    if (ELF64_R_SYM(rela->r_info) == 0 || symbol->st_shndx != SHN_UNDEF ||
        ELF64_ST_BIND(symbol->st_info) == STB_WEAK)
        return;
    int k = sw_names_number(object->strings + symbol->st_name);
    if (k < 0 || !sw_object_holds(object, *place))
        return; /* not MPI's, or bound already */
    sw_name_t name = sw_name(object->strings + symbol->st_name);
    if (sw_objects_walk(first_definition, &name) != 1 ||
        sw_object_writable(object, place, sizeof *place, true) != 0)
        return;
    *place = stub((unsigned)k);
    sw_object_writable(object, place, sizeof *place, false);
}

/* Undefined symbols stand before the hashed ones, so that a glance at them
 * tells whether the relocations need to be read. */
static bool refers(const sw_object_t *object)
{
    size_t undefined;

    if (!object->gnu_hash || object->gnu_hash[1] <= 1)
        return true; /* unknown: some linkers write 1 for "none" */
    undefined = object->gnu_hash[1];
    for (size_t i = 1; i < undefined; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        const char *name = object->strings + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF &&
            (name[0] == 'M' || (name[0] == 'P' && name[1] == 'M')))
            return true;
    }
    return false;
}

static int mend_object(const sw_object_t *object, void *context)
{
    const plan_t *plan = context;

    if (!refers(object) || sw_object_holds(object, sw_stubs))
        return 0;
    for (size_t i = object->rela_relative; i < object->rela_count; i++)
        unbind(object, &object->rela[i], plan);
    for (size_t i = 0; i < object->jmprel_count; i++) {
        unbind(object, &object->jmprel[i], plan);
        if (plan->later)
            bind_call(object, &object->jmprel[i]);
    }
    return 0;
}

void sw_names_start(void)
{
    sw_object_t hosts[SW_HOSTS_MAX], self;
    plan_t plan = {.later = sw_hosts_find(hosts) == 0};

    if (!sw_hosts_self(&self))
        return;
    for (unsigned k = 0; k < SW_STUB_COUNT; k++) {
        plan.hidden[k] = plan.later || !has(&hosts[0], k);
        plan.any |= plan.hidden[k];
    }
    if (!plan.any)
        return;
    late = plan.later;
    patch_symbols(&self, &plan);
    sw_objects_walk(mend_object, &plan);
}
