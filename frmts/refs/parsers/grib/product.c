/* product.c -- product definition templates of GRIB edition 2, see grib/field.h.
 *
 * WMO Manual on Codes, FM 92 GRIB edition 2, templates 4.0 to 4.228 and 4.1000 to 4.1101. Those of
 * local time (88, 92 to 98) have no forecast time and are not among them.
 */
#include "grib/field.h"

/* The parts of templates other than grib_kind_part, in the order in which they follow the category
 * and number of the parameter. A template is a string of letters of both enumerations; parts after
 * the last one that is needed are omitted. */
typedef enum product_part {
    PROCESS = 'g',      /* generating process */
    OBSERVATION = 'G',  /* the same of observations */
    QUALITY = 'v',      /* of observations */
    TIME = 'f',         /* cutoff of data, unit, forecast time */
    SHORT_TIME = 'F',   /* the same, with a forecast time of two or four bytes */
    SURFACES = 'z',     /* two fixed surfaces */
    MEMBER = 'e',       /* type of ensemble forecast, number of the member, size */
    OLD_MEMBER = 'E',   /* number of the member, size */
    LARGE_MEMBER = 'l', /* as MEMBER, with numbers of four bytes */
    STATISTICS = 's',   /* end of the interval, time ranges */
    REFORECAST = 'r',   /* version of the model */
    SPECTRUM = 'w',     /* direction and frequency of waves */
} product_part;

static const struct {
    unsigned number;
    const char *parts;
} templates[] = {{0, "gfz"},         {1, "gfze"},       {2, "gfzd"},        {3, "gfzdR"},
                 {4, "gfzdC"},       {5, "gfzp"},       {6, "gfzc"},        {7, "gfz"},
                 {8, "gfzs"},        {9, "gfzps"},      {10, "gfzcs"},      {11, "gfzes"},
                 {12, "gfzds"},      {13, "gfzdRs"},    {14, "gfzdCs"},     {15, "gfzy"},
                 {20, ""},           {30, "GB"},        {31, "GS"},         {32, "gfS"},
                 {33, "gfSe"},       {34, "gfSes"},     {35, "GvS"},        {40, "hgfz"},
                 {41, "hgfze"},      {42, "hgfzs"},     {43, "hgfzes"},     {44, "aigFz"},
                 {45, "aigfze"},     {46, "aigfzs"},    {47, "aigfzes"},    {48, "aiOgfz"},
                 {49, "aiOgfze"},    {50, "aigfz"},     {51, "gfzk"},       {53, "ngfz"},
                 {54, "ngfze"},      {55, "tgfz"},      {56, "tgfzE"},      {57, "hxgfz"},
                 {58, "hxgfze"},     {59, "tgfze"},     {60, "gfze"},       {61, "gfzers"},
                 {62, "tgfzs"},      {63, "tgfzes"},    {67, "hxgfzs"},     {68, "hxgfzes"},
                 {70, "bgfz"},       {71, "bgfze"},     {72, "bgfzs"},      {73, "bgfzes"},
                 {76, "hogfz"},      {77, "hogfze"},    {78, "hogfzs"},     {79, "hogfzes"},
                 {80, "aoiOgfz"},    {81, "aoiOgfze"},  {82, "aoigfzs"},    {83, "aoigfzes"},
                 {84, "aoigfzes"},   {85, "aigfzes"},   {86, "gfzq"},       {87, "gfzqs"},
                 {89, "bgfzq"},      {90, "bgfzqs"},    {91, "gfzks"},      {99, "wgf"},
                 {100, "wgfe"},      {101, "wgf"},      {102, "wgfe"},      {103, "Wgfz"},
                 {104, "Wgfze"},     {105, "gfzs"},     {106, "gfzse"},     {107, "gfzsd"},
                 {108, "Ogfz"},      {109, "Ogfze"},    {110, "Ogfzs"},     {111, "Ogfzes"},
                 {112, "gfzsp"},     {113, "Tgfz"},     {114, "Tgfzs"},     {115, "Tgfzl"},
                 {116, "Tgfzls"},    {117, "gfzl"},     {118, "gfzls"},     {119, "gfzP"},
                 {120, "gfzPs"},     {121, "gfzP"},     {122, "gfzPs"},     {123, "gfzsP"},
                 {124, "hougfz"},    {125, "hougfze"},  {126, "hougfzs"},   {127, "hougfzes"},
                 {128, "gfz"},       {129, "gfze"},     {130, "gfzd"},      {131, "gfzp"},
                 {132, "gfzq"},      {133, "bgfzq"},    {134, "gfzqs"},     {135, "bgfzqs"},
                 {136, "gfzP"},      {137, "gfzD"},     {138, "gfzDrs"},    {139, "Wgfz"},
                 {140, "Wgfzl"},     {141, "wgf"},      {142, "wgfl"},      {143, "gfmzl"},
                 {144, "Wgfzs"},     {145, "Wgfzls"},   {146, "gfz"},       {147, "gfzs"},
                 {148, "gfzl"},      {149, "gfzls"},    {150, "gfzD"},      {151, "gfzDs"},
                 {152, "hgfzl"},     {153, "hgfzlrs"},  {154, "gfzl"},      {155, "gfzlrs"},
                 {156, "aiOgfzs"},   {157, "aiOgfzls"}, {158, "aoiOgfzs"},  {159, "aoiOgfzls"},
                 {160, "WgfzD"},     {161, "WgfzDs"},   {162, "WgfzP"},     {163, "WgfzPs"},
                 {164, "Wgfzq"},     {165, "Wgfzqs"},   {166, "hgfzD"},     {167, "hgfzDs"},
                 {168, "aigfzD"},    {169, "aiOgfzD"},  {170, "hogfzD"},    {171, "hogfzDs"},
                 {172, "aoiOgfzD"},  {173, "aoigfzDs"}, {174, "aigfzDs"},   {175, "aiOgfzDs"},
                 {176, "aoiOgfzDs"}, {177, "hgfzq"},    {178, "hgfzqs"},    {179, "aigfzq"},
                 {180, "aiOgfzq"},   {181, "hogfzq"},   {182, "hogfzqs"},   {183, "aoiOgfzq"},
                 {184, "aoigfzqs"},  {185, "aigfzqs"},  {186, "aiOgfzqs"},  {187, "aoiOgfzqs"},
                 {188, "hgfzP"},     {189, "hgfzPs"},   {190, "aigfzP"},    {191, "aiOgfzP"},
                 {192, "hogfzP"},    {193, "hogfzPs"},  {194, "aoiOgfzP"},  {195, "aoigfzPs"},
                 {196, "aigfzPs"},   {197, "aiOgfzPs"}, {198, "aoiOgfzPs"}, {199, "bgfzD"},
                 {200, "bgfzDs"},    {201, "bgfzP"},    {202, "bgfzPs"},    {203, "GX"},
                 {204, "gfX"},       {205, "gfXl"},     {206, "gfXls"},     {207, "GvX"},
                 {224, "aoigfz"},    {225, "aoigfzl"},  {226, "aoigfzD"},   {227, "aoigfzq"},
                 {228, "aoigfzP"},   {254, ""},         {311, ""},          {1000, "gf"},
                 {1001, "gfs"},      {1002, "gf"},      {1100, "gfz"},      {1101, "gfz"}};

