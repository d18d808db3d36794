/* world.c -- see world.h. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK  4
#define MAX_NOTES 12

enum { T, Y, X, N_DIMS };

/* A type: of NumPy, and the bytes of an element. */
typedef struct type {
    const char *name, *zarr3;
    size_t size;
} type;

static const type types[] = {{"|u1", "uint8", 1},   {"|i1", "int8", 1},    {"<i2", "int16", 2},
                             {">i2", NULL, 2},      {"<u2", "uint16", 2},  {"<i4", "int32", 4},
                             {">f4", NULL, 4},      {"<f4", "float32", 4}, {"<f8", "float64", 8},
                             {">f8", NULL, 8},      {"<i8", "int64", 8},   {"<u8", "uint64", 8},
                             {"|b1", "bool", 1},    {"|S3", NULL, 3},      {"<c8", "complex64", 8},
                             {"<f2", "float16", 2}, {"<U2", NULL, 8},      {"<M8[s]", NULL, 8}};

enum { F8 = 8, N_TYPES = sizeof types / sizeof types[0] };

typedef struct array {
    char path[32];
    const type *type;
    size_t rank;
    int dims[MAX_RANK]; /* T, Y, X, or -1: of no other array */
    uint64_t shape[MAX_RANK], chunk[MAX_RANK];
    const char *notes[MAX_NOTES]; /* attributes, as members of JSON */
    size_t n_notes;
    const char *fill, *compressor, *filters, *order;
    bool is_coordinate, has_no_dims;
} array;

typedef struct part {
    array arrays[12];
    size_t n_arrays;
    uint64_t n[N_DIMS];
    double first[N_DIMS], step[N_DIMS];
    const char *units;
    const char *group_notes;
} part;

static const char *const dim_names[][N_DIMS] = {
    {"time", "lat", "lon"}, {"t", "y", "x"}, {"level", "rlat", "rlon"}};

static const char *const units[] = {"days since 2000-01-01",
                                    "hours since 1999-12-31 12:00:00",
                                    "seconds since 1970-01-01",
                                    "months since 2000-01-01",
                                    "days since 2000-02-30",
                                    "m",
                                    "degC",
                                    "K",
                                    "1",
                                    "",
                                    "nonsense"};

static const char *const notes[] = {"\"scale_factor\":0.5",
                                    "\"scale_factor\":0.0",
                                    "\"add_offset\":273.15",
                                    "\"_FillValue\":0",
                                    "\"_FillValue\":-9999.0",
                                    "\"_FillValue\":\"NaN\"",
                                    "\"missing_value\":NaN",
                                    "\"missing_value\":[1,2]",
                                    "\"valid_range\":[0,255]",
                                    "\"valid_min\":-1",
                                    "\"_Unsigned\":\"true\"",
                                    "\"standard_name\":\"air_temperature\"",
                                    "\"long_name\":\"\"",
                                    "\"grid_mapping\":\"crs\"",
                                    "\"coordinates\":\"lat lon height\"",
                                    "\"cell_methods\":\"time: mean\"",
                                    "\"calendar\":\"360_day\"",
                                    "\"calendar\":\"noleap\"",
                                    "\"flag_values\":[0,1,2]",
                                    "\"flag_meanings\":\"a b c\"",
                                    "\"axis\":\"T\"",
                                    "\"bounds\":\"bnds\"",
                                    "\"stations\":[\"one\",\"two\"]",
                                    "\"my_object\":{\"a\":[1,{\"b\":null}]}",
                                    "\"my_number\":1e308",
                                    "\"my_whole\":18446744073709551615",
                                    "\"my_null\":null",
                                    "\"my_empty\":[]",
                                    "\"positive\":\"down\"",
                                    "\"_ARRAY_DIMENSIONS\":[\"other\"]",
                                    "\"aggregated_dimensions\":\"time lat lon\"",
                                    "\"aggregated_data\":\"shape: a location: b address: c\""};

/* -- dice -------------------------------------------------------------------------------------- */

