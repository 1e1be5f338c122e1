#ifndef POLYTILE_ISL_H
#define POLYTILE_ISL_H

#include <isl/ctx.h>
#include <isl/map.h>

#include <polytile/declaration.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Accesses as isl maps, for programs that use isl themselves. They need isl's own headers, and must
 * link the libisl that polytile uses; so polytile.h does not include this header. */

/**
 * Add the accesses of an isl map to a declaration under construction, one for each basic map.
 *
 * Shapes  map: [parameters] -> { [index] -> [element] }, an input dimension for each index of the
 *         kernel in their order, 1 to 8 output dimensions. Names of tuples and of their dimensions
 *         mean nothing; parameters are the declaration's of the same names.
 * Errors  DECLARATION (the number of indices, an unknown parameter, an empty map, and as
 *         polytile_declaration_add()), OVERFLOW (a coefficient exceeds 64 bits), UNSUPPORTED (a
 *         basic map with more than 8 existentially quantified variables), INVALID, NO_MEMORY. On
 *         error the declaration is as it was.
 * Owns    The map stays the caller's.
 */
polytile_status polytile_declaration_add_isl_map(polytile_declaration *declaration,
                                                 polytile_role role, bool fresh, const char *array,
                                                 __isl_keep isl_map *map);

/** Return the number of a kernel's accesses: one a section, or a basic map of a relation in
 * braces. */
int polytile_kernel_get_n_accesses(const polytile_kernel *kernel);

/** Return the position of an access's array or scratch, by polytile_kernel_get_view_name(); -1 if
 * there is no such access. */
int polytile_kernel_get_access_array(const polytile_kernel *kernel, int access);

/**
 * Make an isl map of one access, 0 <= access < n_accesses, in the order of declaration.
 *
 * Shapes  [parameters] -> { kernel[index] -> array[element] } over all integers, which neither a
 *         launch domain nor an array bounds; a whole dimension is unconstrained. Parameters have
 *         their names.
 * Errors  INVALID (null, no such access), NO_MEMORY (isl failed).
 * Owns    The caller frees *map with isl_map_free(); it lives in the caller's isl context and is
 *         independent of the kernel. On error it is NULL.
 */
polytile_status polytile_kernel_copy_isl_map(const polytile_kernel *kernel, int access,
                                             isl_ctx *isl, isl_map **map);

#ifdef __cplusplus
}
#endif

#endif
