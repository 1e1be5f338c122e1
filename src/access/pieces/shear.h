#ifndef POLYTILE_ACCESS_PIECES_SHEAR_H
#define POLYTILE_ACCESS_PIECES_SHEAR_H

#include "access/footprint/instance.h"
#include "access/set/memory_layout.h"
#include "base/context.h"

/**
 * A copy of an instance in which arrays that threads touch along a diagonal have sheared indices.
 *
 * The box around D[i, i] for n threads has n * n elements, of which n are touched. Where all
 * sections of an array have one dimension d that follows another, f, with a slope, as in D[i, i],
 * D[i, n-i] and A[i, i-1:i+1], dimension d of the copy counts x[d] - slope * x[f]: an interval that
 * is the same for all threads. Then hulls are the diagonal or the band, and all that is known of
 * boxes holds.
 *
 * Spaces  sections, domain, and boxes and placements of a sheared operand: sheared indices; whole:
 *         the array's own.
 *
 * Only arrays are sheared that nothing is combined into, and that one operand has. The array's ends
 * may cut corners off a band: of at most 32 diagonals each is a section of its own then, clipped to
 * what the array has of it (pti_section.within).
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *sheared with pti_instance_free(); NULL: no array is sheared; and on
 *         error.
 */
polytile_status pti_instance_shear(polytile_context *ctx, const pti_instance *instance,
                                   pti_instance **sheared);

/** Return whether an operand has sheared indices. */
bool pti_operand_is_sheared(const pti_operand *operand);

/** Return the domain of an operand's array, in the array's own indices. */
const polytile_domain *pti_operand_array_domain(const pti_operand *operand);

/** Return whether the array of a sheared operand has all of a box of its indices. */
bool pti_operand_has_sheared(const pti_operand *operand, const polytile_domain *box);

/** Return the box around what all threads touch by a section, in its indices, not clipped. */
polytile_domain pti_section_unclipped_hull(const pti_instance *instance,
                                           const pti_section *section);

/**
 * Let the sections of a sheared operand be clipped to what its array has (shear_clip.c).
 *
 * is_clipped: false where they have too many diagonals; nothing is changed then.
 * Errors  NO_MEMORY.
 */
polytile_status pti_shear_clip_operand(polytile_context *ctx, pti_instance *instance,
                                       pti_operand *operand, bool *is_clipped);

/** Return whether the boxes around what superblocks touch of an operand may have elements that its
 * array lacks. */
bool pti_operand_is_ragged(const pti_instance *instance, const pti_operand *operand);

/** Return the smallest box of the array's own indices, of steps 1 where it is sheared, around what
 * the array has of one of an operand's. */
polytile_domain pti_operand_unsheared(const pti_operand *operand, const polytile_domain *box);

/** Return where an operand's indices lie in the memory of its array, whose layout is given. */
pti_memory_layout pti_operand_array_layout(const pti_operand *operand,
                                           const pti_memory_layout *array);

/** Return the runs that a box of an operand has in its array: rows that follow another dimension
 * are never joined, and elements of a dimension that is followed lie apart. */
pti_runs pti_operand_runs(const pti_operand *operand, const polytile_domain *box);

/** Turn the strides of an operand's indices into those of the array's own: the element with all
 * indices 0 is the same. */
void pti_operand_unshear_strides(const pti_operand *operand, int64_t *stride_bytes);

#endif