/* The size of a part: `size` bytes, and `each` for every element of a list, whose length is the
 * byte at `count_at`. */
static const struct {
    int part; /* product_part or grib_kind_part */
    size_t size;
    size_t count_at;
    size_t each; /* 0: there is no list */
    bool distinguishes;
} sizes[] = {{PROCESS, 3, 0, 0, false},
             {OBSERVATION, 2, 0, 0, false},
             {QUALITY, 1, 0, 0, false},
             {TIME, 8, 0, 0, false},
             {SHORT_TIME, 4, 0, 0, false},
             {SURFACES, 12, 0, 0, false},
             {MEMBER, 3, 0, 0, false},
             {OLD_MEMBER, 2, 0, 0, false},
             {LARGE_MEMBER, 9, 0, 0, false},
             {GRIB_KIND_DERIVED, 2, 0, 0, true},
             {GRIB_KIND_LARGE_DERIVED, 5, 0, 0, true},
             {STATISTICS, 12, 7, 12, false},
             {GRIB_KIND_RECTANGLE, 32, 0, 0, true},
             {GRIB_KIND_CIRCLE, 28, 0, 0, true},
             {REFORECAST, 7, 0, 0, false},
             {GRIB_KIND_CONSTITUENT, 2, 0, 0, true},
             {GRIB_KIND_SOURCE_OR_SINK, 1, 0, 0, true},
             {GRIB_KIND_NUCLIDES, 22, 0, 0, true},
             {GRIB_KIND_AEROSOL, 2, 0, 0, true},
             {GRIB_KIND_AEROSOL_SIZE, 11, 0, 0, true},
             {GRIB_KIND_WAVELENGTH, 11, 0, 0, true},
             {GRIB_KIND_PARTITION, 4, 1, 2, true},
             {GRIB_KIND_TILE, 6, 0, 0, true},
             {GRIB_KIND_GENERAL_TILE, 24, 5, 1, true},
             {GRIB_KIND_DISTRIBUTION, 7, 6, 5, true},
             {GRIB_KIND_OLD_BANDS, 1, 0, 10, true},
             {GRIB_KIND_BANDS, 1, 0, 11, true},
             {GRIB_KIND_WIDE_BANDS, 1, 0, 19, true},
             {GRIB_KIND_POST_PROCESSING, 5, 0, 0, true},
             {GRIB_KIND_SPATIAL_PROCESSING, 3, 0, 0, true},
             {GRIB_KIND_PERCENTILE, 1, 0, 0, true},
             {GRIB_KIND_QUANTILE, 4, 0, 0, true},
             {GRIB_KIND_PROBABILITY, 13, 0, 0, true},
             {GRIB_KIND_LARGE_PROBABILITY, 18, 0, 0, true},
             {GRIB_KIND_CATEGORIES, 1, 0, 12, true},
             {SPECTRUM, 8, 0, 0, false},
             {GRIB_KIND_PERIODS, 11, 0, 0, true},
             {GRIB_KIND_PATTERN, 18, 0, 0, true}};

