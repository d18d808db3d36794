/* generator.h -- the member "gen": references by formula. */
#ifndef REFS_REFERENCES_GENERATOR_H
#define REFS_REFERENCES_GENERATOR_H

#include "templates.h"

/** Adds all references that the elements of the list `gen` generate; failures name the element. */
refs_status refs_references__generate(const refs_json *gen, refs_templates *templates,
                                      refs_set_builder *builder, refs_error *err);

#endif
