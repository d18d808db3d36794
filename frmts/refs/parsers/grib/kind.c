/* kind.c -- how a product differs from the plain parameter, see grib/field.h.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, code tables 4.7, 4.9, 4.91, 4.230 and 4.233. Names of
 * attributes are keys of ecCodes. */
#include <math.h>

#include "grib/field.h"

enum { MISSING_TYPE = 255, MISSING_SCALE = 255, SCALED_BYTES = 5, MAX_HEX_BYTES = 24 };

/* -- words ------------------------------------------------------------------------------------- */

typedef struct code_word {
    unsigned code;
    const char *word;
} code_word;

static const code_word derived_names[] = {{0, "mean"},       {1, "weighted_mean"},
                                          {2, "cluster_sd"}, {3, "normalized_sd"},
                                          {4, "spread"},     {5, "large_anomaly"},
                                          {6, "mean"},       {7, "interquartile_range"},
                                          {8, "min"},        {9, "max"}};

static const code_word derived_phrases[] = {{0, "unweighted mean of all members"},
                                            {1, "weighted mean of all members"},
                                            {2, "standard deviation of the cluster"},
                                            {3, "normalized standard deviation of the cluster"},
                                            {4, "spread of all members"},
                                            {5, "large anomaly index of all members"},
                                            {6, "unweighted mean of the cluster"},
                                            {7, "interquartile range of all members"},
                                            {8, "minimum of all members"},
                                            {9, "maximum of all members"}};

static const code_word normals[] = {{6, "above_normal"}, {7, "near_normal"}, {8, "below_normal"}};

static const code_word substances[] = {{0, "ozone"},
                                       {1, "water vapour"},
                                       {2, "methane"},
                                       {3, "carbon dioxide"},
                                       {4, "carbon monoxide"},
                                       {5, "nitrogen dioxide"},
                                       {6, "nitrous oxide"},
                                       {7, "formaldehyde"},
                                       {8, "sulphur dioxide"},
                                       {9, "ammonia"},
                                       {10, "ammonium"},
                                       {11, "nitrogen monoxide"},
                                       {17, "nitric acid"},
                                       {19, "hydrogen peroxide"},
                                       {22, "sulphate"},
                                       {23, "radon"},
                                       {10000, "hydroxyl radical"},
                                       {62000, "total aerosol"},
                                       {62001, "dry dust"},
                                       {62002, "water in ambient aerosol"},
                                       {62003, "dry ammonium"},
                                       {62004, "dry nitrate"},
                                       {62005, "nitric acid trihydrate"},
                                       {62006, "dry sulphate"},
                                       {62007, "dry mercury"},
                                       {62008, "dry sea salt"},
                                       {62009, "dry black carbon"},
                                       {62010, "dry particulate organic matter"},
                                       {62017, "black carbon (hydrophobic)"},
                                       {62018, "black carbon (hydrophilic)"},
                                       {62025, "smoke"}};

#define FIND_WORD(words, code) find_word(words, sizeof(words) / sizeof(words)[0], code)

static const char *find_word(const code_word *words, size_t n, unsigned code) {
    for (size_t i = 0; i < n; i++)
        if (words[i].code == code) return words[i].word;
    return NULL;
}

/* -- a kind that grows part by part ------------------------------------------------------------ */

static refs_status append_text(json_t *kind, const char *key, const char *text, refs_error *err) {
    const char *before = json_string_value(json_object_get(kind, key));
    REFS_SCOPED_BUF all = REFS_BUF_INIT;
    REFS_TRY(refs_buf_printf(&all, err, "%s%s", before != NULL ? before : "", text));
    if (json_object_set_new(kind, key, json_stringn((const char *)all.data, all.size)) != 0)
        return refs_fail_nomem(err);
    return REFS_OK;
}

/* Appends "_above_normal" to the name, and " above normal" to the phrase; overwrites `text`. */
static refs_status append_named(json_t *kind, char *text, refs_error *err) {
    REFS_TRY(append_text(kind, "name", text, err));
    for (char *at = text; *at != '\0'; at++)
        if (*at == '_') *at = ' ';
    return append_text(kind, "phrase", text, err);
}

static refs_status set_key(json_t *kind, const char *key, json_t *value, refs_error *err) {
    json_t *attributes = json_object_get(kind, "attributes");
    if (attributes == NULL) {
        attributes = json_object();
        if (json_object_set_new(kind, "attributes", attributes) != 0) {
            json_decref(value);
            return refs_fail_nomem(err);
        }
    }
    return json_object_set_new(attributes, key, value) == 0 ? REFS_OK : refs_fail_nomem(err);
}

