#ifndef POLYTILE_ACCESS_ARRAY_INDEX_ARRAY_H
#define POLYTILE_ACCESS_ARRAY_INDEX_ARRAY_H

#include "access/set/memory_layout.h"
#include "base/parallel.h"
#include <polytile/array.h>

/* An index array, and between which values the elements of some of its rows lie: in O(1) where they
 * ascend, else by a tree of least and largest values. A row is what one first index has. */

/** The most levels of a tree. */
enum { PTI_INDEX_LEVELS = 16 };

/** Values from least to most. */
typedef struct pti_value_range {
    int64_t least;
    int64_t most;
} pti_value_range;

/** What was read of one array. It is shared: by inspections, and by the array while a queue has
 * it. */
typedef struct pti_index_array {
    int n_holders;
    const char *data; /* of the first element; borrowed */
    bool is_wide;     /* i64, else i32 */
    polytile_domain domain;
    pti_memory_layout layout;
    uint64_t hash;      /* of what all elements hold */
    bool ascends;       /* has one dimension, and no element is less than the one before it */
    int64_t group_rows; /* of a group of the lowest level */
    int n_levels;
    int64_t n_groups[PTI_INDEX_LEVELS]; /* the lowest level first */
    pti_value_range *group[PTI_INDEX_LEVELS];
} pti_index_array;

/** Return what an element holds; what lies beyond +-2^61 counts as that. */
int64_t pti_index_array_get(const pti_index_array *array, const int64_t *element);

/** Store what n elements of a vector hold, step apart from the first one on, as
 * pti_index_array_get() does. */
void pti_index_array_load(const pti_index_array *array, int64_t first, int64_t step, int n,
                          int64_t *values);

/** Fill in a vector, from 0 on, of the elements of a box in C order, for pti_index_array_load(); it
 * borrows their memory. False: they do not lie one after the other. */
bool pti_index_array_as_vector(const pti_index_array *array, const polytile_domain *box,
                               pti_index_array *vector);

/** Read all elements of an array whose data, type, domain and layout are those of the given one,
 * once over, by all threads that a context has; NULL: by one. The caller holds what comes back;
 * NULL: no memory. */
pti_index_array *pti_index_array_read(const polytile_context *ctx,
                                      const pti_index_array *index_array);
/** Hold it once more, or release it; NULL does nothing. */
pti_index_array *pti_index_array_hold(pti_index_array *array);
void pti_index_array_release(pti_index_array *array);

/** Find the hash of what the elements hold in other memory. False: no memory. */
bool pti_index_array_hash(const polytile_context *ctx, const pti_index_array *array,
                          const char *data, const pti_memory_layout *layout, uint64_t *hash);

/** Return between which values the elements of some rows lie, exactly. rows: not empty, in the
 * domain. */
pti_value_range pti_index_array_find_values(const pti_index_array *array, polytile_range rows);

#endif
