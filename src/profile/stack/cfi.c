/*
 * cfi.c - a reader of .eh_frame; see cfi.h, and for the format the Linux
 * Standard Base (.eh_frame, .eh_frame_hdr) and DWARF 5, section 6.4.
 *
 *     .eh_frame_hdr   a sorted table: first address -> FDE
 *     .eh_frame       CIE: what a number of functions have in common
 *                     FDE: one function: its addresses, and a program that
 *                          says, address by address, what changes
 *
 * The program is run up to the address asked for. It sets rules for all
 * registers; three are kept: the CFA, the return address's, the frame
 * pointer's.
 *
 * A damaged or unknown table must not end the program: every read goes through
 * a cursor that ends where the segment does.
 */
#include "cfi.h"

#include <string.h>

#if defined(__x86_64__)
enum { BP = 6, SP = 7, OP_BREG_BP = 0x70 + BP };
#elif defined(__aarch64__)
enum { BP = 29, SP = 31, OP_BREG_BP = 0x70 + BP };
#else
#error "the numbers of this architecture's registers are not known"
#endif

/* A read past the end gives zeros and moves to the end, where `bad` is set. */
typedef struct {
    const unsigned char *at, *end;
    bool bad;
} cursor_t;

static uint64_t fixed(cursor_t *c, size_t n)
{
    uint64_t value = 0;

    if ((size_t)(c->end - c->at) < n) {
        c->at = c->end;
        c->bad = true;
        return 0;
    }
    memcpy(&value, c->at, n);
    c->at += n;
    return value;
}

static uint64_t uleb(cursor_t *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0;; shift += 7) {
        uint64_t byte = fixed(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
}

static int64_t sleb(cursor_t *c)
{
    uint64_t value = 0;

    for (unsigned shift = 0;;) {
        uint64_t byte = fixed(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80)) {
            if (shift < 64 && (byte & 0x40))
                value |= ~(uint64_t)0 << shift;
            return (int64_t)value;
        }
    }
}

static void skip(cursor_t *c, uint64_t n)
{
    if (n > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        n = (uint64_t)(c->end - c->at);
    }
    c->at += n;
}

/* A pointer in one of the encodings DW_EH_PE_*; `data` is what datarel counts
 * from. Where it is indirect, the address of the pointer is given. */
static uint64_t encoded(cursor_t *c, uint8_t encoding, uintptr_t data)
{
    uintptr_t here = (uintptr_t)c->at;
    uint64_t value;

    if (encoding == 0xff) /* omitted */
        return 0;
    switch (encoding & 0x0f) {
    case 0x00: value = fixed(c, sizeof(void *)); break;
    case 0x01: value = uleb(c); break;
    case 0x02: value = fixed(c, 2); break;
    case 0x03: value = fixed(c, 4); break;
    case 0x04: value = fixed(c, 8); break;
    case 0x09: value = (uint64_t)sleb(c); break;
    case 0x0a: value = (uint64_t)(int16_t)fixed(c, 2); break;
    case 0x0b: value = (uint64_t)(int32_t)fixed(c, 4); break;
    case 0x0c: value = fixed(c, 8); break;
    default: c->bad = true; return 0;
    }
    switch (encoding & 0x70) {
    case 0x00: return value;
    case 0x10: return value ? value + here : 0; /* relative to here */
    case 0x30: return value + data;
    default: c->bad = true; return 0; /* textrel, funcrel, aligned */
    }
}

/* The object, and a cursor anywhere in it. */
typedef struct {
    const ElfW(Phdr) *phdr;
    uint32_t phnum;
    uintptr_t bias;
} object_t;

static cursor_t cursor(const object_t *o, uintptr_t at)
{
    for (uint32_t i = 0; i < o->phnum; i++) {
        const ElfW(Phdr) *p = &o->phdr[i];
        uintptr_t from = o->bias + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) &&
            at - from < p->p_memsz)
            return (cursor_t){(const void *)at,
                              (const void *)(from + p->p_memsz), false};
    }
    return (cursor_t){NULL, NULL, true};
}

/* The entry (length, contents) at the cursor: a cursor over its contents, and
 * the first one moved behind it. */
