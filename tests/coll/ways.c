/*
 * ways.c - the file of ways: its entries are found, each mistake has its
 * line and its fix, and no text makes the reader leave its bounds.
 */
#include "coll/span_names.h"
#include "coll/ways.h"
#include "must.h"

#include <string.h>

#define HEAD "straightway ways 1\n"
#define ENTRY "[openmpi-5.0.11 tcp nodes=2 ranks=4]\n"

#define NODE "[openmpi-5.0.11 shm nodes=1 ranks=4 machine=5f0c]\n"

static const sw_ways_key_t tcp = {"openmpi-5.0.11", "tcp", NULL};
static const sw_ways_key_t shm = {"openmpi-5.0.11", "shm", "5f0c"};
static sw_ways_key_t key;

static sw_ways_table_t table;
static sw_ways_fault_t fault;

/* The text has a heap block of just its length: a sanitizer sees what the
 * reader reads beyond it. */
static bool takes(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    MUST(copy);
    memcpy(copy, text, n);
    sw_ways_drop(&table);
    bool good = sw_ways_read(&table, copy, &key, &fault);
    free(copy);
    MUST(good == !fault.fix && (good || (!table.entries && !table.hash)));
    return good;
}

static void bad(const char *text, int line, const char *fix)
{
    MUST(!takes(text));
    MUST(fault.line == line && strstr(fault.fix, fix));
}

static sw_way_t way_at(const sw_ways_entry_t *e, sw_collective_t id,
                       size_t bytes)
{
    return (sw_way_t)e->form[0].way[id][sw_ways_class(bytes)];
}

static void entries_are_read(void)
{
    MUST(takes(HEAD "# a word\n\n" ENTRY
                    "bcast 0:leaders 65536:lanes\t4194304:host # big\r\n"
                    "  REDUCE_SCATTER_BLOCK 0:host\n"
                    "[mpich-4.2.1 tcp nodes=2 ranks=4]\n"
                    "bcast 0:host\n"
                    "[openmpi-5.0.11 ucx nodes=2 ranks=4]\n"
                    "bcast 0:host"));
    MUST(table.entries == 1 && table.hash);
    const sw_ways_entry_t *e = sw_ways_find(&table, 2, 4);
    MUST(e && e->nodes == 2 && e->ranks == 4);
    MUST(way_at(e, SW_COLL_BCAST, 0) == SW_WAY_LEADERS);
    MUST(way_at(e, SW_COLL_BCAST, 65535) == SW_WAY_LEADERS);
    MUST(way_at(e, SW_COLL_BCAST, 65536) == SW_WAY_LANES);
    MUST(way_at(e, SW_COLL_BCAST, 4194303) == SW_WAY_LANES);
    MUST(way_at(e, SW_COLL_BCAST, 4194304) == SW_WAY_HOST);
    MUST(way_at(e, SW_COLL_BCAST, SIZE_MAX) == SW_WAY_HOST);
    MUST(way_at(e, SW_COLL_REDUCE_SCATTER_BLOCK, 8) == SW_WAY_HOST);
    MUST(way_at(e, SW_COLL_REDUCE, 8) == SW_WAY_UNSAID);
    /* A class goes the way of its smallest size: 64 to 127 bytes. */
    MUST(takes(HEAD ENTRY "scan 0:host 100:lanes"));
    e = table.entry;
    MUST(way_at(e, SW_COLL_SCAN, 127) == SW_WAY_HOST);
    MUST(way_at(e, SW_COLL_SCAN, 128) == SW_WAY_LANES);
    /* A file without an entry for this host is no mistake. */
    MUST(takes(HEAD "[mpich-4.2.1 tcp nodes=2 ranks=4]\nscan 0:host\n"));
    MUST(!table.entries && !table.hash && !sw_ways_find(&table, 2, 4));
    MUST(takes(HEAD) && !table.hash);
}

static sw_way_t form_at(const sw_ways_entry_t *e, int form, sw_collective_t id)
{
    return (sw_way_t)e->form[form].way[id][0];
}

