#ifndef POLYTILE_PARTITION_SHOW_JSON_WRITE_H
#define POLYTILE_PARTITION_SHOW_JSON_WRITE_H

#include "base/json_text.h"
#include "base/text.h"
#include <polytile/domain.h>

#include <jansson.h>

/* Values of JSON, and a document of them with a key or an entry a line, so that people and line
 * tools can read it, too. Functions take over the values that they are given. A value is NULL where
 * memory ran out for it, and so is all that is made of it; a text that it is written to has failed.
 */

/** A key with its value. */
typedef struct pti_json_member {
    const char *key; /* NULL after the last */
    json_t *value;
} pti_json_member;

/** An object with further members. */
json_t *pti_json_extend(json_t *object, const pti_json_member *members);

/** A list with a further entry. */
json_t *pti_json_append(json_t *list, json_t *value);

json_t *pti_json_numbers(int n, const int64_t *numbers);

/** A number that may be no finite one, for which JSON has no number: null. */
json_t *pti_json_real(double real);

/** One number of each of a box's ranges. */
typedef enum pti_json_bound { PTI_JSON_LO, PTI_JSON_HI, PTI_JSON_STEP } pti_json_bound;
json_t *pti_json_bounds(const polytile_domain *box, pti_json_bound bound);

/** A box of which steps do not matter: "lo" and "hi". */
json_t *pti_json_box(const polytile_domain *box);

/** Write members of the document's object, each after the one before, and with a comma. */
void pti_json_write_members(pti_text *text, json_t *object);

/** Write a list of the document, an entry a line, without what follows it. */
void pti_json_write_list(pti_text *text, const char *key, json_t *list);

/** Write an entry of a list of the document, which may be long. */
void pti_json_write_entry(pti_text *text, json_t *value, bool is_first);

#endif
