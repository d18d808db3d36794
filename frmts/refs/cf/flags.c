/* flags.c -- names and colours of values: flag_values and flag_meanings (CF 3.5), and flag_colors,
 * which land cover products add to them: "#000000 #ffff64 …". */
#include "cf_internal.h"

/* Most flags of an array, and the largest value in a list of names that begins at 0. */
enum { MAX_FLAGS = 4096, MAX_VALUE = 65535 };

static bool is_integer(const refs_dtype *dtype) {
    return dtype->type == REFS_TYPE_INT || dtype->type == REFS_TYPE_UINT;
}

/* Sets the name of `value`; values before it without a name get an empty one. */
static refs_status set_name(refs_cf_items *names, size_t value, refs_str name, refs_error *err) {
    while (names->n <= value) REFS_TRY(refs_cf__copy_item(names, "", err));
    char *copy = refs_str_copy(name);
    if (copy == NULL) return refs_fail_nomem(err);
    refs_free(names->items[value]);
    names->items[value] = copy;
    return REFS_OK;
}

/* Whether all flags are values for a list, and each has a name. */
static bool is_list(const double *values, size_t n, refs_str meanings) {
    refs_str name;
    for (size_t i = 0; i < n; i++)
        if (!(values[i] >= 0 && values[i] <= (double)MAX_VALUE) ||
            values[i] != (double)(size_t)values[i] ||
            !refs_str_next_word(&meanings, REFS_BLANKS, &name))
            return false;
    return n > 0 && !refs_str_next_word(&meanings, REFS_BLANKS, &name);
}

static bool hex_digit(char c, unsigned *digit) {
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c != '\0' ? strchr(digits, c) : NULL;
    if (found != NULL) *digit = (unsigned)(found - digits) % 16;
    return found != NULL;
}

/* "#ffff64". */
static bool parse_color(refs_str word, refs_cf_color *color) {
    uint8_t parts[3];
    if (word.size != 7 || word.data[0] != '#') return false;
    for (size_t i = 0; i < 3; i++) {
        unsigned high, low;
        if (!hex_digit(word.data[1 + 2 * i], &high) || !hex_digit(word.data[2 + 2 * i], &low))
            return false;
        parts[i] = (uint8_t)(16 * high + low);
    }
    *color = (refs_cf_color){parts[0], parts[1], parts[2], 255};
    return true;
}

/* Sets the colours of the `n` values, or none unless each value has one. */
static refs_status color_values(refs_str text, const double *values, size_t n,
                                refs_cf_description *description, refs_error *err) {
    refs_cf_color *colors = refs_calloc(description->categories.n, sizeof *colors);
    if (colors == NULL) return refs_fail_nomem(err);
    refs_str word;
    bool all = true;
    for (size_t i = 0; i < n && all; i++)
        all = refs_str_next_word(&text, " ,\t\r\n", &word) &&
              parse_color(word, &colors[(size_t)values[i]]);
    if (all && !refs_str_next_word(&text, " ,\t\r\n", &word)) {
        description->colors = colors;
        description->n_colors = description->categories.n;
    } else {
        refs_free(colors);
    }
    return REFS_OK;
}

static refs_status name_values(const refs_cf__input *input, double *values,
                               refs_cf_description *description, refs_error *err) {
    const refs_json *attributes = input->array->attributes;
    refs_str meanings = refs_cf__text(attributes, "flag_meanings"), name;
    size_t n = refs_cf__numbers(attributes, "flag_values", values, MAX_FLAGS);
    for (size_t i = 0; i < n && description->unsigned_values; i++)
        values[i] = refs_cf__to_unsigned(&input->array->dtype, values[i]);
    if (!is_list(values, n, meanings)) return REFS_OK;
    for (size_t i = 0; i < n && refs_str_next_word(&meanings, REFS_BLANKS, &name); i++)
        REFS_TRY(set_name(&description->categories, (size_t)values[i], name, err));
    refs_str colors = refs_cf__text(attributes, "flag_colors");
    return colors.size > 0 ? color_values(colors, values, n, description, err) : REFS_OK;
}

/* Reads the palette of a TIFF file; nodata is transparent, as in GDAL. */
static refs_status read_tiff_colors(const refs_json *list, refs_cf_description *description,
                                    refs_error *err) {
    size_t n = refs_json_size(list);
    if (n == 0 || n > MAX_VALUE + 1) return REFS_OK;
    refs_cf_color *colors = refs_calloc(n, sizeof *colors);
    if (colors == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < n; i++) {
        uint64_t parts[3] = {0, 0, 0};
        for (size_t k = 0; k < 3; k++)
            refs_json_u64(refs_json_at(refs_json_at(list, i), k), &parts[k]);
        bool is_nodata = description->nodata_kind == REFS_CF_NODATA_DOUBLE &&
                         !(description->nodata < (double)i) && !(description->nodata > (double)i);
        colors[i] = (refs_cf_color){(uint8_t)parts[0], (uint8_t)parts[1], (uint8_t)parts[2],
                                    is_nodata ? 0 : 255};
    }
    description->colors = colors;
    description->n_colors = n;
    return REFS_OK;
}

/* With flag_masks, a value is several flags, which no single name describes. */
refs_status refs_cf__describe_flags(const refs_cf__input *input, refs_cf_description *description,
                                    refs_error *err) {
    const refs_json *attributes = input->array->attributes;
    const refs_json *palette = refs_json_get(attributes, "tiff_colors");
    if (refs_json_is_array(palette) && is_integer(&input->array->dtype))
        return read_tiff_colors(palette, description, err);
    if (!is_integer(&input->array->dtype) || refs_json_get(attributes, "flag_values") == NULL ||
        refs_json_get(attributes, "flag_meanings") == NULL ||
        refs_json_get(attributes, "flag_masks") != NULL)
        return REFS_OK;
    REFS_SCOPED double *values = refs_calloc(MAX_FLAGS, sizeof *values);
    if (values == NULL) return refs_fail_nomem(err);
    return name_values(input, values, description, err);
}