/* A number in a name and a phrase: "_<label><number>", and ", <word>" or ", <label> <number>". */
typedef struct kind_number {
    const char *key, *label, *name; /* name: NULL if it equals the label */
    unsigned number;
    const char *word; /* or NULL */
} kind_number;

static refs_status add_number(json_t *kind, const kind_number *added, refs_error *err) {
    char text[128];
    const char *name = added->name != NULL ? added->name : added->label;
    REFS_TRY(set_key(kind, added->key, json_integer((json_int_t)added->number), err));
    snprintf(text, sizeof text, "_%s%u", name, added->number);
    REFS_TRY(append_text(kind, "name", text, err));
    if (added->word != NULL)
        snprintf(text, sizeof text, ", %s", added->word);
    else
        snprintf(text, sizeof text, ", %s %u", added->label, added->number);
    return append_text(kind, "phrase", text, err);
}

/* -- intervals --------------------------------------------------------------------------------- */

/* A comparison with a limit, as a name and as a sign; NULL: this limit is not used. */
typedef struct comparison {
    const char *name, *sign;
} comparison;

/* Code table 4.91; 4.9 has the same numbers up to 4. */
static const comparison comparisons[][2] = {
    {{"lt", "<"}, {NULL, NULL}},  {{NULL, NULL}, {"gt", ">"}},  {{"ge", ">="}, {"lt", "<"}},
    {{"gt", ">"}, {NULL, NULL}},  {{NULL, NULL}, {"lt", "<"}},  {{"le", "<="}, {NULL, NULL}},
    {{NULL, NULL}, {"ge", ">="}}, {{"ge", ">="}, {"le", "<="}}, {{"ge", ">="}, {NULL, NULL}},
    {{NULL, NULL}, {"le", "<="}}, {{"gt", ">"}, {"le", "<="}},  {{"eq", "="}, {NULL, NULL}}};

enum { N_COMPARISONS = sizeof comparisons / sizeof comparisons[0], IS_EQUAL = 11 };

typedef struct interval {
    const char *label;    /* "size" */
    const char *units;    /* " m"; NULL: those of the parameter */
    const char *type_key; /* "GRIB_typeOfSizeInterval" */
    const char *keys[2];  /* of the limits */
} interval;

void refs_scan__grib_print_number(double number, char *text, size_t size) {
    snprintf(text, size, "%.9g", number);
    for (char *at = text; *at != '\0'; at++)
        if (*at == ',') *at = '.';
}

static bool read_scaled(const uint8_t *p, double *number) {
    *number = refs_scan__grib_scaled(p);
    return p[0] != MISSING_SCALE && refs_load_be32(p + 1) != UINT32_MAX;
}

static refs_status add_limit(json_t *kind, const interval *limits, const comparison *compared,
                             const char *number, refs_error *err) {
    char text[96];
    snprintf(text, sizeof text, "_%s_%s", compared->name, number);
    REFS_TRY(append_text(kind, "name", text, err));
    snprintf(text, sizeof text, " %s %s%s", compared->sign, number,
             limits->units != NULL ? limits->units : "");
    return append_text(kind, limits->units != NULL ? "phrase" : "limits", text, err);
}

/* Appends a type of interval with its scaled limits; the type says which of the two are used. */
static refs_status add_interval(json_t *kind, const interval *limits, unsigned type,
                                const uint8_t *p, refs_error *err) {
    char number[32];
    bool is_second = false;
    REFS_TRY(set_key(kind, limits->type_key, json_integer((json_int_t)p[0]), err));
    for (size_t i = 0; i < 2; i++) {
        const comparison *compared = &comparisons[type][i];
        double value;
        if (compared->name == NULL) continue;
        bool is_there = read_scaled(p + 1 + i * SCALED_BYTES, &value);
        snprintf(number, sizeof number, "missing");
        if (is_there) {
            refs_scan__grib_print_number(value, number, sizeof number);
            REFS_TRY(set_key(kind, limits->keys[i], json_real(value), err));
        }
        if (is_second)
            REFS_TRY(append_text(kind, limits->units != NULL ? "phrase" : "limits", ",", err));
        REFS_TRY(add_limit(kind, limits, compared, number, err));
        is_second = true;
    }
    return REFS_OK;
}

/* Appends an unknown type with the limits that it has: "_type192_1_10", and with blanks in the long
 * name. */