/* SplitMix64. */
uint64_t world_draw(world_dice *dice) {
    uint64_t z = dice->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t world_below(world_dice *dice, uint64_t n) {
    return world_draw(dice) % n;
}

bool world_once_in(world_dice *dice, uint64_t n) {
    return world_below(dice, n) == 0;
}

#define ONE_OF(dice, list) ((list)[world_below(dice, sizeof(list) / sizeof *(list))])

/* -- what a set holds -------------------------------------------------------------------------- */

static array *add_array(part *made, const char *path, const type *kind, size_t rank) {
    array *added = &made->arrays[made->n_arrays++];
    *added = (array){.type = kind,
                     .rank = rank,
                     .fill = "0",
                     .compressor = "null",
                     .filters = "null",
                     .order = "C"};
    snprintf(added->path, sizeof added->path, "%s", path);
    return added;
}

static void set_dim(array *of, size_t i, int dim, uint64_t n) {
    of->dims[i] = dim;
    of->shape[i] = n;
    of->chunk[i] = n > 0 ? n : 1;
}

static void add_note(array *to, const char *note) {
    if (to->n_notes < MAX_NOTES) to->notes[to->n_notes++] = note;
}

static void make_part(part *made, const char *const *names, world_dice *dice) {
    /* Words that no message has, so that one that has them names the array. */
    static const char *const variables[] = {"gust", "hail", "snow", "soil"};
    char path[32];
    for (int dim = 0; dim < N_DIMS; dim++) {
        if (world_once_in(dice, 8)) continue;
        array *axis = add_array(made, names[dim], &types[F8], 1);
        set_dim(axis, 0, dim, made->n[dim]);
        axis->is_coordinate = true;
    }
    const size_t n = 1 + world_below(dice, 4);
    for (size_t i = 0; i < n; i++) {
        const size_t rank = world_below(dice, 4);
        snprintf(path, sizeof path, "%s%s", world_once_in(dice, 4) ? "g/" : "", variables[i]);
        array *data = add_array(made, path, &ONE_OF(dice, types), rank);
        for (size_t k = 0; k < rank; k++) {
            const int dim = (int)(N_DIMS - rank + k);
            set_dim(data, k, dim, made->n[dim]);
            if (world_once_in(dice, 2))
                data->chunk[k] = 1 + world_below(dice, made->n[dim] > 0 ? made->n[dim] : 1);
        }
        for (size_t k = world_below(dice, 4); k > 0; k--) add_note(data, ONE_OF(dice, notes));
    }
    if (world_once_in(dice, 2)) {
        array *crs = add_array(made, "crs", &types[5], 0);
        add_note(crs, "\"grid_mapping_name\":\"latitude_longitude\"");
    }
}

/* -- what may differ --------------------------------------------------------------------------- */

static void change_array(array *of, world_dice *dice) {
    static const char *const fills[] = {"null", "0", "-9999", "\"NaN\"", "255", "\"\"", "1e400"};
    static const char *const compressors[] = {"null", "{\"id\":\"zlib\",\"level\":1}",
                                              "{\"id\":\"unheard_of\"}"};
    static const char *const filters[] = {"null", "[]", "[{\"id\":\"shuffle\",\"elementsize\":4}]",
                                          "[{\"id\":\"vlen-utf8\"}]"};
    const size_t dim = of->rank > 0 ? (size_t)world_below(dice, of->rank) : 0;
    switch (world_below(dice, 13)) {
    case 0:
        of->type = &ONE_OF(dice, types);
        return;
    case 1:
        if (of->rank > 0) of->shape[dim] = world_below(dice, 6);
        return;
    case 2:
        if (of->rank > 0) of->chunk[dim] = 1 + world_below(dice, 5);
        return;
    case 3:
        if (of->rank < MAX_RANK) set_dim(of, of->rank++, -1, 1 + world_below(dice, 3));
        return;
    case 4:
        if (of->rank > 0) of->rank--;
        return;
    case 5:
        of->fill = ONE_OF(dice, fills);
        return;
    case 6:
        of->compressor = ONE_OF(dice, compressors);
        return;
    case 7:
        of->filters = ONE_OF(dice, filters);
        return;
    case 8:
        of->order = "F";
        return;
    case 9:
        of->has_no_dims = true;
        return;
    case 10:
        if (of->rank > 0) of->dims[dim] = (int)world_below(dice, N_DIMS + 1) - 1;
        return;
    case 11: /* numbers that a shape may have, and memory not */
        if (of->rank > 0) of->shape[dim] = (uint64_t)1 << world_below(dice, 20);
        return;
    default:
        add_note(of, ONE_OF(dice, notes));
    }
}

static void change_part(part *of, world_dice *dice) {
    const size_t which = (size_t)world_below(dice, of->n_arrays);
    switch (world_below(dice, 8)) {
    case 0: /* an array is missing */
        of->arrays[which] = of->arrays[--of->n_arrays];
        if (of->n_arrays == 0) add_array(of, "only", &types[0], 0);
        return;
    case 1:
        of->units = ONE_OF(dice, units);
        return;
    case 2:
        of->step[world_below(dice, N_DIMS)] *= world_once_in(dice, 2) ? -1 : 0;
        return;
    case 3:
        of->first[world_below(dice, N_DIMS)] += (double)world_below(dice, 5) - 2;
        return;
    case 4:
        of->group_notes = "\"title\":\"other\",\"stations\":[1,2]";
        return;
    default:
        change_array(&of->arrays[which], dice);
    }
}

/* -- as JSON ----------------------------------------------------------------------------------- */

typedef struct writing {
    FILE *file, *data;
    const char *data_name;
    world_dice *dice;
    const char *const *names; /* of dimensions */
    const part *part;
    bool is_first, are_objects;
} writing;

static void begin_key(writing *to, const char *folder, const char *name) {
    fprintf(to->file, "%s\n\"%s%s%s\":", to->is_first ? "" : ",", folder, *folder ? "/" : "", name);
    to->is_first = false;
}

/* A document as an object, or as text with its quotes escaped. */
static void put_document(writing *to, const char *document) {
    if (to->are_objects) {
        fprintf(to->file, "%s", document);
        return;
    }
    fputc('"', to->file);
    for (; *document != '\0'; document++) {
        if (*document == '"' || *document == '\\') fputc('\\', to->file);
        fputc(*document, to->file);
    }
    fputc('"', to->file);
}

static void put_array_documents(writing *to, const array *of) {
    char text[2048];
    size_t size = (size_t)snprintf(text, sizeof text, "{\"zarr_format\":2,\"shape\":[");
#define ADD(...) (size += (size_t)snprintf(text + size, sizeof text - size, __VA_ARGS__))
    for (size_t i = 0; i < of->rank; i++)
        ADD("%s%llu", i > 0 ? "," : "", (unsigned long long)of->shape[i]);
    ADD("],\"chunks\":[");
    for (size_t i = 0; i < of->rank; i++)
        ADD("%s%llu", i > 0 ? "," : "", (unsigned long long)of->chunk[i]);
    ADD("],\"dtype\":\"%s\",\"compressor\":%s,\"filters\":%s,\"fill_value\":%s,\"order\":\"%s\"}",
        of->type->name, of->compressor, of->filters, of->fill, of->order);
    begin_key(to, of->path, ".zarray");
    put_document(to, text);
    size = (size_t)snprintf(text, sizeof text, "{\"units\":\"%s\"",
                            of->is_coordinate && of->dims[0] == T ? to->part->units : "m");
    for (size_t i = 0; i < of->n_notes && size < sizeof text - 200; i++) ADD(",%s", of->notes[i]);
    if (!of->has_no_dims) ADD(",\"_ARRAY_DIMENSIONS\":[");
    for (size_t i = 0; i < of->rank && !of->has_no_dims; i++)
        ADD("%s\"%s\"", i > 0 ? "," : "", of->dims[i] >= 0 ? to->names[of->dims[i]] : "own");
    ADD(of->has_no_dims ? "}" : "]}");
#undef ADD
    begin_key(to, of->path, ".zattrs");
    put_document(to, text);
}

/* Elements of coordinates are numbers in a row; others are bytes in a row. */
static void put_chunk(writing *to, const array *of, const uint64_t *index) {
    uint8_t bytes[4096];
    size_t size = of->type->size;
    char name[80] = "";
    size_t at = 0;
    for (size_t i = 0; i < of->rank; i++) {
        at += (size_t)snprintf(name + at, sizeof name - at, "%s%llu", i > 0 ? "." : "",
                               (unsigned long long)index[i]);
        size *= (size_t)of->chunk[i];
    }
    if (of->rank == 0) snprintf(name, sizeof name, "0");
    if (size > sizeof bytes) size = sizeof bytes;
    const uint8_t mask = strcmp(of->type->name, "|b1") == 0 ? 1 : 0xff;
    for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)world_draw(to->dice) & mask;
    for (size_t i = 0; of->is_coordinate && of->type == &types[F8] && 8 * i + 8 <= size; i++) {
        const double value = to->part->first[of->dims[0] >= 0 ? of->dims[0] : 0] +
                             to->part->step[of->dims[0] >= 0 ? of->dims[0] : 0] *
                                 (double)(of->rank > 0 ? index[0] * of->chunk[0] + i : i);
        memcpy(bytes + 8 * i, &value, 8);
    }
    begin_key(to, of->path, name);
    const long offset = ftell(to->data);
    fwrite(bytes, 1, size, to->data);
    fprintf(to->file, "[\"%s\",%ld,%zu]", to->data_name, offset, size);
}