static void one_node_has_forms_and_settings(void)
{
    key = shm;
    MUST(takes(HEAD NODE "allreduce 0:ours 1048576:host\n"
                         "iallreduce 0:host\nIBARRIER 0:host\n"
                         "bcast_init 0:host 8:ours\n"
                         "eager_max 16384\nshow_after 0 # at once\n"
                         "[openmpi-5.0.11 shm nodes=1 ranks=4 machine=beef]\n"
                         "scan 0:host\neager_max 1\n" ENTRY "bcast 0:lanes\n"));
    MUST(table.entries == 1 && table.hash);
    const sw_ways_entry_t *e = sw_ways_find_near(&table, 4);
    MUST(e && !sw_ways_find_near(&table, 3) && !sw_ways_find_near(&table, 5));
    MUST(way_at(e, SW_COLL_ALLREDUCE, 8) == SW_WAY_OURS);
    MUST(way_at(e, SW_COLL_ALLREDUCE, 1 << 20) == SW_WAY_HOST);
    MUST(form_at(e, 1, SW_COLL_ALLREDUCE) == SW_WAY_HOST);
    MUST(form_at(e, 1, SW_COLL_BARRIER) == SW_WAY_HOST);
    MUST(form_at(e, 2, SW_COLL_BCAST) == SW_WAY_HOST);
    MUST(form_at(e, 0, SW_COLL_BCAST) == SW_WAY_UNSAID);
    MUST(form_at(e, 0, SW_COLL_SCAN) == SW_WAY_UNSAID);
    MUST(e->setting[SW_WAYS_EAGER_MAX] == 16384);
    MUST(e->setting[SW_WAYS_SHOW_AFTER] == 0);
    MUST(e->setting[SW_WAYS_SLICE_MIN] == SW_WAYS_NO_SETTING);
    uint64_t hash = table.hash;
    MUST(takes(HEAD NODE "eager_max 16384\n") && table.hash != hash);
    bad(HEAD NODE "bcast 0:leaders\n", 3, "host or ours");
    bad(HEAD NODE "eager_max\n", 3, "number of bytes");
    bad(HEAD NODE "eager_max 1 2\n", 3, "number of bytes");
    bad(HEAD NODE "eager_max 1\neager_max 1\n", 4, "one line");
    bad(HEAD NODE "eager_min 1\n", 3, "a collective");
    bad(HEAD NODE "_init 0:host\n", 3, "a collective");
    bad(HEAD NODE "i 0:host\n", 3, "a collective");
    bad(HEAD NODE "iallreduce_init 0:host\n", 3, "a collective");
    bad(HEAD NODE NODE, 3, "remove this entry");
    bad(HEAD "eager_max 1\n", 2, "begin an entry");
    bad(HEAD "[a shm nodes=1 ranks=4]\n", 2, "machine=NAME");
    bad(HEAD "[a shm nodes=2 ranks=4 machine=5f0c]\n", 2, "nodes=1");
    bad(HEAD "[a shm nodes=1 ranks=4 machine=]\n", 2, "an entry is");
    key = tcp;
    bad(HEAD ENTRY "ibcast 0:host\n", 3, "only entries of shm");
    bad(HEAD ENTRY "eager_max 1\n", 3, "only entries of shm");
    bad(HEAD ENTRY "bcast 0:ours\n", 3, "host, leaders");
    MUST(takes(HEAD NODE "bcast 0:host\n" ENTRY "bcast 0:lanes\n"));
    MUST(table.entries == 1 && !sw_ways_find(&table, 1, 4));
}

static void entry_is(int nodes, int ranks, int its_nodes, int its_ranks)
{
    const sw_ways_entry_t *e = sw_ways_find(&table, nodes, ranks);
    MUST(!!e == !!its_nodes);
    MUST(!e || (e->nodes == its_nodes && e->ranks == its_ranks));
}

