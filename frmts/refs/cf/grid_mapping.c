/* grid_mapping.c -- finds the grid mapping variable of an array (CF 5.6), also without an attribute
 * "grid_mapping". */
#include "cf_internal.h"

/* One "name: coordinate coordinate …" of the expanded form. */
typedef struct mapping_words {
    refs_str name;
    bool x; /* the coordinate variables of the raster are listed */
    bool y;
} mapping_words;

/* Cuts the next mapping from the front of `text`; words before the first name are ignored. */
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

/* Whether a coordinate without dimensions is a grid mapping, by its attributes. */
static bool says_mapping(const refs_array_meta *variable) {
    return variable != NULL && variable->status == REFS_OK && variable->rank == 0 &&
           (refs_cf__has_crs_text(variable->attributes) ||
            refs_cf__text(variable->attributes, "grid_mapping_name").size > 0);
}

/* If xarray writes a dataset of rioxarray, its grid mapping "spatial_ref" is only listed among the
 * coordinates: finds the first of these that is a grid mapping. */
static const refs_array_meta *find_among_coordinates(const refs_cf__input *input) {
    refs_str names = refs_cf__text(input->array->attributes, "coordinates"), name;
    while (refs_str_next_word(&names, REFS_BLANKS, &name)) {
        const refs_array_meta *variable = refs_cf__resolve(input, name);
        if (says_mapping(variable)) return variable;
    }
    return NULL;
}

const refs_array_meta *refs_cf__grid_mapping(const refs_cf__input *input,
                                             const refs_cf_description *description) {
    refs_str text = refs_cf__text(input->array->attributes, "grid_mapping");
    if (description->y_dim == REFS_CF_NO_DIM) return NULL;
    if (text.data == NULL) return find_among_coordinates(input);
    if (refs_str_find(text, ':') == SIZE_MAX) return refs_cf__resolve(input, text);

    mapping_words words;
    while (next_mapping(input, description, &text, &words))
        if (words.x && words.y) return refs_cf__resolve(input, words.name);
    return NULL;
}