static refs_status add_unknown(json_t *kind, const interval *limits, const uint8_t *p,
                               refs_error *err) {
    char text[96], number[32];
    int n = snprintf(text, sizeof text, "_type%u", p[0]);
    REFS_TRY(set_key(kind, limits->type_key, json_integer((json_int_t)p[0]), err));
    for (size_t i = 0; i < 2; i++) {
        double value;
        if (!read_scaled(p + 1 + i * SCALED_BYTES, &value)) continue;
        REFS_TRY(set_key(kind, limits->keys[i], json_real(value), err));
        refs_scan__grib_print_number(value, number, sizeof number);
        n += snprintf(text + n, sizeof text - (size_t)n, "_%s", number);
    }
    return append_named(kind, text, err);
}

static refs_status add_labelled(json_t *kind, const interval *limits, const uint8_t *p,
                                refs_error *err) {
    char text[64];
    if (p[0] == MISSING_TYPE) return REFS_OK;
    snprintf(text, sizeof text, "_%s", limits->label);
    REFS_TRY(append_text(kind, "name", text, err));
    snprintf(text, sizeof text, ", %s", limits->label);
    REFS_TRY(append_text(kind, "phrase", text, err));
    if (p[0] < N_COMPARISONS) return add_interval(kind, limits, p[0], p, err);
    return add_unknown(kind, limits, p, err);
}

/* -- probabilities and the rest ---------------------------------------------------------------- */

/* The probability's number is left out: it does not distinguish products. */
static refs_status add_probability(json_t *kind, const uint8_t *p, refs_error *err) {
    static const interval limits = {
        "prob", NULL, "GRIB_probabilityType", {"GRIB_lowerLimit", "GRIB_upperLimit"}};
    enum { AT_TYPE = 2, EQUAL_TO_LOWER = 5 };
    unsigned type = p[AT_TYPE];
    const char *normal = FIND_WORD(normals, type);
    char text[96];
    REFS_TRY(append_text(kind, "name", "_prob", err));
    REFS_TRY(append_text(kind, "prefix", "Prob of ", err));
    if (type == EQUAL_TO_LOWER) type = IS_EQUAL;
    if (p[AT_TYPE] <= EQUAL_TO_LOWER) return add_interval(kind, &limits, type, p + AT_TYPE, err);
    if (normal == NULL) return add_unknown(kind, &limits, p + AT_TYPE, err);
    REFS_TRY(set_key(kind, limits.type_key, json_integer((json_int_t)type), err));
    snprintf(text, sizeof text, "_%s", normal);
    return append_named(kind, text, err);
}

static refs_status add_derived(json_t *kind, unsigned code, refs_error *err) {
    char text[80];
    const char *name = FIND_WORD(derived_names, code), *word = FIND_WORD(derived_phrases, code);
    REFS_TRY(set_key(kind, "GRIB_derivedForecast", json_integer((json_int_t)code), err));
    if (name != NULL)
        snprintf(text, sizeof text, "_%s", name);
    else
        snprintf(text, sizeof text, "_derived%u", code);
    REFS_TRY(append_text(kind, "name", text, err));
    if (word != NULL)
        snprintf(text, sizeof text, ", %s", word);
    else
        snprintf(text, sizeof text, ", derived forecast %u", code);
    return append_text(kind, "phrase", text, err);
}

static refs_status add_quantile(json_t *kind, const uint8_t *p, refs_error *err) {
    char text[64];
    unsigned total = refs_load_be16(p), value = refs_load_be16(p + 2);
    REFS_TRY(set_key(kind, "GRIB_totalNumberOfQuantiles", json_integer((json_int_t)total), err));
    REFS_TRY(set_key(kind, "GRIB_quantileValue", json_integer((json_int_t)value), err));
    snprintf(text, sizeof text, "_q%uof%u", value, total);
    REFS_TRY(append_text(kind, "name", text, err));
    snprintf(text, sizeof text, ", quantile %u of %u", value, total);
    return append_text(kind, "phrase", text, err);
}

/* Appends bytes without decoding them: in hexadecimal, or as a hash (FNV-1a) if there are many. */
static refs_status add_bytes(json_t *kind, const char *label, refs_bytes bytes, refs_error *err) {
    static const char digits[] = "0123456789abcdef";
    char hex[2 * MAX_HEX_BYTES + 1] = "", text[128];
    uint32_t sum = UINT32_C(2166136261);
    for (size_t i = 0; i < bytes.size; i++) sum = (sum ^ bytes.data[i]) * UINT32_C(16777619);
    for (size_t i = 0; i < bytes.size && i < MAX_HEX_BYTES; i++) {
        hex[2 * i] = digits[bytes.data[i] >> 4];
        hex[2 * i + 1] = digits[bytes.data[i] & 15];
        hex[2 * i + 2] = '\0';
    }
    if (bytes.size > MAX_HEX_BYTES / 2) snprintf(hex, sizeof hex, "%08x", (unsigned)sum);
    snprintf(text, sizeof text, "_%s%s", label, hex);
    REFS_TRY(append_text(kind, "name", text, err));
    snprintf(text, sizeof text, ", %s %s", label, hex);
    return append_text(kind, "phrase", text, err);
}

