/* near_name.c -- misspelt names, see near_name.h. */
#include "refs/near_name.h"

/* Longer names are not compared. */
#define LONGEST 64

static char small(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static size_t least_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The number of insertions, deletions, substitutions and transpositions of letters ("optimal string
 * alignment"). */
static size_t distance(refs_str one, refs_str other) {
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t j = 0; j <= other.size; j++) d[0][j] = j;
    for (size_t i = 1; i <= one.size; i++) {
        const char a = small(one.data[i - 1]);
        d[i][0] = i;
        for (size_t j = 1; j <= other.size; j++) {
            const char b = small(other.data[j - 1]);
            d[i][j] = least_of(least_of(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a != b));
            if (i > 1 && j > 1 && a == small(other.data[j - 2]) && small(one.data[i - 2]) == b)
                d[i][j] = least_of(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[one.size][other.size];
}

bool refs_name_is_near(refs_str asked, refs_str other, size_t *least) {
    const refs_str name = refs_path_last(asked), there = refs_path_last(other);
    const size_t most = least_of(*least, name.size / 3 + 1);
    if (name.size == 0 || name.size > LONGEST || there.size > LONGEST) return false;
    const size_t apart = distance(name, there);
    if (apart >= most) return false;
    *least = apart;
    return true;
}
