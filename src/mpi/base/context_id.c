/*
 * context_id.c - communicators get the same name on all their members.
 *
 * Most makings are collective over the parent, so all its members count the
 * same ones. The parent's name and that count make the child's name. (The
 * children of one split share a name, and no two members.) A member whose
 * arguments the host has refused calls again: the refused call made nothing at
 * the other members, and does not count. Where only members of the child take
 * part, its first member draws a name and tells the others. Other makings
 * (between groups, with sessions, or complete later only) leave the child
 * without a name: its messages go through the host.
 */
#include "context_id.h"

#include "comm.h"
#include "guard.h"
#include "link.h"

static uint64_t mixed(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

uint64_t sw_comm_conceive(MPI_Comm parent)
{
    if (!sw_linked || parent == MPI_COMM_NULL)
        return 0;
    sw_comm_t *c = sw_comm_state(parent);
    if (!c || !c->context_id)
        return 0;
    uint64_t name = mixed(c->context_id * 0x9e3779b97f4a7c15u + c->children +
                          1);
    return name ? name : 1;
}

/* Did the host refuse the arguments, before it asked any other member? */
static bool refused(int result)
{
    static const int classes[] = {
        MPI_ERR_ARG, MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_DIMS,
        MPI_ERR_TOPOLOGY, MPI_ERR_RANK, MPI_ERR_COUNT, MPI_ERR_INFO,
    };
    int class = MPI_SUCCESS;
    host.Error_class(result, &class);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (class == classes[i])
            return true;
    return false;
}

int sw_comm_born(MPI_Comm parent, uint64_t name, int result,
                 const MPI_Comm *child)
{
    sw_comm_t *from = name ? sw_comm_state(parent) : NULL;
    if (from && (result == MPI_SUCCESS || !refused(result)))
        from->children++;
    if (result != MPI_SUCCESS || !name || *child == MPI_COMM_NULL)
        return result;
    sw_comm_t *c = sw_comm_state(*child);
    if (c)
        c->context_id = name;
    return result;
}

/* Members of another MPI_COMM_WORLD might not be listening. */
static int christened(int result, const MPI_Comm *child)
{
    sw_comm_t *c = result == MPI_SUCCESS && *child != MPI_COMM_NULL
        ? sw_comm_state(*child) : NULL;
    uint64_t name;
    if (!c || c->n < 2 || c->reason == SW_REASON_FOREIGN)
        return result;
    sw_os_random(&name, sizeof name);
    name |= 1;
    if (host.Bcast(&name, (int)sizeof name, MPI_BYTE, 0, *child) ==
        MPI_SUCCESS)
        c->context_id = name;
    return result;
}

#define MAKER(NAME, PARENT, CHILD, PARAMETERS, ARGUMENTS)               \
int sw_MPI_##NAME PARAMETERS                                            \
{                                                                       \
    SW_INSIDE;                                                          \
    uint64_t name = sw_comm_conceive(PARENT);                           \
    return sw_comm_born(PARENT, name, host.NAME ARGUMENTS, CHILD);      \
}

MAKER(Comm_dup, comm, made, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKER(Comm_split, comm, made,
      (MPI_Comm comm, int color, int key, MPI_Comm *made),
      (comm, color, key, made))
MAKER(Comm_create, comm, made,
      (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKER(Cart_sub, comm, made,
      (MPI_Comm comm, const int remain[], MPI_Comm *made),
      (comm, remain, made))
int sw_MPI_Intercomm_merge(MPI_Comm between, int high, MPI_Comm *made)
{
    SW_INSIDE;
    return christened(host.Intercomm_merge(between, high, made), made);
}
#ifdef SW_HAS_Comm_create_group
int sw_MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
                             MPI_Comm *made)
{
    SW_INSIDE;
    return christened(host.Comm_create_group(comm, group, tag, made), made);
}
#endif
#ifdef SW_HAS_Comm_dup_with_info
MAKER(Comm_dup_with_info, comm, made,
      (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
#endif
#ifdef SW_HAS_Comm_split_type
MAKER(Comm_split_type, comm, made,
      (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
      (comm, type, key, info, made))
#endif