static void put_chunks(writing *to, const array *of) {
    uint64_t index[MAX_RANK] = {0}, total = 1;
    for (size_t i = 0; i < of->rank; i++) total *= (of->shape[i] + of->chunk[i] - 1) / of->chunk[i];
    for (uint64_t k = 0; k < total && k < 64; k++) {
        uint64_t number = k;
        for (size_t i = of->rank; i-- > 0;) {
            const uint64_t n = (of->shape[i] + of->chunk[i] - 1) / of->chunk[i];
            index[i] = number % n;
            number /= n;
        }
        if (!world_once_in(to->dice, 12)) put_chunk(to, of, index);
    }
}

static bool write_part(const part *of, const char *const *names, const char *name, const char *data,
                       world_dice *dice) {
    const bool is_version_1 = !world_once_in(dice, 3);
    writing to = {.data_name = data, .dice = dice, .names = names, .part = of, .is_first = true};
    to.are_objects = world_once_in(dice, 4);
    to.file = fopen(name, "w");
    to.data = fopen(data, "w");
    if (to.file != NULL && to.data != NULL) {
        fprintf(to.file, "%s", is_version_1 ? "{\"version\":1,\"refs\":{" : "{");
        begin_key(&to, "", ".zgroup");
        put_document(&to, "{\"zarr_format\":2}");
        if (of->group_notes != NULL) {
            char text[256];
            snprintf(text, sizeof text, "{%s}", of->group_notes);
            begin_key(&to, "", ".zattrs");
            put_document(&to, text);
        }
        begin_key(&to, "g", ".zgroup");
        put_document(&to, "{\"zarr_format\":2}");
        for (size_t i = 0; i < of->n_arrays; i++) put_array_documents(&to, &of->arrays[i]);
        for (size_t i = 0; i < of->n_arrays; i++) put_chunks(&to, &of->arrays[i]);
        if (world_once_in(dice, 6)) {
            begin_key(&to, "", "readme");
            fprintf(to.file, "\"belongs to no array\"");
        }
        fprintf(to.file, "%s\n", is_version_1 ? "}}" : "}");
    }
    bool is_written = to.file != NULL && to.data != NULL;
    if (to.file != NULL) is_written = fclose(to.file) == 0 && is_written;
    if (to.data != NULL) is_written = fclose(to.data) == 0 && is_written;
    return is_written;
}