static const char *parts_of(unsigned number) {
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++)
        if (templates[i].number == number) return templates[i].parts;
    return NULL;
}

static void note_place(int part, size_t at, grib_product *product) {
    switch (part) {
    case TIME:
    case SHORT_TIME:
        product->unit = at + 3;
        product->time_size = 4;
        break;
    case SURFACES:
        product->surfaces = at;
        break;
    case MEMBER:
    case LARGE_MEMBER:
        product->member = at + 1;
        product->member_size = part == MEMBER ? 1 : 4;
        break;
    case OLD_MEMBER:
        product->member = at;
        product->member_size = 1;
        break;
    case SPECTRUM:
        product->spectrum = at;
        break;
    case STATISTICS:
        product->statistics = at;
        break;
    default:
        break;
    }
}

/* Template 4.44 defines a forecast time of two bytes by mistake, and some writers use four. The
 * size of the section and its number of coordinate values show which one was written. */
static size_t size_of_short_time(refs_bytes section) {
    enum { SIZE_WITH_FOUR = 47, COORDINATE_BYTES = 4 };
    size_t coordinates = ((size_t)section.data[5] << 8 | section.data[6]) * COORDINATE_BYTES;
    return section.size == SIZE_WITH_FOUR + coordinates ? 4 : 2;
}

static bool measure(refs_bytes section, int part, size_t at, size_t *size) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i].part != part) continue;
        *size = sizes[i].size;
        if (at + *size > section.size) return false;
        if (part == SHORT_TIME) *size += size_of_short_time(section);
        *size += section.data[at + sizes[i].count_at] * sizes[i].each;
        return at + *size <= section.size;
    }
    return false;
}

static bool distinguishes(int part) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].part == part) return sizes[i].distinguishes;
    return false;
}

refs_status refs_scan__grib_product(refs_bytes section, grib_product *product, refs_error *err) {
    enum { FIRST_PART = 11, SPECTRUM_LISTED = 99, SPECTRUM_LISTED_OF_MEMBERS = 100 };
    unsigned number = (unsigned)(section.data[7] << 8 | section.data[8]);
    const char *parts = parts_of(number);
    size_t at = FIRST_PART;
    *product = (grib_product){.number = number, .is_known = parts != NULL};
    for (; parts != NULL && *parts != '\0'; parts++) {
        int part = *parts;
        size_t size;
        if (!measure(section, part, at, &size))
            return refs_fail(err, REFS_CORRUPT,
                             "section 4 is truncated: it is too short for template 4.%u", number);
        note_place(part, at, product);
        if (part == SHORT_TIME) product->time_size = size_of_short_time(section);
        if (distinguishes(part) && product->kind == NULL) product->kind = json_object();
        if (distinguishes(part))
            REFS_TRY(refs_scan__grib_add_kind(product->kind, (grib_kind_part)part,
                                              refs_bytes_view(section.data + at, size), err));
        at += size;
    }
    if (number == SPECTRUM_LISTED || number == SPECTRUM_LISTED_OF_MEMBERS) product->spectra = at;
    return REFS_OK;
}
