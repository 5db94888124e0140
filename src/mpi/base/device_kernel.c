/*
 * device_kernel.c - see device_kernel.h.
 *
 * Pairs, half and extended precision, and products of complex numbers have no
 * kernel: the processor reduces these.
 */
#include "device_kernel.h"

/* One more than the place. */
#define PLACE(op, type) [SW_##op][SW_##type] = 1 + SW_REDUCE_##op##_##type,
#define AS(op, type, other) [SW_##op][SW_##type] = 1 + SW_REDUCE_##op##_##other,
#define LOGICAL(type, other) \
    AS(LAND, type, other) AS(LOR, type, other) AS(LXOR, type, other)
#define BITWISE(type, other) \
    AS(BAND, type, other) AS(BOR, type, other) AS(BXOR, type, other)
#define SIGNED(type, other) \
    AS(SUM, type, other)    \
    AS(PROD, type, other) LOGICAL(type, other) BITWISE(type, other)

/* As they are named; then what the sign does not matter to, what has the same
 * bits, and sums of complex numbers, component by component. */
static const uint8_t places[SW_OP_COUNT][SW_TYPE_COUNT] = {
    SW_REDUCTIONS(PLACE) SIGNED(INT8, UINT8) SIGNED(INT16, UINT16)
        SIGNED(INT32, UINT32) SIGNED(INT64, UINT64) BITWISE(BYTE, UINT8)
            LOGICAL(C_BOOL, UINT8) LOGICAL(LOGICAL1, UINT8)
                LOGICAL(LOGICAL2, UINT16) LOGICAL(LOGICAL4, UINT32)
                    LOGICAL(LOGICAL8, UINT64) AS(SUM, COMPLEX_FLOAT, FLOAT)
                        AS(SUM, COMPLEX_DOUBLE, DOUBLE)};

sw_device_kernel_t sw_device_kernel(const sw_operation_t *o)
{
    int type = o->type->kernel;
    int place = o->predefined < 0 || type < 0 ? 0 : places[o->predefined][type];
    sw_device_kernel_t k = {.place = place - 1};
    if (place) {
        k.align = sw_combine_element(k.place);
        k.each = (unsigned)sw_type_bytes((sw_type_t)type) / k.align;
    }
    return k;
}
