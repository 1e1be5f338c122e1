#ifndef POLYTILE_ACCESS_ARRAY_ARRAY_H
#define POLYTILE_ACCESS_ARRAY_ARRAY_H

#include "access/set/index_map.h"
#include "access/set/memory_layout.h"
#include "base/context.h"
#include "base/part_file.h"
#include <polytile/array.h>

/* access/array: what lies in memory under a name: arrays, their types, views of them, NumPy
 * files. */

/** Whether all elements of an array have values, and if not, why. */
typedef enum pti_array_state {
    PTI_ARRAY_COMPLETE,
    PTI_ARRAY_HARMED,    /* a failed run left it incomplete */
    PTI_ARRAY_DISCARDED, /* the program said that nobody needs what it held */
    PTI_ARRAY_UNTOUCHED  /* complete, but launches that write it were dropped since */
} pti_array_state;

/** An array: its elements, where they lie, and what is known of them. */
struct polytile_array {
    pti_object object;
    int64_t known_as; /* by which a queue finds launches over it again: its serial, or that of an
                         array that lay over the same memory before */
    char *name;
    polytile_type type;
    int64_t element_bytes;
    polytile_domain domain;
    polytile_domain whole; /* of the array of which this is a piece, whose ends bodies see; without
                              dimensions: it is no piece */
    polytile_domain exclusive; /* elements that only its queue writes while it is attached; without
                                  dimensions: all */
    void *data; /* of the first element; borrowed, or inside mapping; NULL: the host has none */
    void *device_data; /* of the first element in the memory of a GPU; borrowed; NULL: none there */
    void *stream;      /* on which that is written before a run; CUDA's, borrowed */
    pti_memory_layout layout; /* of that memory, over the domain; from its first byte to its last it
                                 may have bytes of nobody's, or of other arrays */
    int64_t n_bytes;          /* of all elements */
    polytile_array *base;     /* a view: whose elements these are; NULL: its own */
    bool maps_indices;        /* a view: to_base has the base's index of each element */
    pti_index_map to_base;
    int n_views;    /* of this array */
    bool read_only; /* a file mapped for reading */
    pti_array_state state;
    struct polytile_queue *queue; /* that holds it, attached or internal; NULL: none */
    bool (*leave_queue)(polytile_array *of, bool at_once); /* while it is held: called before it is
                                                destroyed; false: it must not be, now; at_once: it
                                                will be, whatever comes back */
    int position;                                          /* among the arrays of that queue */
    struct pti_index_array
        *indices;     /* what the inspector found in it since that queue has it; held;
                                        NULL: nothing */
    bool is_internal; /* made by that queue: data is memory of the library's, NULL until it is
                         needed, and nobody else's business */
    void *mapping;    /* a mapped file, unmapped with the array; NULL if none */
    int64_t mapping_bytes;
    pti_part_file part; /* that file, as long as it waits for its name */
};

/** Return the array whose elements a view shows; of an array that is no view, the array itself. */
static inline const polytile_array *pti_array_root(const polytile_array *array) {
    while (array->base != NULL)
        array = array->base;
    return array;
}

/** Return the domain whose ends bodies see. */
static inline const polytile_domain *pti_array_whole(const polytile_array *array) {
    return array->whole.n_dims > 0 ? &array->whole : &array->domain;
}

/** Return the array that a run plans for one that it is given: a view with steps is taken as a part
 * of its base, since planners know no array with gaps. */
static inline polytile_array *pti_array_planned(polytile_array *array) {
    while (array->base != NULL && pti_box_has_gaps(&array->domain))
        array = array->base;
    return array;
}

/** Find the map from an array's indices to those of itself or of an array that it is a view of,
 * directly or not. False: some view between them joins dimensions. */
bool pti_array_map_to(const polytile_array *array, const polytile_array *of, pti_index_map *map);

/** Forget what the inspector found in an array, which may hold something else from now on. */
void pti_array_forget_indices(polytile_array *array);

/** Return whether an array lies in the memory of a GPU, where the host cannot use it. */
static inline bool pti_array_is_on_gpu(const polytile_array *array) {
    return array->device_data != NULL;
}

/** Return the memory that a device uses in place: the host's, or that of a GPU. */
static inline void *pti_array_memory(const polytile_array *array) {
    return pti_array_is_on_gpu(array) ? array->device_data : array->data;
}

/** Return the bytes from an array's first to its last. */
static inline int64_t pti_array_span_bytes(const polytile_array *array) {
    return array->layout.size_bytes;
}

/* Return the state, which a queue's thread may set meanwhile. That of a view is its base's, which
 * is not complete because a part of it was overwritten. */

static inline pti_array_state pti_array_get_state(const polytile_array *array) {
    return __atomic_load_n(&pti_array_root(array)->state, __ATOMIC_RELAXED);
}

static inline void pti_array_set_state(polytile_array *array, pti_array_state state) {
    polytile_array *root = (polytile_array *)(uintptr_t)pti_array_root(array);
    if (state != PTI_ARRAY_COMPLETE || root->n_bytes == array->n_bytes)
        __atomic_store_n(&root->state, state, __ATOMIC_RELAXED);
}

static inline bool pti_array_is_complete(const polytile_array *array) {
    const pti_array_state state = pti_array_get_state(array);
    return state == PTI_ARRAY_COMPLETE || state == PTI_ARRAY_UNTOUCHED;
}

/** Set the state after a run that wrote the whole array, or one that failed. */
static inline void pti_array_set_complete(polytile_array *array, bool complete) {
    pti_array_set_state(array, complete ? PTI_ARRAY_COMPLETE : PTI_ARRAY_HARMED);
}

/** Note that a launch which writes the array was dropped, or that one was done. */
static inline void pti_array_note_launch(polytile_array *array, bool was_dropped) {
    const pti_array_state from = was_dropped ? PTI_ARRAY_COMPLETE : PTI_ARRAY_UNTOUCHED;
    polytile_array *root = (polytile_array *)(uintptr_t)pti_array_root(array);
    if (pti_array_get_state(root) == from)
        pti_array_set_state(root, was_dropped ? PTI_ARRAY_UNTOUCHED : PTI_ARRAY_COMPLETE);
}

/** Warn that a kernel reads an incomplete array. */
void pti_array_warn_incomplete(const polytile_array *array, const char *kernel_name);

/** Create an array over a domain, in C order. The caller sets data, mapping and read_only. Errors
 * as polytile_array_wrap(). */
polytile_status pti_array_create(polytile_context *ctx, const char *name, polytile_type type,
                                 const polytile_domain *domain, polytile_array **array);

/** Check a type and a domain of steps 1 as polytile_array_wrap() does. */
polytile_status pti_array_check_domain(polytile_context *ctx, const char *name, polytile_type type,
                                       const polytile_domain *domain);

/** Create an array over a domain of any steps that was checked. The caller sets data, mapping,
 * read_only and the layout. Errors as polytile_array_wrap(). */
polytile_status pti_array_create_strided(polytile_context *ctx, const char *name,
                                         polytile_type type, const polytile_domain *domain,
                                         polytile_array **array);

/** Return the context's newest array older than `after`, or of all if `after` is NULL; NULL:
 * none. */
polytile_array *pti_array_next(const polytile_context *ctx, const polytile_array *after);

#endif
