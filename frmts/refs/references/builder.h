/* builder.h -- the builder's internal functions, for the formats of this module.
 *
 * The public functions take a key and its value at once. A parser reads the key first, then the
 * parts of the value, and its strings are short-lived: it gets the slot of the key, then the number
 * of the URL, then puts the value into the slot.
 */
#ifndef REFS_REFERENCES_BUILDER_H
#define REFS_REFERENCES_BUILDER_H

#include "entry.h"
#include "refs/refset.h"

/** The destination of the reference of a key. */
typedef struct refs_slot {
    uint32_t table; /**< or REFS_INTERN_NONE: then `place` is the number of a name */
    uint64_t place; /**< packed index */
} refs_slot;

/** Sets *slot to the slot of `key`. A value must be put into it before the set is finished. */
refs_status refs_references__builder_slot(refs_set_builder *builder, refs_str key, refs_slot *slot,
                                          refs_error *err);

/** The number of `url`. */
refs_status refs_references__builder_url(refs_set_builder *builder, refs_str url, uint32_t *id,
                                         refs_error *err);

/** The URL of a number, borrowed until the next one is added. */
refs_str refs_references__builder_url_text(const refs_set_builder *builder, uint32_t id);

/** Approximate bytes of memory that keys and URLs take, or will take in the set, each counted
 * once. */
uint64_t refs_references__builder_text_bytes(const refs_set_builder *builder);

/** Put a value into a slot; the public functions document the kinds. */
refs_status refs_references__builder_put_inline(refs_set_builder *builder, const refs_slot *slot,
                                                refs_bytes bytes, refs_error *err);
refs_status refs_references__builder_put_range(refs_set_builder *builder, const refs_slot *slot,
                                               const refs_wide_range *range, refs_error *err);
refs_status refs_references__builder_put_whole(refs_set_builder *builder, const refs_slot *slot,
                                               uint32_t url, refs_error *err);
refs_status refs_references__builder_put_broken(refs_set_builder *builder, const refs_slot *slot,
                                                const refs_error *problem, refs_error *err);

/** Renders one URL: appends the text. */
typedef refs_status (*refs_url_renderer)(void *user, refs_str url, refs_buf *text, refs_error *err);

/** Renders all URLs so far that contain "{{". References to one that cannot be rendered fail when
 * they are read. The numbers of URLs change. */
refs_status refs_references__builder_render(refs_set_builder *builder, refs_url_renderer render,
                                            void *user, refs_error *err);

/** Whether a URL contains "{{", which begins a template. */
bool refs_references__holds_template(refs_str url);

/** The options, or the defaults. */
const refs_set_options *refs_references__builder_options(const refs_set_builder *builder);

#endif