static const char *label_of(grib_kind_part part) {
    static const struct {
        grib_kind_part part;
        const char *label;
    } labels[] = {{GRIB_KIND_NUCLIDES, "nuclide"},
                  {GRIB_KIND_PARTITION, "partition"},
                  {GRIB_KIND_TILE, "tile"},
                  {GRIB_KIND_GENERAL_TILE, "tile"},
                  {GRIB_KIND_DISTRIBUTION, "mode"},
                  {GRIB_KIND_OLD_BANDS, "band"},
                  {GRIB_KIND_BANDS, "band"},
                  {GRIB_KIND_WIDE_BANDS, "band"},
                  {GRIB_KIND_POST_PROCESSING, "post"},
                  {GRIB_KIND_SPATIAL_PROCESSING, "spatial"},
                  {GRIB_KIND_CATEGORIES, "category"},
                  {GRIB_KIND_PATTERN, "pattern"}};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
        if (labels[i].part == part) return labels[i].label;
    return "part";
}

static refs_status add_code(json_t *kind, grib_kind_part part, const uint8_t *p, refs_error *err) {
    const bool is_long = part == GRIB_KIND_CONSTITUENT || part == GRIB_KIND_AEROSOL;
    const unsigned substance =
        is_long ? refs_load_be16(p) : 0; /* in the other templates it is one byte */
    const kind_number constituent = {"GRIB_constituentType", "constituent", NULL, substance,
                                     FIND_WORD(substances, substance)};
    const kind_number aerosol = {"GRIB_aerosolType", "aerosol", NULL, substance,
                                 FIND_WORD(substances, substance)};
    const kind_number source = {"GRIB_sourceSinkIndicator", "source", NULL, p[0], NULL};
    const kind_number percentile = {"GRIB_percentileValue", "percentile", "p", p[0], NULL};
    const kind_number cluster = {"GRIB_clusterIdentifier", "cluster", NULL, p[0], NULL};
    return add_number(kind,
                      part == GRIB_KIND_CONSTITUENT      ? &constituent
                      : part == GRIB_KIND_AEROSOL        ? &aerosol
                      : part == GRIB_KIND_SOURCE_OR_SINK ? &source
                      : part == GRIB_KIND_PERCENTILE     ? &percentile
                                                         : &cluster,
                      err);
}

refs_status refs_scan__grib_add_kind(json_t *kind, grib_kind_part part, refs_bytes bytes,
                                     refs_error *err) {
    static const interval size = {
        "size", " m", "GRIB_typeOfSizeInterval", {"GRIB_firstSize", "GRIB_secondSize"}};
    static const interval wavelength = {"wavelength",
                                        " m",
                                        "GRIB_typeOfWavelengthInterval",
                                        {"GRIB_firstWavelength", "GRIB_secondWavelength"}};
    static const interval period = {"period",
                                    " s",
                                    "GRIB_typeOfWavePeriodInterval",
                                    {"GRIB_lowerWavePeriodLimit", "GRIB_upperWavePeriodLimit"}};
    enum { AT_LARGE_PROBABILITY = 5 };
    switch (part) {
    case GRIB_KIND_DERIVED:
    case GRIB_KIND_LARGE_DERIVED:
        return add_derived(kind, bytes.data[0], err);
    case GRIB_KIND_RECTANGLE:
    case GRIB_KIND_CIRCLE:
    case GRIB_KIND_CONSTITUENT:
    case GRIB_KIND_AEROSOL:
    case GRIB_KIND_SOURCE_OR_SINK:
    case GRIB_KIND_PERCENTILE:
        return add_code(kind, part, bytes.data, err);
    case GRIB_KIND_AEROSOL_SIZE:
        return add_labelled(kind, &size, bytes.data, err);
    case GRIB_KIND_WAVELENGTH:
        return add_labelled(kind, &wavelength, bytes.data, err);
    case GRIB_KIND_PERIODS:
        return add_labelled(kind, &period, bytes.data, err);
    case GRIB_KIND_QUANTILE:
        return add_quantile(kind, bytes.data, err);
    case GRIB_KIND_PROBABILITY:
        return add_probability(kind, bytes.data, err);
    case GRIB_KIND_LARGE_PROBABILITY:
        return add_probability(kind, bytes.data + AT_LARGE_PROBABILITY, err);
    default:
        return add_bytes(kind, label_of(part), bytes, err);
    }
}
