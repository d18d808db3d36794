/* grid_mapping.c -- which variable holds the grid mapping of an array (CF 5.6). */
#include "cf_internal.h"

/* One "name: coordinate coordinate …" of the expanded form. */
typedef struct mapping_words {
    refs_str name;
    bool x; /* whether the coordinates along the raster are listed */
    bool y;
} mapping_words;

/* Cuts the next mapping from the front of `text`; words before the first name count for nothing. */
static bool next_mapping(const refs_cf__input *input, const refs_cf_description *description,
                         refs_str *text, mapping_words *words) {
    *words = (mapping_words){{NULL, 0}, false, false};
    refs_str rest = *text, word;
    while (refs_str_next_word(&rest, REFS_BLANKS, &word)) {
        if (word.data[word.size - 1] == ':') {
            if (words->name.data != NULL) break;
            words->name = refs_str_part(word, 0, word.size - 1);
        }
        words->x =
            words->x || refs_str_is(word, refs_cf__dim_name(input->array, description->x_dim));
        words->y =
            words->y || refs_str_is(word, refs_cf__dim_name(input->array, description->y_dim));
        *text = rest;
    }
    return words->name.data != NULL;
}

const refs_array_meta *refs_cf__grid_mapping(const refs_cf__input *input,
                                             const refs_cf_description *description) {
    refs_str text = refs_cf__text(input->array->attributes, "grid_mapping");
    if (text.data == NULL || description->y_dim == REFS_CF_NO_DIM) return NULL;
    if (refs_str_find(text, ':') == SIZE_MAX) return refs_cf__resolve(input, text);

    mapping_words words;
    while (next_mapping(input, description, &text, &words))
        if (words.x && words.y) return refs_cf__resolve(input, words.name);
    return NULL;
}
