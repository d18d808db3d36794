/* samples.c -- facts about single samples of a TIFF file's pixels: the attribute "tiff_samples", a
 * list with an object for each sample. See refs_cf_sample_of. */
#include "cf_internal.h"

static refs_status copy(const refs_json *of, const char *name, char **text, refs_error *err) {
    const refs_str given = refs_cf__text(of, name);
    if (given.data == NULL) return REFS_OK;
    return refs_str_keep(given, text, err);
}

refs_status refs_cf__describe_samples(const refs_json *attributes, refs_cf_description *description,
                                      refs_error *err) {
    const refs_json *list = refs_json_get(attributes, "tiff_samples");
    const size_t n = refs_json_size(list);
    if (refs_json_kind_of(list) != REFS_JSON_KIND_ARRAY || n == 0) return REFS_OK;
    REFS_NEW(description->samples, n, err);
    description->n_samples = n;
    for (size_t i = 0; i < n; i++) {
        const refs_json *of = refs_json_at(list, i);
        refs_cf_sample *sample = &description->samples[i];
        sample->has_scale = refs_cf__number(of, "scale_factor", &sample->scale);
        sample->has_offset = refs_cf__number(of, "add_offset", &sample->offset);
        REFS_TRY(copy(of, "units", &sample->unit, err));
        REFS_TRY(copy(of, "long_name", &sample->name, err));
    }
    return REFS_OK;
}

void refs_cf__samples_clear(refs_cf_description *description) {
    for (size_t i = 0; i < description->n_samples; i++) {
        refs_free(description->samples[i].unit);
        refs_free(description->samples[i].name);
    }
    refs_free(description->samples);
}

uint64_t refs_cf_sample_number(const refs_cf_description *description, uint64_t band) {
    uint64_t index[REFS_MAX_RANK];
    if (description->sample_axis == REFS_CF_NO_DIM) return 0;
    refs_cf_band_index(description, band, index);
    return description->band_axes[description->sample_axis].first + index[description->sample_axis];
}

const refs_cf_sample *refs_cf_sample_of(const refs_cf_description *description, uint64_t band) {
    const uint64_t sample = refs_cf_sample_number(description, band);
    return sample < description->n_samples ? &description->samples[sample] : NULL;
}

refs_cf_band_color refs_cf_band_color_of(const refs_array_meta *array,
                                         const refs_cf_description *description, uint64_t band) {
    static const refs_cf_band_color rgb[] = {REFS_CF_BAND_RED, REFS_CF_BAND_GREEN,
                                             REFS_CF_BAND_BLUE};
    if (description->sample_axis == REFS_CF_NO_DIM)
        return refs_json_get(array->attributes, "tiff_gray") != NULL ? REFS_CF_BAND_GRAY
                                                                     : REFS_CF_BAND_PLAIN;
    if (array->shape[description->band_axes[description->sample_axis].dim] != 3)
        return REFS_CF_BAND_PLAIN;
    return rgb[refs_cf_sample_number(description, band)];
}
