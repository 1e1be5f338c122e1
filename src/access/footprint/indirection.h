#ifndef POLYTILE_ACCESS_FOOTPRINT_INDIRECTION_H
#define POLYTILE_ACCESS_FOOTPRINT_INDIRECTION_H

#include "access/array/index_array.h"
#include "access/footprint/instance.h"

/* What index arrays hold, for sections whose subscripts look it up. A section keeps whole
 * dimensions as its subscripts, and is not exact; what knows nothing of its indirection is right,
 * if wide. Hulls (footprint.h) are narrowed by it. access/bind/inspect.h fills it in. */

/** An end of an indirect dimension: plus, and on it what the thread's elements of an index array
 * hold, the least of it for a lower end, the most for an upper one. */
typedef struct pti_looked_up {
    pti_affine plus;
    pti_section section;          /* of the index array; may be indirect itself */
    const pti_index_array *array; /* NULL: nothing is looked up */
} pti_looked_up;

/** What narrows a section. In a dimension that gathers, a thread has an element for each that it
 * looks up; in others it has all from its lower end to its upper one, each one element of an index
 * array. */
typedef struct pti_indirection {
    bool is_indirect[POLYTILE_MAX_DIMS];
    bool gathers[POLYTILE_MAX_DIMS];
    pti_looked_up lo[POLYTILE_MAX_DIMS];
    pti_looked_up hi[POLYTILE_MAX_DIMS];
} pti_indirection;

/** All that was found of one launch, held by its instance and copies of that. */
typedef struct pti_inspection {
    int n_holders;
    int n_operands;
    pti_index_array **array; /* of each operand, held; NULL where it is none; owned */
    int n_accesses;
    pti_indirection **indirection; /* of each access; NULL: it has none; owned */
} pti_inspection;

/** Return whether a dimension of a section is indirect. */
static inline bool pti_section_is_indirect(const pti_section *section, int dim) {
    return section->indirection != NULL && section->indirection->is_indirect[dim];
}

/** Return whether what an indirect section has may change with an index. */
bool pti_section_looks_up_by(const pti_section *section, int index);

/** Hold an inspection once more, or release it; NULL does nothing. */
void pti_inspection_hold(pti_inspection *inspection);
void pti_inspection_release(pti_inspection *inspection);

#endif
