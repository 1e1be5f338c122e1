#ifndef POLYTILE_ACCESS_DECLARE_ARRAY_H
#define POLYTILE_ACCESS_DECLARE_ARRAY_H

#include "base/context.h"
#include "base/part_file.h"
#include <polytile/array.h>

/** Whether all elements of an array have values, and if not, why. */
typedef enum pti_array_state {
    PTI_ARRAY_COMPLETE,
    PTI_ARRAY_HARMED,   /* a failed run left it incomplete */
    PTI_ARRAY_DISCARDED /* the program said that nobody needs what it held */
} pti_array_state;

struct polytile_array {
    pti_object object;
    char *name;
    polytile_type type;
    int64_t element_bytes;
    polytile_domain domain;
    void *data;      /* of the first element; borrowed, or inside mapping; NULL: described only */
    int64_t n_bytes; /* of all elements */
    bool read_only;  /* a file mapped for reading */
    pti_array_state state;
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

/* Return the state, which a queue's thread may set meanwhile. */

static inline pti_array_state pti_array_get_state(const polytile_array *array) {
    return __atomic_load_n(&array->state, __ATOMIC_RELAXED);
}

static inline void pti_array_set_state(polytile_array *array, pti_array_state state) {
    __atomic_store_n(&array->state, state, __ATOMIC_RELAXED);
}

static inline bool pti_array_is_complete(const polytile_array *array) {
    return pti_array_get_state(array) == PTI_ARRAY_COMPLETE;
}

/** Set the state after a run that wrote the whole array, or one that failed. */
static inline void pti_array_set_complete(polytile_array *array, bool complete) {
    pti_array_set_state(array, complete ? PTI_ARRAY_COMPLETE : PTI_ARRAY_HARMED);
}

/** Warn that a kernel reads an incomplete array. */
void pti_array_warn_incomplete(const polytile_array *array, const char *kernel_name);

/** Create an array over a domain. The caller sets data, mapping and read_only. Errors as
 * polytile_array_wrap(). */
polytile_status pti_array_create(polytile_context *ctx, const char *name, polytile_type type,
                                 const polytile_domain *domain, polytile_array **array);

/** Return the context's newest array older than `after`, or of all if `after` is NULL; NULL:
 * none. */
polytile_array *pti_array_next(const polytile_context *ctx, const polytile_array *after);

#endif
