#include "partition/show/json_write.h"

#include "base/json_text.h"

#include <math.h>

json_t *pti_json_extend(json_t *object, const pti_json_member *members) {
    int failed = 0;
    for (const pti_json_member *member = members; member->key != NULL; member++)
        failed |= json_object_set_new(object, member->key, member->value);
    if (failed == 0)
        return object;
    json_decref(object);
    return NULL;
}

json_t *pti_json_append(json_t *list, json_t *value) {
    if (json_array_append_new(list, value) == 0)
        return list;
    json_decref(list);
    return NULL;
}

json_t *pti_json_numbers(int n, const int64_t *numbers) {
    json_t *list = json_array();
    for (int k = 0; k < n; k++)
        list = pti_json_append(list, json_integer(numbers[k]));
    return list;
}

json_t *pti_json_real(double real) {
    return isfinite(real) ? json_real(real) : json_null();
}

json_t *pti_json_bounds(const polytile_domain *box, pti_json_bound bound) {
    json_t *list = json_array();
    for (int d = 0; d < box->n_dims; d++) {
        const polytile_range *range = &box->range[d];
        const int64_t numbers[] = {range->lo, range->hi, range->step};
        list = pti_json_append(list, json_integer(numbers[bound]));
    }
    return list;
}

json_t *pti_json_box(const polytile_domain *box) {
    const pti_json_member members[] = {
        {"lo", pti_json_bounds(box, PTI_JSON_LO)},
        {"hi", pti_json_bounds(box, PTI_JSON_HI)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Write a value on one line; 15 digits give back any decimal figure as it was. */
static void write_value(pti_text *text, const json_t *value) {
    pti_text_add_json(text, value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

void pti_json_write_members(pti_text *text, json_t *object) {
    const char *key;
    json_t *value;
    text->failed |= object == NULL;
    json_object_foreach(object, key, value) {
        pti_text_add(text, "  \"%s\": ", key);
        write_value(text, value);
        pti_text_add(text, ",\n");
    }
    json_decref(object);
}

void pti_json_write_entry(pti_text *text, json_t *value, bool is_first) {
    pti_text_add(text, is_first ? "\n    " : ",\n    ");
    write_value(text, value);
    json_decref(value);
}

void pti_json_write_list(pti_text *text, const char *key, json_t *list) {
    size_t k;
    json_t *entry;
    pti_text_add(text, "  \"%s\": [", key);
    text->failed |= list == NULL;
    json_array_foreach(list, k, entry) pti_json_write_entry(text, json_incref(entry), k == 0);
    pti_text_add(text, "%s]", json_array_size(list) > 0 ? "\n  " : "");
    json_decref(list);
}
