/* chunk_key.c -- see chunk_key.h. */
#include "chunk_key.h"

/* Numbers of this many digits always fit into 64 bits. */
#define SAFE_DIGITS 19

/* Reads numbers joined by dots from all of `text`; returns zero if it has anything else. */
static size_t read_dotted(refs_str text, size_t max_rank, uint64_t *index) {
    size_t rank = 0, begin = 0;
    for (;;) {
        size_t end = begin;
        uint64_t number = 0;
        for (; end < text.size; end++) {
            unsigned digit = (unsigned)(unsigned char)text.data[end] - '0';
            if (digit > 9) break;
            if (end - begin < SAFE_DIGITS)
                number = number * 10 + digit;
            else if (!refs_mul_u64(number, 10, &number) || !refs_add_u64(number, digit, &number))
                return 0;
        }
        bool plain = end - begin == 1 || (end > begin && text.data[begin] != '0');
        if (!plain || rank == max_rank) return 0;
        index[rank++] = number;
        if (end == text.size) return rank;
        if (text.data[end] != '.') return 0;
        begin = end + 1;
    }
}

/* Adds components before `begin` that are numbers to the front of the index. */
static void split_slashed(refs_str key, size_t begin, refs_split_key *split) {
    uint64_t reversed[REFS_CHUNK_MAX_RANK] = {split->index[0]};
    split->rank = 1;
    while (begin > 0 && split->rank < REFS_CHUNK_MAX_RANK) {
        refs_str before = refs_str_part(key, 0, begin - 1);
        if (read_dotted(refs_path_last(before), 1, &reversed[split->rank]) == 0) break;
        begin = refs_path_folder(before).size;
        split->rank++;
    }
    for (size_t i = 0; i < split->rank; i++) split->index[i] = reversed[split->rank - 1 - i];
    split->separator = '/';
    split->prefix = refs_str_part(key, 0, begin);
}

bool refs_references__chunk_key_split(refs_str key, refs_split_key *split) {
    split->text = key;
    split->prefix = refs_path_folder(key);
    split->separator = '.';
    split->rank = read_dotted(refs_path_last(key), REFS_CHUNK_MAX_RANK, split->index);
    if (split->rank == 1) split_slashed(key, split->prefix.size, split);
    return split->rank > 0;
}

static bool resplit_slashed(refs_str text, size_t rank, uint64_t *index) {
    for (size_t i = 0; i < rank; i++) {
        size_t slash = refs_str_find(text, '/');
        if ((slash == SIZE_MAX) != (i == rank - 1)) return false;
        if (read_dotted(refs_str_part(text, 0, slash), 1, &index[i]) == 0) return false;
        if (slash != SIZE_MAX) text = refs_str_part(text, slash + 1, text.size);
    }
    return true;
}

bool refs_references__chunk_key_resplit(refs_str key, refs_str prefix, char separator, size_t rank,
                                        uint64_t *index) {
    if (key.size <= prefix.size || memcmp(key.data, prefix.data, prefix.size) != 0) return false;
    refs_str text = refs_str_part(key, prefix.size, key.size);
    if (separator == '.') return read_dotted(text, REFS_CHUNK_MAX_RANK, index) == rank;
    return resplit_slashed(text, rank, index);
}

unsigned refs_references__chunk_index_bits(size_t rank) {
    static const uint8_t bits[REFS_CHUNK_MAX_RANK + 1] = {0, 64, 32, 21, 16, 12, 10, 9, 8, 7, 6,
                                                          5, 5,  4,  4,  4,  4,  3,  3, 3, 3, 3,
                                                          2, 2,  2,  2,  2,  2,  2,  2, 2, 2, 2};
    return bits[rank];
}

bool refs_references__chunk_index_pack(const uint64_t *index, size_t rank, uint64_t *packed) {
    if (rank == 1) {
        *packed = index[0];
        return true;
    }
    const unsigned bits = refs_references__chunk_index_bits(rank);
    uint64_t value = 0;
    for (size_t dim = 0; dim < rank; dim++) {
        if (index[dim] >> bits != 0) return false;
        value = value << bits | index[dim];
    }
    *packed = value;
    return true;
}

uint64_t refs_references__chunk_index_part(uint64_t packed, size_t rank, size_t dim) {
    if (rank == 1) return packed;
    const unsigned bits = refs_references__chunk_index_bits(rank);
    return packed >> bits * (rank - 1 - dim) & (((uint64_t)1 << bits) - 1);
}