/* -- a world ----------------------------------------------------------------------------------- */

bool world_write(world *made, world_dice *dice) {
    const size_t which = (size_t)world_below(dice, sizeof dim_names / sizeof dim_names[0]);
    part like = {.units = units[world_below(dice, 3)]};
    *made = (world){.n_parts = 1 + (size_t)world_below(dice, WORLD_MAX_PARTS)};
    snprintf(made->dimension, sizeof made->dimension, "%s", dim_names[which][T]);
    for (int dim = 0; dim < N_DIMS; dim++) {
        like.n[dim] = 1 + world_below(dice, 4);
        like.step[dim] = dim == Y ? -1 : 1;
    }
    if (world_once_in(dice, 2)) like.group_notes = "\"title\":\"same\",\"Conventions\":\"CF-1.11\"";
    make_part(&like, dim_names[which], dice);
    for (size_t i = 0; i < made->n_parts; i++) {
        char data[WORLD_NAME_SIZE];
        part own = like;
        own.first[T] = (double)(i * like.n[T]);
        if (world_once_in(dice, 3))
            for (size_t k = 1 + world_below(dice, 3); k > 0; k--) change_part(&own, dice);
        snprintf(made->names[i], WORLD_NAME_SIZE, "p%zu.json", i);
        snprintf(data, sizeof data, "p%zu.bin", i);
        if (!write_part(&own, dim_names[which], made->names[i], data, dice)) return false;
    }
    return true;
}

/* -- damage ------------------------------------------------------------------------------------ */

/* Of a text mostly a digit becomes another, or a letter; else a byte becomes any. */
bool world_damage(const char *name, world_dice *dice) {
    FILE *file = fopen(name, "r+b");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || ftell(file) <= 0) {
        if (file != NULL) fclose(file);
        return false;
    }
    const long size = ftell(file);
    for (size_t k = 1 + world_below(dice, 3); k > 0; k--) {
        long at = (long)world_below(dice, (uint64_t)size);
        int byte = 0;
        for (size_t tries = 0; tries < 64; tries++, at = (at + 1) % size) {
            fseek(file, at, SEEK_SET);
            byte = fgetc(file);
            if ((byte >= '0' && byte <= '9') || tries == 63) break;
        }
        const bool is_digit = byte >= '0' && byte <= '9';
        fseek(file, at, SEEK_SET);
        fputc(is_digit ? '0' + (int)world_below(dice, 10) : (int)world_below(dice, 256), file);
    }
    return fclose(file) == 0;
}
