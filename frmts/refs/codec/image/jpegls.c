/* jpegls.c -- codec "imagecodecs_jpegls": a JPEG-LS image of 2 to 16 bits per sample. Samples of a
 * pixel are adjacent; components with separate scans stay planes. Samples of more than 8 bits are
 * little-endian, whatever the array's byte order, because encoders do not swap bytes.
 *
 * No library is used, because CharLS 2.4, which Debian has, does not terminate on some damaged
 * images (team-charls/charls pull request 334).
 *
 * Sources: ITU-T T.87 (sections are cited as there); HDF5 filter 32018 (EUMETSAT, FCIDECOMP)
 */
#include "image.h"

#define MAX_INTERLEAVED 4 /* components of a scan, B.2.3 */
#define N_CONTEXTS      365
#define MAX_RUN_INDEX   31

enum marker {
    SOI = 0xD8,
    EOI = 0xD9,
    SOS = 0xDA,
    APP0 = 0xE0,
    APP15 = 0xEF,
    SOF55 = 0xF7,
    LSE = 0xF8,
    COM = 0xFE
};

/* The bits of run lengths, J in A.7.1. */
static const unsigned run_bits[MAX_RUN_INDEX + 1] = {0, 0, 0, 0, 1,  1,  1,  1,  2,  2, 2,
                                                     2, 3, 3, 3, 3,  4,  4,  5,  5,  6, 6,
                                                     7, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static refs_status damaged(size_t at, refs_error *err) {
    return refs_fail(err, REFS_CORRUPT, "the image is cut or damaged at byte %zu", at);
}

/* -- bits, A.1 --------------------------------------------------------------------------------- */

/* The highest bit of `cache` is the next one; the bits after the first n are zero. */
typedef struct bit_source {
    const uint8_t *at, *end;
    uint64_t cache;
    unsigned n;
    uint8_t previous;
    bool failed; /* bits are missing or invalid */
} bit_source;

/* A byte that follows 0xFF has 7 bits; a marker ends the scan. */
static void fill(bit_source *bits) {
    while (bits->n <= 56 && bits->at < bits->end) {
        const uint8_t byte = *bits->at;
        if (byte == 0xFF && (bits->end - bits->at == 1 || bits->at[1] >= 0x80)) return;
        bits->n += bits->previous == 0xFF ? 7 : 8;
        bits->cache |= (uint64_t)byte << (64 - bits->n);
        bits->previous = byte;
        bits->at++;
    }
}

static uint32_t take(bit_source *bits, unsigned n) {
    if (n == 0) return 0;
    if (bits->n < n) fill(bits);
    if (bits->n < n) {
        bits->failed = true;
        return 0;
    }
    const uint32_t taken = (uint32_t)(bits->cache >> (64 - n));
    bits->cache <<= n;
    bits->n -= n;
    return taken;
}

/* Reads zeros, at most `most`, and the one bit after them. */
static unsigned take_zeros(bit_source *bits, unsigned most) {
    unsigned zeros = 0;
    fill(bits);
    while (bits->cache == 0 && bits->n > 0 && zeros <= most) {
        zeros += bits->n;
        bits->n = 0;
        fill(bits);
    }
    const unsigned leading = bits->cache != 0 ? (unsigned)__builtin_clzll(bits->cache) : 0;
    bits->failed |= bits->cache == 0 || zeros + leading > most;
    if (bits->failed) return 0;
    bits->cache = bits->cache << leading << 1;
    bits->n -= leading + 1;
    return zeros + leading;
}

/* -- a scan ------------------------------------------------------------------------------------ */

typedef struct parameters { /* C.2.4.1.1 */
    int32_t max_value, t1, t2, t3, reset;
} parameters;

typedef struct context { /* A.6 */
    int64_t a;
    int32_t b, c, n;
} context;

/* `b` counts negative errors. */
typedef struct context run_context;

/* Lines of one component, with a sample before the first and one after the last. */
typedef struct line_pair {
    uint16_t *above, *line;
    unsigned run_index;
} line_pair;

typedef struct scan {
    bit_source bits;
    parameters preset;
    int32_t near, range;
    unsigned range_bits, limit; /* qbpp and LIMIT */
    context contexts[N_CONTEXTS];
    run_context run_contexts[2]; /* of RItype */
    size_t width;
    size_t n_lines; /* components of the scan */
    bool by_pixel;  /* interleaved; else line by line */
    line_pair lines[MAX_INTERLEAVED];
    uint16_t *memory; /* of all lines */
} scan;

static int32_t clamp(int32_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : value;
}

static unsigned bits_of(uint32_t n) {
    return n > 1 ? 32 - (unsigned)__builtin_clz(n - 1) : 0; /* ceil(log2(n)) */
}

/* A.4.2 to A.4.5 without the bias. */
static int32_t reconstruct(const scan *s, int32_t predicted, int32_t error) {
    const int32_t step = 2 * s->near + 1;
    int32_t sample = predicted + error * step;
    if (sample < -s->near) sample += s->range * step;
    if (sample > s->preset.max_value + s->near) sample -= s->range * step;
    return clamp(sample, 0, s->preset.max_value);
}

/* A.5.3. Errors are at most half of the range; larger ones would overflow the sums. */
static int32_t take_mapped(scan *s, unsigned k, unsigned limit) {
    const unsigned escape = limit - s->range_bits - 1;
    const unsigned zeros = take_zeros(&s->bits, escape);
    const uint32_t mapped =
        zeros < escape ? zeros << k | take(&s->bits, k) : take(&s->bits, s->range_bits) + 1;
    if (mapped <= (uint32_t)s->range + 1) return (int32_t)mapped;
    s->bits.failed = true;
    return 0;
}

static unsigned golomb_parameter(int64_t n, int64_t sum) {
    unsigned k = 0;
    while (k < 16 && n << k < sum) k++;
    return k;
}

static void halve_at_reset(const scan *s, context *c) {
    if (c->n == s->preset.reset) {
        c->a >>= 1;
        c->b = c->b >= 0 ? c->b >> 1 : -((1 - c->b) >> 1);
        c->n >>= 1;
    }
    c->n++;
}

/* A.6.1 and A.6.2. */
static void update(const scan *s, context *c, int32_t error) {
    c->b += error * (2 * s->near + 1);
    c->a += error < 0 ? -error : error;
    halve_at_reset(s, c);
    if (c->b <= -c->n) {
        c->b += c->n;
        if (c->c > -128) c->c--;
        if (c->b <= -c->n) c->b = -c->n + 1;
    } else if (c->b > 0) {
        c->b -= c->n;
        if (c->c < 127) c->c++;
        if (c->b > 0) c->b = 0;
    }
}

/* -- samples ----------------------------------------------------------------------------------- */

static int32_t quantize(const scan *s, int32_t gradient) { /* A.3.3 */
    const int32_t size = gradient < 0 ? -gradient : gradient;
    const int32_t region = size <= s->near       ? 0
                           : size < s->preset.t1 ? 1
                           : size < s->preset.t2 ? 2
                           : size < s->preset.t3 ? 3
                                                 : 4;
    return gradient < 0 ? -region : region;
}

/* The context of sample x, negative if its sign is; 0: a run may begin. */
static int32_t find_context(const scan *s, const line_pair *p, size_t x) {
    const int32_t left = p->line[x - 1], above = p->above[x], corner = p->above[x - 1];
    return 81 * quantize(s, p->above[x + 1] - above) + 9 * quantize(s, above - corner) +
           quantize(s, corner - left);
}

static int32_t predict(const line_pair *p, size_t x) { /* A.4.1 */
    const int32_t left = p->line[x - 1], above = p->above[x], corner = p->above[x - 1];
    const int32_t least = left < above ? left : above, most = left < above ? above : left;
    return corner >= most ? least : corner <= least ? most : left + above - corner;
}

/* A.4 to A.6. */
static void decode_regular(scan *s, const line_pair *p, size_t x, int32_t at) {
    const int32_t sign = at < 0 ? -1 : 1;
    context *c = &s->contexts[at * sign];
    const int32_t predicted = clamp(predict(p, x) + sign * c->c, 0, s->preset.max_value);
    const unsigned k = golomb_parameter(c->n, c->a);
    const int32_t mapped = take_mapped(s, k, s->limit);
    int32_t error = (mapped & 1) != 0 ? -((mapped + 1) >> 1) : mapped >> 1;
    if (k == 0 && s->near == 0 && 2 * c->b <= -c->n) error = -error - 1;
    update(s, c, error);
    p->line[x] = (uint16_t)reconstruct(s, predicted, sign * error);
}

/* A.7.2, the sample that ends a run. `type` is RItype. */
static void decode_interruption(scan *s, const line_pair *p, size_t x, int32_t type,
                                unsigned run_index) {
    run_context *c = &s->run_contexts[type];
    const int32_t left = p->line[x - 1], above = p->above[x];
    const unsigned k = golomb_parameter(c->n, c->a + (type != 0 ? c->n >> 1 : 0));
    const int32_t mapped = take_mapped(s, k, s->limit - run_bits[run_index] - 1);
    const int32_t odd = (mapped + type) & 1, size = (mapped + type + odd) / 2;
    const int32_t error = (k != 0 || 2 * c->b >= c->n) == (odd != 0) ? -size : size;
    if (error < 0) c->b++;
    c->a += (mapped + 1 - type) >> 1;
    halve_at_reset(s, c);
    p->line[x] = (uint16_t)(type != 0 ? reconstruct(s, left, error)
                                      : reconstruct(s, above, above < left ? -error : error));
}

/* A.7.1: how many of `left` samples repeat the one before. */
static size_t take_run(scan *s, unsigned *run_index, size_t left) {
    size_t run = 0;
    while (run < left && take(&s->bits, 1) != 0) {
        const size_t whole = (size_t)1 << run_bits[*run_index];
        if (whole > left - run) return left;
        run += whole;
        if (*run_index < MAX_RUN_INDEX) (*run_index)++;
    }
    if (run < left) run += take(&s->bits, run_bits[*run_index]);
    s->bits.failed |= run > left;
    return s->bits.failed ? 0 : run;
}

/* Decodes a run from sample x on, with the sample that ends it; returns its end. If components are
 * interleaved, all samples that end a run have RItype 0. */
static size_t decode_run(scan *s, line_pair *lines, size_t n, size_t x) {
    const size_t end = x + take_run(s, &lines->run_index, s->width + 1 - x);
    for (size_t i = 0; i < n; i++)
        for (size_t at = x; at < end; at++) lines[i].line[at] = lines[i].line[x - 1];
    if (end > s->width) return end;
    for (size_t i = 0; i < n; i++) {
        const int32_t step = lines[i].line[end - 1] - lines[i].above[end];
        const bool is_flat = n == 1 && step <= s->near && step >= -s->near;
        decode_interruption(s, &lines[i], end, is_flat ? 1 : 0, lines->run_index);
    }
    if (lines->run_index > 0) lines->run_index--;
    return end + 1;
}

/* One line of n components, pixel by pixel. */
static void decode_line(scan *s, line_pair *lines, size_t n) {
    for (size_t i = 0; i < n; i++) {
        lines[i].line[0] = lines[i].above[1];
        lines[i].above[s->width + 1] = lines[i].above[s->width];
    }
    for (size_t x = 1; x <= s->width && !s->bits.failed;) {
        int32_t at[MAX_INTERLEAVED];
        bool is_run = true;
        for (size_t i = 0; i < n; i++) {
            at[i] = find_context(s, &lines[i], x);
            is_run = is_run && at[i] == 0;
        }
        for (size_t i = 0; i < n && !is_run; i++) decode_regular(s, &lines[i], x, at[i]);
        x = is_run ? decode_run(s, lines, n, x) : x + 1;
    }
}

/* -- the image --------------------------------------------------------------------------------- */

typedef struct picture {
    refs_bytes encoded;
    size_t at;
    refs_image image;
    unsigned bits; /* of a sample */
    parameters preset;
    size_t n_decoded; /* components */
    uint8_t *samples; /* NULL before the frame's header */
} picture;

static int32_t threshold(int32_t value, int32_t least, int32_t max_value) {
    return value < least || value > max_value ? least : value;
}

/* Sets default parameters, C.2.4.1.1.1. */
static void add_defaults(parameters *p, int32_t near) {
    const bool is_wide = p->max_value >= 128;
    const int32_t factor =
        is_wide ? (clamp(p->max_value, 0, 4095) + 128) / 256 : 256 / (p->max_value + 1);
    const int32_t t1 = is_wide ? factor + 2 : 3 / factor,
                  t2 = is_wide ? 4 * factor + 3 : 7 / factor;
    const int32_t t3 = is_wide ? 17 * factor + 4 : 21 / factor;
    if (p->t1 == 0) p->t1 = threshold(clamp(t1 + 3 * near, 2, INT32_MAX), near + 1, p->max_value);
    if (p->t2 == 0) p->t2 = threshold(clamp(t2 + 5 * near, 3, INT32_MAX), p->t1, p->max_value);
    if (p->t3 == 0) p->t3 = threshold(clamp(t3 + 7 * near, 4, INT32_MAX), p->t2, p->max_value);
    if (p->reset == 0) p->reset = 64;
}

static refs_status set_parameters(scan *s, const picture *p, refs_error *err) {
    const int32_t most = (int32_t)((1u << p->bits) - 1);
    parameters *set = &s->preset;
    *set = p->preset;
    if (set->max_value == 0) set->max_value = most;
    if (set->max_value > most || s->near > set->max_value / 2) return damaged(p->at, err);
    add_defaults(set, s->near);
    if (set->t1 <= s->near || set->t2 < set->t1 || set->t3 < set->t2 || set->reset < 3)
        return damaged(p->at, err);
    const unsigned bits = set->max_value > 3 ? bits_of((uint32_t)set->max_value + 1) : 2;
    s->range = (set->max_value + 2 * s->near) / (2 * s->near + 1) + 1;
    s->range_bits = bits_of((uint32_t)s->range);
    s->limit = 2 * (bits + (bits > 8 ? bits : 8));
    const context first = {.a = clamp((s->range + 32) / 64, 2, INT32_MAX), .n = 1};
    for (size_t i = 0; i < N_CONTEXTS; i++) s->contexts[i] = first;
    s->run_contexts[0] = s->run_contexts[1] = first;
    return REFS_OK;
}

static refs_status make_lines(scan *s, refs_error *err) {
    const size_t n = s->width + 2;
    s->memory = refs_calloc(2 * s->n_lines * n, sizeof *s->memory);
    if (s->memory == NULL) return refs_fail_nomem(err);
    for (size_t i = 0; i < s->n_lines; i++)
        s->lines[i] = (line_pair){s->memory + 2 * i * n, s->memory + (2 * i + 1) * n, 0};
    return REFS_OK;
}

/* In an image of several components, one with its own scan is a plane. */
static void put_line(const picture *p, const scan *s, size_t component, size_t y) {
    const refs_image *image = &p->image;
    const bool is_plane = s->n_lines < image->n_samples;
    const size_t step = (is_plane ? 1 : image->n_samples) * image->sample_size;
    const size_t row = is_plane ? p->n_decoded * image->height + y : y;
    uint8_t *at = p->samples + row * image->width * step + component * image->sample_size;
    for (size_t x = 1; x <= image->width; x++, at += step) {
        at[0] = (uint8_t)s->lines[component].line[x];
        if (image->sample_size == 2) at[1] = (uint8_t)(s->lines[component].line[x] >> 8);
    }
}

static refs_status decode_lines(picture *p, scan *s, refs_error *err) {
    const size_t n_together = s->by_pixel ? s->n_lines : 1;
    for (size_t y = 0; y < p->image.height; y++) {
        for (size_t i = 0; i < s->n_lines; i += n_together)
            decode_line(s, &s->lines[i], n_together);
        if (s->bits.failed) return damaged((size_t)(s->bits.at - p->encoded.data), err);
        for (size_t i = 0; i < s->n_lines; i++) {
            put_line(p, s, i, y);
            uint16_t *done = s->lines[i].line;
            s->lines[i].line = s->lines[i].above;
            s->lines[i].above = done;
        }
    }
    p->at = (size_t)(s->bits.at - p->encoded.data);
    p->n_decoded += s->n_lines;
    return REFS_OK;
}

/* Header and lines of a scan, C.2.3. */
static refs_status decode_scan(picture *p, refs_bytes header, scan *s, refs_error *err) {
    const size_t n = header.size > 0 ? header.data[0] : 0;
    if (p->samples == NULL || header.size != 4 + 2 * n || n == 0 || n > MAX_INTERLEAVED ||
        (n != 1 && n != p->image.n_samples) || n > p->image.n_samples - p->n_decoded)
        return damaged(p->at, err);
    const uint8_t *ends = header.data + 1 + 2 * n; /* NEAR, ILV, point transform */
    for (size_t i = 0; i < n; i++)
        if (header.data[2 + 2 * i] != 0)
            return refs_fail(err, REFS_UNSUPPORTED, "JPEG-LS mapping tables are not supported");
    if (ends[2] != 0)
        return refs_fail(err, REFS_UNSUPPORTED, "JPEG-LS point transforms are not supported");
    if (ends[1] > 2 || (ends[1] == 0) != (n == 1)) return damaged(p->at, err);
    s->near = ends[0];
    s->n_lines = n;
    s->by_pixel = ends[1] == 2;
    s->width = p->image.width;
    s->bits = (bit_source){.at = p->encoded.data + p->at, .end = p->encoded.data + p->encoded.size};
    REFS_TRY(set_parameters(s, p, err));
    REFS_TRY(make_lines(s, err));
    return decode_lines(p, s, err);
}

static refs_status run_scan(picture *p, refs_bytes header, refs_error *err) {
    scan *s = refs_calloc(1, sizeof *s);
    if (s == NULL) return refs_fail_nomem(err);
    refs_status status = decode_scan(p, header, s, err);
    refs_free(s->memory);
    refs_free(s);
    return status;
}

/* C.2.2. */
static refs_status read_frame(picture *p, refs_bytes header, refs_codec_output *output,
                              refs_error *err) {
    const uint8_t *at = header.data;
    if (p->samples != NULL || header.size < 6 || header.size != 6 + 3 * (size_t)at[5] ||
        at[0] < 2 || at[0] > 16)
        return damaged(p->at, err);
    p->bits = at[0];
    p->image =
        (refs_image){refs_load_be16(at + 3), refs_load_be16(at + 1), at[5], at[0] > 8 ? 2 : 1};
    if (p->image.width == 0 || p->image.height == 0 || p->image.n_samples == 0)
        return damaged(p->at, err);
    return refs_codec__image_add(&p->image, output, &p->samples, err);
}

/* C.2.4.1: only preset parameters are supported, not tables and sizes. */
static refs_status read_preset(picture *p, refs_bytes segment, refs_error *err) {
    const uint8_t *at = segment.data;
    if (segment.size == 0) return damaged(p->at, err);
    if (at[0] != 1)
        return refs_fail(err, REFS_UNSUPPORTED, "a JPEG-LS image with parameters of type %d",
                         at[0]);
    if (segment.size != 11) return damaged(p->at, err);
    p->preset = (parameters){(int32_t)refs_load_be16(at + 1), (int32_t)refs_load_be16(at + 3),
                             (int32_t)refs_load_be16(at + 5), (int32_t)refs_load_be16(at + 7),
                             (int32_t)refs_load_be16(at + 9)};
    return REFS_OK;
}

/* Skips to the byte after the next marker. Bytes before it are padding, which some encoders
 * write. */
static refs_status next_marker(picture *p, uint8_t *marker, refs_error *err) {
    const uint8_t *data = p->encoded.data;
    for (; p->at + 1 < p->encoded.size; p->at++) {
        if (data[p->at] != 0xFF || data[p->at + 1] < 0x80 || data[p->at + 1] == 0xFF) continue;
        *marker = data[p->at + 1];
        p->at += 2;
        return REFS_OK;
    }
    return damaged(p->at, err);
}

static refs_status read_segment(picture *p, refs_bytes *segment, refs_error *err) {
    const size_t left = p->encoded.size - p->at;
    const size_t size = left < 2 ? 0 : refs_load_be16(p->encoded.data + p->at);
    if (size < 2 || size > left) return damaged(p->at, err);
    *segment = refs_bytes_view(p->encoded.data + p->at + 2, size - 2);
    p->at += size;
    return REFS_OK;
}

static refs_status take_segment(picture *p, uint8_t marker, refs_codec_output *output,
                                refs_error *err) {
    refs_bytes segment = {NULL, 0};
    REFS_TRY(read_segment(p, &segment, err));
    if (marker == SOF55) return read_frame(p, segment, output, err);
    if (marker == LSE) return read_preset(p, segment, err);
    if (marker == SOS) return run_scan(p, segment, err);
    if (segment.size > 4 && memcmp(segment.data, "mrfx", 4) == 0 && segment.data[4] != 0)
        return refs_fail(err, REFS_UNSUPPORTED, "a JPEG-LS image with a colour transform of HP");
    if ((marker >= APP0 && marker <= APP15) || marker == COM) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED, "a JPEG-LS image with marker 0x%02X", marker);
}

static refs_status decode(const void *self, refs_bytes encoded, refs_codec_output *output,
                          refs_error *err) {
    picture p = {.encoded = encoded, .at = 2};
    uint8_t marker = 0;
    (void)self;
    if (encoded.size < 2 || encoded.data[0] != 0xFF || encoded.data[1] != SOI)
        return damaged(0, err);
    for (;;) {
        REFS_TRY(next_marker(&p, &marker, err));
        if (marker == EOI) break;
        REFS_TRY(take_segment(&p, marker, output, err));
    }
    return p.samples != NULL && p.n_decoded == p.image.n_samples ? REFS_OK : damaged(p.at, err);
}

static const char *const aliases[] = {"hdf5_filter_32018", NULL};

const refs_codec_type refs_codec_jpegls = {.name = "imagecodecs_jpegls",
                                           .aliases = aliases,
                                           .reads = "JPEG-LS; HDF5 filter 32018: FCIDECOMP",
                                           .library = "REFS",
                                           .decode = decode};