static cursor_t entry(cursor_t *c)
{
    uint64_t length = fixed(c, 4);
    cursor_t inside;

    if (length == 0xffffffff)
        length = fixed(c, 8);
    inside = *c;
    skip(c, length);
    inside.end = c->at;
    inside.bad = c->bad || length == 0;
    return inside;
}

typedef struct {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra;      /* the return address's register */
    uint8_t encoding; /* of addresses in the FDEs */
    bool augmented, signal;
    cursor_t program;
} cie_t;

static bool read_cie(const object_t *o, uintptr_t at, cie_t *cie)
{
    cursor_t all = cursor(o, at), c = entry(&all);

    memset(cie, 0, sizeof *cie);
    if (fixed(&c, 4) != 0)
        return false;
    uint64_t version = fixed(&c, 1);
    const char *augmentation = (const char *)c.at;
    const unsigned char *nul = memchr(c.at, 0, (size_t)(c.end - c.at));
    if (!nul || (version != 1 && version != 3 && version != 4))
        return false;
    c.at = nul + 1;
    if (version == 4)
        skip(&c, 2);
    cie->code_align = uleb(&c);
    cie->data_align = sleb(&c);
    cie->ra = version == 1 ? fixed(&c, 1) : uleb(&c);
    if (*augmentation == 'z') {
        uint64_t length = uleb(&c);
        cursor_t a = c;
        skip(&c, length);
        a.end = c.at;
        cie->augmented = true;
        for (augmentation++; *augmentation; augmentation++)
            switch (*augmentation) {
            case 'R': cie->encoding = (uint8_t)fixed(&a, 1); break;
            case 'L': skip(&a, 1); break;
            case 'P': {
                uint8_t encoding = (uint8_t)fixed(&a, 1);
                encoded(&a, encoding & 0x7f, 0);
                break;
            }
            case 'S': cie->signal = true; break;
            case 'B':
            case 'G': break; /* signed addresses: we strip */
            default: return false;
            }
        if (a.bad)
            return false;
    } else if (*augmentation) {
        return false;
    }
    cie->program = c;
    return !c.bad;
}

/* The FDE at `at`: does it describe the address? */
static bool read_fde(const object_t *o, uintptr_t at, uintptr_t address,
                     cie_t *cie, uintptr_t *first, cursor_t *program)
{
    cursor_t all = cursor(o, at), c = entry(&all);
    uintptr_t here = (uintptr_t)c.at;
    uint64_t back = fixed(&c, 4), size;

    if (c.bad || back == 0 || !read_cie(o, here - back, cie))
        return false;
    *first = encoded(&c, cie->encoding, 0);
    size = encoded(&c, cie->encoding & 0x0f, 0);
    if (c.bad || address - *first >= size)
        return false;
    if (cie->augmented) {
        uint64_t length = uleb(&c);
        skip(&c, length);
    }
    *program = c;
    return !c.bad;
}

/* The FDE's place by the sorted table of .eh_frame_hdr: pairs of offsets from
 * the header, as all linkers write it. 0: there is none. */
