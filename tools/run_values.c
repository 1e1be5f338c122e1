#include "run_arrays.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What threads combined, as text and as JSON. */

enum { MOST_SHOWN = 16, NUMBER_BYTES = 32, ELEMENT_BYTES = 2 * NUMBER_BYTES + 8, INDEX_OFFSET = 8 };

/** How elements of each type are read. */
static const struct {
    polytile_type type;
    const char *kind; /* of number: signed, unsigned, or real */
} kinds[] = {{POLYTILE_I8, "i"},  {POLYTILE_I16, "i"}, {POLYTILE_I32, "i"}, {POLYTILE_I64, "i"},
             {POLYTILE_U8, "u"},  {POLYTILE_U16, "u"}, {POLYTILE_U32, "u"}, {POLYTILE_U64, "u"},
             {POLYTILE_F32, "f"}, {POLYTILE_F64, "f"}};

static char kind_of(polytile_type type) {
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (kinds[k].type == type)
            return *kinds[k].kind;
    return '\0';
}

/** The kinds of elements: a number, a complex one, a value with its index. */
typedef enum form { ONE_NUMBER, COMPLEX_NUMBER, WITH_INDEX } form;

/** Return the form of a type, and the type of its numbers. */
static form form_of(polytile_type type, polytile_type *of_number) {
    const bool is_complex = type == POLYTILE_C64 || type == POLYTILE_C128;
    const bool is_indexed = type >= POLYTILE_INDEXED(0);
    *of_number = type == POLYTILE_C64    ? POLYTILE_F32
                 : type == POLYTILE_C128 ? POLYTILE_F64
                 : is_indexed            ? type - POLYTILE_INDEXED(0)
                                         : type;
    return is_complex ? COMPLEX_NUMBER : is_indexed ? WITH_INDEX : ONE_NUMBER;
}

/** Return the elements of a domain, or any number above MOST_SHOWN. */
static int64_t count_few(const polytile_domain *domain) {
    int64_t n = 1;
    for (int d = 0; d < domain->n_dims && n <= MOST_SHOWN; d++) {
        const int64_t extent = domain->range[d].hi - domain->range[d].lo + 1;
        n = extent > MOST_SHOWN ? extent : n * extent;
    }
    return n;
}

static int64_t count_elements(const polytile_array *array) {
    return count_few(polytile_array_get_domain(array));
}

bool run_can_show(polytile_type type, const polytile_domain *domain) {
    polytile_type of_number;
    form_of(type, &of_number);
    return kind_of(of_number) != '\0' && count_few(domain) <= MOST_SHOWN;
}

static bool is_shown(const run_arrays *arrays, int a) {
    return run_is_reduced(arrays->kernel, a) &&
           run_can_show(polytile_array_get_type(arrays->array[a]),
                        polytile_array_get_domain(arrays->array[a]));
}

static int64_t read_integer_at(polytile_type type, const void *at) {
    const int64_t n_bytes = polytile_type_get_bytes(type);
    int64_t number = 0;
    memcpy(&number, at, (size_t)n_bytes);
    const int unused_bits = 64 - 8 * (int)n_bytes;
    return kind_of(type) == 'i' ? (int64_t)((uint64_t)number << unused_bits) >> unused_bits
                                : number;
}

static double read_real_at(polytile_type type, const void *at) {
    float single;
    double real;
    memcpy(&single, at, sizeof single);
    if (type == POLYTILE_F32)
        return (double)single;
    memcpy(&real, at, sizeof real);
    return real;
}

/** Write a number with all digits that tell it from others of its type. */
static void write_number(polytile_type type, const void *at, char *text) {
    switch (kind_of(type)) {
    case 'i':
        snprintf(text, NUMBER_BYTES, "%" PRId64, read_integer_at(type, at));
        break;
    case 'u':
        snprintf(text, NUMBER_BYTES, "%" PRIu64, (uint64_t)read_integer_at(type, at));
        break;
    default:
        snprintf(text, NUMBER_BYTES, "%.*g", type == POLYTILE_F32 ? 9 : 17, read_real_at(type, at));
    }
}

