#ifndef POLYTILE_ACCESS_DECLARE_LOOKUPS_H
#define POLYTILE_ACCESS_DECLARE_LOOKUPS_H

#include "access/declare/declaration.h"

/* Sections while they are read or built: what stands in their subscripts of index arrays is a list
 * of sections of its own, in the order in which it is mentioned. */

/** The most elements of index arrays in one section's subscripts, with those inside them. */
enum { PTI_MAX_LOOKUPS = 64 };

/** A section of an index array. While ends wait in this list, their access is a position in it. */
typedef struct pti_lookup {
    char *name;    /* owned */
    size_t offset; /* in the text, of the name; 0 without one */
    pti_access access;
} pti_lookup;

/** The lookups of a section, in the order in which they are mentioned. */
typedef struct pti_lookups {
    int n_lookups;
    pti_lookup *lookup; /* owned */
} pti_lookups;

/** Add a lookup without subscripts yet, whose position comes back. Errors: DECLARATION (too many),
 * NO_MEMORY. */
polytile_status pti_lookups_add(pti_lookups *lookups, const char *name, size_t offset,
                                int *position, pti_text *why);
void pti_lookups_free(pti_lookups *lookups);

/**
 * Make a subscript of an access indirect: from lo to hi, which may be one end.
 *
 * Errors  DECLARATION (a step, an edge or an open end beside it; an end of a range that is not one
 *         element), NO_MEMORY.
 */
polytile_status pti_lookups_set(const pti_lookups *lookups, pti_access *access, int dim,
                                const pti_indirect_end *lo, const pti_indirect_end *hi,
                                pti_text *why);

/**
 * Add a section and what it looks up to a declaration.
 *
 * Errors  DECLARATION, NO_MEMORY: as pti_declaration_add_access(); *offset is that of the lookup
 *         that was refused, or stays. Takes access->indirect and access->relation on success only.
 */
polytile_status pti_lookups_add_access(polytile_declaration *declaration, const char *array,
                                       const pti_access *access, pti_lookups *lookups,
                                       size_t *offset, pti_text *why);

#endif
