/* templates.h -- the templates of a set.
 *
 * A template whose text has an expression is called with arguments, which are the only names that
 * it can use; any other template is the value of its name. Belongs to one thread.
 */
#ifndef REFS_REFERENCES_TEMPLATES_H
#define REFS_REFERENCES_TEMPLATES_H

#include "refs/json.h"
#include "refs/refset.h"
#include "template/template.h"

/* -- the templates of a set -------------------------------------------------------------------- */

typedef struct refs_templates refs_templates;

/** The templates in `members`, an object or NULL, and those of the options. */
refs_status refs_references__templates_open(const refs_json *members,
                                            const refs_set_options *options,
                                            refs_templates **templates, refs_error *err);
void refs_references__templates_free(refs_templates *templates);

size_t refs_references__templates_count(const refs_templates *templates);

/** Finds the value of a name; a function of refs_scope, whose `user` is the templates. */
bool refs_references__templates_find(const void *user, refs_str name, refs_template_value *value);

/** Renders `text` with the templates as names, and appends it to `rendered`. */
refs_status refs_references__templates_render(void *templates, refs_str text, refs_buf *rendered,
                                              refs_error *err);

/** The scratch memory of rendering. Results in it are valid until another text is rendered. */
refs_template_scratch *refs_references__templates_scratch(refs_templates *templates);

#endif