/** Write 2.5, 2.5-1i, or "2.5 at 17". */
static void write_element(polytile_type type, const char *at, char text[ELEMENT_BYTES]) {
    char first[NUMBER_BYTES], second[NUMBER_BYTES];
    polytile_type of_number;
    const form has = form_of(type, &of_number);
    write_number(of_number, at, first);
    if (has == WITH_INDEX) {
        write_number(POLYTILE_I64, at + INDEX_OFFSET, second);
        snprintf(text, ELEMENT_BYTES, "%s at %s", first, second);
    } else if (has == COMPLEX_NUMBER) {
        write_number(of_number, at + polytile_type_get_bytes(of_number), second);
        snprintf(text, ELEMENT_BYTES, "%s%s%si", first, *second == '-' ? "" : "+", second);
    } else {
        snprintf(text, ELEMENT_BYTES, "%s", first);
    }
}

static const char *element_at(const polytile_array *array, int64_t k) {
    return (const char *)polytile_array_get_data(array) +
           k * polytile_type_get_bytes(polytile_array_get_type(array));
}

static void print_array(const polytile_array *array) {
    const int64_t n = count_elements(array);
    char text[ELEMENT_BYTES];
    printf("%s = %s", polytile_array_get_name(array), n == 1 ? "" : "[");
    for (int64_t k = 0; k < n; k++) {
        write_element(polytile_array_get_type(array), element_at(array, k), text);
        printf("%s%s", k == 0 ? "" : ", ", text);
    }
    printf("%s\n", n == 1 ? "" : "]");
}

void run_arrays_print(const run_arrays *arrays) {
    for (int a = 0; a < arrays->n; a++)
        if (is_shown(arrays, a))
            print_array(arrays->array[a]);
}

/** JSON has no number for those that are not finite. */
static json_t *number_to_json(polytile_type type, const void *at) {
    char text[NUMBER_BYTES];
    if (kind_of(type) == 'u' && read_integer_at(type, at) < 0) {
        write_number(type, at, text);
        return json_string(text);
    }
    json_t *number = kind_of(type) == 'f' ? json_real(read_real_at(type, at))
                                          : json_integer((json_int_t)read_integer_at(type, at));
    return number == NULL && kind_of(type) == 'f' ? json_null() : number;
}

/** A number, [real, imaginary], or {"value", "index"}. */
static json_t *element_to_json(polytile_type type, const char *at) {
    polytile_type of_number;
    const form has = form_of(type, &of_number);
    json_t *first = number_to_json(of_number, at);
    if (has == COMPLEX_NUMBER)
        return json_pack("[o, o]", first,
                         number_to_json(of_number, at + polytile_type_get_bytes(of_number)));
    if (has == WITH_INDEX)
        return json_pack("{s:o, s:o}", "value", first, "index",
                         number_to_json(POLYTILE_I64, at + INDEX_OFFSET));
    return first;
}

static json_t *array_to_json(const polytile_array *array) {
    const int64_t n = count_elements(array);
    const polytile_type type = polytile_array_get_type(array);
    if (n == 1)
        return element_to_json(type, element_at(array, 0));
    json_t *list = json_array();
    int failed = 0;
    for (int64_t k = 0; k < n; k++)
        failed |= json_array_append_new(list, element_to_json(type, element_at(array, k)));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

json_t *run_arrays_to_json(const run_arrays *arrays) {
    json_t *values = json_object();
    int failed = 0;
    for (int a = 0; a < arrays->n; a++)
        if (is_shown(arrays, a))
            failed |= json_object_set_new(values, polytile_array_get_name(arrays->array[a]),
                                          array_to_json(arrays->array[a]));
    if (!failed)
        return values;
    json_decref(values);
    return NULL;
}
