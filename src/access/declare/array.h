#ifndef POLYTILE_ACCESS_DECLARE_ARRAY_H
#define POLYTILE_ACCESS_DECLARE_ARRAY_H

#include "base/context.h"
#include "base/part_file.h"
#include <polytile/array.h>

struct polytile_array {
    pti_object object;
    char *name;
    polytile_type type;
    int64_t element_bytes;
    polytile_domain domain;
    void *data;      /* of the first element; borrowed, or inside mapping; NULL: described only */
    int64_t n_bytes; /* of all elements */
    bool read_only;  /* a file mapped for reading */
    bool complete;
    struct polytile_queue *queue; /* that holds it, attached or internal; NULL: none */
    bool (*leave_queue)(polytile_array *of, bool at_once); /* while it is held: called before it is
                                                destroyed; false: it must not be, now; at_once: it
                                                will be, whatever comes back */
    int position;                                          /* among the arrays of that queue */
    bool is_internal; /* made by that queue: data is memory of the library's, NULL until it is
                         needed, and nobody else's business */
    void *mapping;    /* a mapped file, unmapped with the array; NULL if none */
    int64_t mapping_bytes;
    pti_part_file part; /* that file, as long as it waits for its name */
};

/* A queue's thread sets the mark while the program may ask for it. */

static inline bool pti_array_is_complete(const polytile_array *array) {
    return __atomic_load_n(&array->complete, __ATOMIC_RELAXED);
}

static inline void pti_array_set_complete(polytile_array *array, bool complete) {
    __atomic_store_n(&array->complete, complete, __ATOMIC_RELAXED);
}

/** An array over a domain; data, mapping and read_only are filled in by the caller. Errors as
 * polytile_array_wrap(). */
polytile_status pti_array_create(polytile_context *ctx, const char *name, polytile_type type,
                                 const polytile_domain *domain, polytile_array **array);

/** The array of the context that was made last before `after`, of all with NULL; NULL: there is
 * none. */
polytile_array *pti_array_next(const polytile_context *ctx, const polytile_array *after);

#endif