static uintptr_t look_up(const object_t *o, uintptr_t header, uintptr_t address,
                         uintptr_t *section)
{
    cursor_t c = cursor(o, header);
    uint64_t version = fixed(&c, 1);
    uint8_t section_encoding = (uint8_t)fixed(&c, 1);
    uint8_t count_encoding = (uint8_t)fixed(&c, 1);
    uint8_t table_encoding = (uint8_t)fixed(&c, 1);

    if (version != 1)
        return 0;
    *section = encoded(&c, section_encoding, header);
    uint64_t count = encoded(&c, count_encoding, header);
    if (c.bad || table_encoding != 0x3b || count > (uint64_t)(c.end - c.at) / 8)
        return 0;
    struct {
        int32_t first, fde;
    } pair;
    uint64_t low = 0, high = count; /* the last first <= address */
    while (low < high) {
        uint64_t mid = (low + high) / 2;
        memcpy(&pair, c.at + 8 * mid, 8);
        if (header + (uintptr_t)(intptr_t)pair.first <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return 0;
    memcpy(&pair, c.at + 8 * (low - 1), 8);
    return header + (uintptr_t)(intptr_t)pair.fde;
}

static bool find_fde(const object_t *o, uintptr_t address, cie_t *cie,
                     uintptr_t *first, cursor_t *program)
{
    for (uint32_t i = 0; i < o->phnum; i++) {
        uintptr_t section = 0;
        if (o->phdr[i].p_type != PT_GNU_EH_FRAME)
            continue;
        uintptr_t fde = look_up(o, o->bias + o->phdr[i].p_vaddr, address,
                                &section);
        if (fde)
            return read_fde(o, fde, address, cie, first, program);
        /* Without a table, one FDE after another. */
        for (cursor_t c = cursor(o, section); !c.bad;) {
            uintptr_t at = (uintptr_t)c.at;
            if (entry(&c).bad)
                return false;
            if (read_fde(o, at, address, cie, first, program))
                return true;
        }
    }
    return false;
}

/* The state of the machine ------------------------------------------------ */

enum { UNSET, SAVED_CFA, SAVED_BP, SAME, UNDEFINED, OTHER };

typedef struct {
    uint8_t rule;
    int64_t offset;
} saved_t;

typedef struct {
    uint64_t cfa_register;
    int64_t cfa_offset;
    bool cfa_load, cfa_other;
    saved_t ra, bp;
} state_t;

#define REMEMBERED 16

static saved_t *kept(state_t *s, const cie_t *cie, uint64_t number)
{
    return number == cie->ra ? &s->ra : number == BP ? &s->bp : NULL;
}

static void set(state_t *s, const cie_t *cie, uint64_t number, uint8_t rule,
                int64_t offset)
{
    saved_t *r = kept(s, cie, number);
    if (r)
        *r = (saved_t){rule, offset};
}

/* An expression that is "the frame pointer + a constant", and with `load` the
 * word that is there. */
static bool simple(cursor_t *c, bool load, int64_t *offset)
{
    uint64_t length = uleb(c);
    cursor_t x = *c;

    skip(c, length);
    x.end = c->at;
    if (fixed(&x, 1) != OP_BREG_BP)
        return false;
    *offset = sleb(&x);
    if (load && fixed(&x, 1) != 0x06) /* DW_OP_deref */
        return false;
    return !x.bad && x.at == x.end;
}

/* Run a program from `location` on until it is past `address`. */
static bool run(cursor_t c, const cie_t *cie, state_t *s,
                const state_t *initial, uintptr_t location, uintptr_t address,
                uint8_t encoding)
{
    state_t memory[REMEMBERED];
    int remembered = 0;
    uint64_t r;

    while (c.at < c.end && !c.bad) {
        uint8_t op = (uint8_t)fixed(&c, 1), low = op & 0x3f;
        uint64_t advance = 0;
        switch (op >> 6) {
        case 1: advance = low * cie->code_align; break;
        case 2:
            set(s, cie, low, SAVED_CFA, (int64_t)uleb(&c) * cie->data_align);
            break;
        case 3: r = low; goto restore;
        default:
            switch (op) {
            case 0x00: break; /* nop */
            case 0x01:        /* set_loc */
                location = encoded(&c, encoding, 0);
                if (location > address)
                    return !c.bad;
                break;
            case 0x02: advance = fixed(&c, 1) * cie->code_align; break;
            case 0x03: advance = fixed(&c, 2) * cie->code_align; break;
            case 0x04: advance = fixed(&c, 4) * cie->code_align; break;
            case 0x05: /* offset_extended */
                r = uleb(&c);
                set(s, cie, r, SAVED_CFA, (int64_t)uleb(&c) * cie->data_align);
                break;
            case 0x06: /* restore_extended */
                r = uleb(&c);
            restore:
                if (!initial)
                    return false;
                if (kept(s, cie, r))
                    *kept(s, cie, r) = *kept((state_t *)initial, cie, r);
                break;
            case 0x07: set(s, cie, uleb(&c), UNDEFINED, 0); break;
            case 0x08: set(s, cie, uleb(&c), SAME, 0); break;
            case 0x09: /* register */
                set(s, cie, uleb(&c), OTHER, 0);
                uleb(&c);
                break;
            case 0x0a: /* remember_state */
                if (remembered == REMEMBERED)
                    return false;
                memory[remembered++] = *s;
                break;
            case 0x0b: /* restore_state */
                if (!remembered)
                    return false;
                *s = memory[--remembered];
                break;
            case 0x0c:
            case 0x12: /* def_cfa, def_cfa_sf */
                s->cfa_register = uleb(&c);
                s->cfa_offset = op == 0x0c ? (int64_t)uleb(&c)
                                           : sleb(&c) * cie->data_align;
                s->cfa_load = s->cfa_other = false;
                break;
            case 0x0d: /* def_cfa_register */ s->cfa_register = uleb(&c); break;
            case 0x0e: s->cfa_offset = (int64_t)uleb(&c); break;
            case 0x13: s->cfa_offset = sleb(&c) * cie->data_align; break;
            case 0x0f: /* def_cfa_expression */
                s->cfa_load = true;
                s->cfa_register = BP;
                s->cfa_other = !simple(&c, true, &s->cfa_offset);
                break;
            case 0x10: { /* expression */
                int64_t offset = 0;
                r = uleb(&c);
                bool known = simple(&c, false, &offset);
                set(s, cie, r, known ? SAVED_BP : OTHER, offset);
                break;
            }
            case 0x11: /* offset_extended_sf */
                r = uleb(&c);
                set(s, cie, r, SAVED_CFA, sleb(&c) * cie->data_align);
                break;
            case 0x14:
            case 0x15: /* val_offset(_sf) */
                set(s, cie, uleb(&c), OTHER, 0);
                uleb(&c);
                break;
            case 0x16: { /* val_expression */
                set(s, cie, uleb(&c), OTHER, 0);
                uint64_t length = uleb(&c);
                skip(&c, length);
                break;
            }
            case 0x2c:
            case 0x2d: break;           /* whether addresses are signed */
            case 0x2e: uleb(&c); break; /* GNU_args_size */
            case 0x2f:                  /* GNU_negative_offset_extended */
                r = uleb(&c);
                set(s, cie, r, SAVED_CFA, -(int64_t)uleb(&c) * cie->data_align);
                break;
            default: return false;
            }
        }
        location += advance;
        if (location > address)
            return !c.bad;
    }
    return !c.bad;
}

static bool small(int64_t offset)
{
    return offset == (int32_t)offset;
}

sw_cfi_rule_t sw_cfi_rule(const ElfW(Phdr) *phdr, uint32_t phnum,
                          uintptr_t bias, uintptr_t address)
{
    const object_t object = {phdr, phnum, bias};
    const sw_cfi_rule_t none = {.cfa_from = SW_CFA_NONE, .bp_from = SW_BP_LOST};
    sw_cfi_rule_t rule = none;
    state_t state = {.cfa_other = true}, initial;
    cursor_t program;
    uintptr_t first;
    cie_t cie;

    if (!find_fde(&object, address, &cie, &first, &program))
        return none;
    if (cie.signal) {
        rule.cfa_from = SW_CFA_SIGNAL;
        return rule;
    }
    if (!run(cie.program, &cie, &state, NULL, 0, UINTPTR_MAX, cie.encoding))
        return none;
    initial = state;
    if (!run(program, &cie, &state, &initial, first, address, cie.encoding))
        return none;

    if (state.cfa_other || state.ra.rule != SAVED_CFA ||
        !small(state.cfa_offset) || !small(state.ra.offset) ||
        !small(state.bp.offset))
        return none;
    if (state.cfa_register == BP)
        rule.cfa_from = state.cfa_load ? SW_CFA_BP_LOAD : SW_CFA_BP;
    else if (state.cfa_register == SP)
        rule.cfa_from = SW_CFA_SP;
    else
        return none;
    rule.cfa = (int32_t)state.cfa_offset;
    rule.ra = (int32_t)state.ra.offset;
    rule.bp = (int32_t)state.bp.offset;
    rule.bp_from = state.bp.rule == SAVED_CFA  ? SW_BP_CFA
                   : state.bp.rule == SAVED_BP ? SW_BP_BP
                   : state.bp.rule == UNSET || state.bp.rule == SAME
                       ? SW_BP_SAME
                       : SW_BP_LOST;
    return rule;
}
