#ifndef POLYTILE_PARTITION_SHOW_PRINT_H
#define POLYTILE_PARTITION_SHOW_PRINT_H

#include "partition/show/words.h"

/* Objects as text, JSON, pictures and pages: the printers. */

/** Write an object after a text; where memory runs out the text has failed. */
typedef void pti_printer(pti_text *text, const pti_object *object);

enum { PTI_N_FORMATS = POLYTILE_HTML + 1 };

/**
 * Print an object, for a public function, with the printers of its kind by format; NULL: the kind
 * has no such format. noun: what the object is, for errors.
 *
 * Errors  INVALID (no object, no text, no such format), NO_MEMORY.
 * Owns    The caller frees *text; on errors it is NULL.
 */
polytile_status pti_print(const char *function, const char *noun, const pti_object *object,
                          pti_printer *const printers[PTI_N_FORMATS], polytile_format format,
                          char **text);

/* The printers of plans of one device, whose plans are polytile_plan. */
pti_printer pti_plan_write_text, pti_plan_write_json, pti_plan_draw;

/** Write the members of a plan's JSON, without the braces around them. */
void pti_plan_write_json_members(pti_text *text, const polytile_plan *plan);

/** Write the paper's union, equations and shape, of a plan by its strategy; else nothing. */
void pti_plan_write_equations(pti_text *text, const polytile_plan *plan);

/** A line of a text with a label in front: pti_text_add(text, PTI_ROW "%s\n", "limit", words). */
#define PTI_ROW "  %-13s"

#endif