static void the_nearest_smaller_entry_serves(void)
{
    MUST(takes(HEAD "[openmpi-5.0.11 tcp nodes=4 ranks=2]\nbcast 0:host\n"
                    "[openmpi-5.0.11 tcp nodes=2 ranks=8]\nbcast 0:host\n"
                    "[openmpi-5.0.11 tcp nodes=2 ranks=4]\nbcast 0:host\n"));
    entry_is(2, 4, 2, 4);
    entry_is(2, 7, 2, 4);
    entry_is(3, 64, 2, 8);
    entry_is(4, 8, 4, 2); /* nodes count first */
    entry_is(9, 1, 0, 0);
    entry_is(2, 3, 0, 0);
    entry_is(3, 3, 0, 0);
}

static void the_hash_tells_tables_apart(void)
{
    MUST(takes(HEAD ENTRY "bcast 0:leaders\n"));
    uint64_t hash = table.hash;
    MUST(takes(HEAD "# other words\n\n" ENTRY "Bcast  0:Leaders"));
    MUST(table.hash == hash);
    MUST(takes(HEAD ENTRY "bcast 0:lanes\n") && table.hash != hash);
    MUST(takes(HEAD ENTRY "reduce 0:leaders\n") && table.hash != hash);
    MUST(takes(HEAD "[openmpi-5.0.11 tcp nodes=2 ranks=5]\n"
                    "bcast 0:leaders\n") &&
         table.hash != hash);
}

static void mistakes_are_named(void)
{
    bad("", 1, "first line");
    bad("straightway ways 2\n", 1, "first line");
    bad("\n" HEAD, 1, "first line");
    bad(HEAD "bcast 0:host\n", 2, "begin an entry");
    bad(HEAD ENTRY "bcats 0:host\n", 3, "a collective");
    bad(HEAD ENTRY "bcast\n", 3, "after the collective");
    bad(HEAD ENTRY "bcast # 0:host\n", 3, "after the collective");
    bad(HEAD ENTRY "bcast 0:boats\n", 3, "BYTES:WAY");
    bad(HEAD ENTRY "bcast 0:\n", 3, "BYTES:WAY");
    bad(HEAD ENTRY "bcast :host\n", 3, "BYTES:WAY");
    bad(HEAD ENTRY "bcast host\n", 3, "BYTES:WAY");
    bad(HEAD ENTRY "bcast -1:host\n", 3, "BYTES:WAY");
    bad(HEAD ENTRY "bcast 0:host 99999999999999999999:lanes\n", 3, "BYTES:WAY");
    bad(HEAD ENTRY "bcast 8:host\n", 3, "first size is 0");
    bad(HEAD ENTRY "bcast 0:host 8:lanes 8:host\n", 3, "larger");
    bad(HEAD ENTRY "bcast 0:host\nbcast 0:lanes\n", 4, "one line");
    bad(HEAD ENTRY ENTRY, 3, "remove this entry");
    static const char *const entries[] = {
        "[",
        "]",
        "[]",
        "[ ]",
        "[openmpi-5.0.11]",
        "[a tcp nodes=2]",
        "[a tcp nodes=2 ranks=4",
        "[a tcp nodes=0 ranks=4]",
        "[a tcp nodes=2 ranks=]",
        "[a tcp ranks=4 nodes=2]",
        "[a tcp nodes=2 ranks=4 more]",
        "[a tcp nodes=2 ranks=99999999999]",
        "[a tcp nodes=2 ranks=4] bcast",
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char text[128];
        snprintf(text, sizeof text, HEAD "\n%s\n", entries[i]);
        bad(text, 3, entries[i][0] == '[' ? "an entry is" : "a line begins");
    }
    /* Lines of other hosts' entries are checked as well. */
    bad(HEAD "[mpich-4.2.1 tcp nodes=2 ranks=4]\nbcast 7\n", 3, "BYTES:WAY");
}

