/* complex.c -- complex packing: groups of similar values, each with a reference, width and length,
 * with or without spatial differencing.
 *
 * Source: WMO Manual on Codes, GRIB edition 2, templates 5.2, 5.3, 7.2 and 7.3.
 */
#include "bits.h"
#include "message.h"

/* Section 5 from octet 22 on. */
typedef struct grouping {
    unsigned n_missing; /* kinds of missing values: 0, 1 or 2 */
    uint32_t n_groups;
    unsigned width_reference, width_bits;
    uint32_t length_reference;
    unsigned length_increment;
    uint32_t last_length;
    unsigned length_bits;
    unsigned order;      /* of differences: 0, 1 or 2 */
    unsigned value_bits; /* of the numbers before differences */
} grouping;

static refs_status read_grouping(const refs_grib_message *message, grouping *groups,
                                 refs_error *err) {
    const uint8_t *section = message->parameters.data;
    *groups = (grouping){.n_missing = section[22],
                         .n_groups = refs_load_be32(section + 31),
                         .width_reference = section[35],
                         .width_bits = section[36],
                         .length_reference = refs_load_be32(section + 37),
                         .length_increment = section[41],
                         .last_length = refs_load_be32(section + 42),
                         .length_bits = section[46]};
    if (message->packing == REFS_GRIB_COMPLEX_DIFFERENCES) {
        groups->order = section[47];
        groups->value_bits = 8u * section[48];
    }
    if (groups->n_missing > 2 || groups->order > 2)
        return refs_fail(err, REFS_UNSUPPORTED,
                         "missing values of kind %u or differences of order %u are not supported",
                         groups->n_missing, groups->order);
    if (groups->width_bits > 32 || groups->length_bits > 32 || groups->value_bits > 32)
        return refs_fail(err, REFS_CORRUPT, "a number has more than 32 bits");
    return REFS_OK;
}

/* The positions of references, widths, lengths and values of the groups, which are stored one after
 * the other.
 */
typedef struct group_readers {
    refs_bit_reader references, widths, lengths, values;
} group_readers;

static bool skip(refs_bit_reader *reader, uint64_t count, unsigned n_bits) {
    uint64_t left = 8 * reader->bytes.size - reader->at;
    if (n_bits > 0 && count > left / n_bits) return false;
    reader->at += (size_t)(count * n_bits);
    refs_codec__align_bits(reader);
    return reader->at <= 8 * reader->bytes.size;
}

static bool place_readers(const refs_grib_message *message, const grouping *groups,
                          refs_bit_reader at, group_readers *readers) {
    readers->references = readers->widths = readers->lengths = readers->values = at;
    if (!skip(&readers->widths, groups->n_groups, message->n_bits)) return false;
    readers->lengths = readers->widths;
    if (!skip(&readers->lengths, groups->n_groups, groups->width_bits)) return false;
    readers->values = readers->lengths;
    return skip(&readers->values, groups->n_groups, groups->length_bits);
}

/* -- groups ------------------------------------------------------------------------------------ */

typedef struct value_group {
    uint32_t reference;
    unsigned width;
    uint64_t length;
} value_group;

static bool take_group(const refs_grib_message *message, const grouping *groups, uint32_t number,
                       group_readers *readers, value_group *group) {
    uint32_t width, length;
    if (!refs_codec__take_bits(&readers->references, message->n_bits, &group->reference) ||
        !refs_codec__take_bits(&readers->widths, groups->width_bits, &width) ||
        !refs_codec__take_bits(&readers->lengths, groups->length_bits, &length))
        return false;
    group->length = groups->length_reference + (uint64_t)length * groups->length_increment;
    if (number + 1 == groups->n_groups) group->length = groups->last_length;
    if (width > 32 - groups->width_reference || groups->width_reference > 32) return false;
    group->width = groups->width_reference + width;
    return true;
}

static uint32_t all_ones(unsigned n_bits) {
    return (uint32_t)((UINT64_C(1) << n_bits) - 1);
}

/* The highest number of a group, or the two highest, mean missing values; in groups of width 0, the
 * highest numbers of the reference. */
static bool is_missing(const grouping *groups, unsigned n_bits, uint32_t number) {
    if (groups->n_missing == 0 || n_bits == 0) return false;
    uint32_t highest = all_ones(n_bits);
    return number == highest || (groups->n_missing == 2 && number == highest - 1);
}

static refs_status unpack_groups(const refs_grib_message *message, const grouping *groups,
                                 group_readers *readers, int64_t *values, bool *missing) {
    size_t at = 0;
    for (uint32_t number = 0; number < groups->n_groups; number++) {
        value_group group;
        if (!take_group(message, groups, number, readers, &group) ||
            group.length > message->n_values - at)
            return REFS_CORRUPT;
        for (uint64_t i = 0; i < group.length; i++, at++) {
            uint32_t packed;
            if (!refs_codec__take_bits(&readers->values, group.width, &packed)) return REFS_CORRUPT;
            missing[at] = group.width > 0 ? is_missing(groups, group.width, packed)
                                          : is_missing(groups, message->n_bits, group.reference);
            values[at] = (int64_t)group.reference + packed;
        }
    }
    return at == message->n_values ? REFS_OK : REFS_CORRUPT;
}

/* -- differences ------------------------------------------------------------------------------- */

/* The numbers before the groups: the first values, and the minimum of all differences. */
typedef struct differences {
    int64_t first[2];
    int64_t minimum;
} differences;

static bool take_start(const grouping *groups, refs_bit_reader *reader, differences *start) {
    uint32_t number = 0;
    unsigned n_bits = groups->value_bits;
    for (unsigned i = 0; i <= groups->order && groups->order > 0; i++) {
        if (n_bits > 0 && !refs_codec__take_bits(reader, n_bits, &number)) return false;
        int64_t value = n_bits > 0 ? refs_codec__sign_magnitude(number, n_bits) : 0;
        if (i < groups->order)
            start->first[i] = value;
        else
            start->minimum = value;
    }
    return true;
}

/* Sums are modulo 2^64, because those of a damaged message may overflow. */
static void sum_differences(const grouping *groups, const differences *start, size_t n,
                            const bool *missing, int64_t *values) {
    uint64_t before[2] = {0, 0};
    unsigned seen = 0;
    for (size_t i = 0; i < n; i++) {
        if (missing[i]) continue;
        uint64_t value = (uint64_t)values[i] + (uint64_t)start->minimum;
        if (seen < groups->order)
            value = (uint64_t)start->first[seen++];
        else
            value += groups->order == 1 ? before[0] : 2 * before[0] - before[1];
        before[1] = before[0];
        before[0] = value;
        values[i] = (int64_t)value;
    }
}

refs_status refs_codec__grib_complex(const refs_grib_message *message, int64_t *values,
                                     bool *missing, refs_error *err) {
    grouping groups;
    group_readers readers;
    differences start = {{0, 0}, 0};
    refs_bit_reader at = {message->data, 0};
    REFS_TRY(read_grouping(message, &groups, err));
    if (groups.n_groups == 0) return REFS_OK;
    if (!take_start(&groups, &at, &start) || !place_readers(message, &groups, at, &readers) ||
        unpack_groups(message, &groups, &readers, values, missing) != REFS_OK)
        return refs_fail(err, REFS_CORRUPT, "the groups of %zu values do not fit into %zu bytes",
                         message->n_values, message->data.size);
    if (groups.order > 0) sum_differences(&groups, &start, message->n_values, missing, values);
    return REFS_OK;
}