/* A right file with bytes changed, cut or doubled. */
static void any_text_is_read_within_its_bounds(void)
{
    static const char whole[] = HEAD
        "# a word\n" ENTRY
        "bcast 0:leaders 65536:lanes 4194304:host\nscan 0:host\n"
        "[openmpi-5.0.11 tcp nodes=3 ranks=1]\nbarrier 0:leaders\n" NODE
        "iscan 0:ours 64:host\nslice_min 8192\n";
    static const char pieces[] = "[]:=# \t\r\n09aZ\x80\xff";
    uint64_t state = 88172645463325252u;
    for (int turn = 0; turn < 20000; turn++) {
        key = turn % 2 ? tcp : shm;
        char text[2 * sizeof whole];
        memcpy(text, whole, sizeof whole);
        for (uint64_t k = random_from(&state) % 4; k; k--)
            text[random_from(&state) % (sizeof whole - 1)] =
                pieces[random_from(&state) % (sizeof pieces - 1)];
        if (random_from(&state) % 4 == 0)
            text[random_from(&state) % sizeof whole] = '\0';
        bool good = takes(text);
        MUST(good || (fault.line > 0 && fault.line < 64));
    }
}

static void host_is(const char *version, const char *name)
{
    char to[SW_SPAN_NAME];
    sw_span_name_host(version, to);
    MUST(!strcmp(to, name));
}

static void hosts_are_named(void)
{
    host_is("Open MPI v5.0.11, package: Open MPI user@host Distribution",
            "openmpi-5.0.11");
    host_is("Open MPI v5.1.0rc2, package", "openmpi-5.1.0rc2");
    host_is("MPICH Version:      4.2.1\nMPICH Release date: 2024",
            "mpich-4.2.1");
    host_is("Intel(R) MPI Library 2021.17 for Linux* OS\n", "intel-2021.17");
    host_is("MVAPICH Version: 3.0", "mvapich-3.0");
    host_is("My own 7", "mpi");
    host_is("", "mpi");
    char longest[400];
    memset(longest, '1', sizeof longest);
    longest[1] = '.';
    longest[sizeof longest - 1] = '\0';
    char to[SW_SPAN_NAME];
    sw_span_name_host(longest, to);
    MUST(strlen(to) < SW_SPAN_NAME);
}

static void transport_is(const char *host, const char *variable,
                         const char *value, const char *name)
{
    char to[SW_SPAN_NAME];
    setenv(variable, value, 1);
    sw_span_name_transport(host, to);
    MUST(!strcmp(to, name));
    unsetenv(variable);
}

static void transports_are_named(void)
{
    static const char *const all[] = {
        "OMPI_MCA_pml",
        "OMPI_MCA_btl",
        "I_MPI_OFI_PROVIDER",
        "FI_PROVIDER",
        "MPIR_CVAR_OFI_USE_PROVIDER",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        unsetenv(all[i]);
    transport_is("openmpi-5.0.11", "OMPI_MCA_btl", "self,sm,tcp", "tcp");
    transport_is("openmpi-5.0.11", "OMPI_MCA_btl", "^sm", "default");
    transport_is("openmpi-5.0.11", "OMPI_MCA_pml", "ucx", "ucx");
    transport_is("openmpi-5.0.11", "OMPI_MCA_pml", "ob1", "default");
    transport_is("openmpi-5.0.11", "FI_PROVIDER", "tcp", "default");
    transport_is("mpich-4.2.1", "FI_PROVIDER", "tcp;ofi_rxm", "tcp");
    transport_is("intel-2021.17", "I_MPI_OFI_PROVIDER", "PSM3", "psm3");
    transport_is("mpich-4.2.1", "OMPI_MCA_btl", "tcp", "default");
    transport_is("mpich-4.2.1", "FI_PROVIDER", " ]\n", "default");
    transport_is("mpi", "FI_PROVIDER", "tcp", "default");
    char longest[400];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    setenv("FI_PROVIDER", longest, 1);
    char to[SW_SPAN_NAME];
    sw_span_name_transport("mpich-4.2.1", to);
    MUST(strlen(to) == SW_SPAN_NAME - 1);
}

int main(void)
{
    key = tcp;
    entries_are_read();
    one_node_has_forms_and_settings();
    the_nearest_smaller_entry_serves();
    the_hash_tells_tables_apart();
    mistakes_are_named();
    any_text_is_read_within_its_bounds();
    hosts_are_named();
    transports_are_named();
    sw_ways_drop(&table);
    return 0;
}
