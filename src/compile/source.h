#ifndef POLYTILE_COMPILE_SOURCE_H
#define POLYTILE_COMPILE_SOURCE_H

#include "compile/compile.h"

/* What compilers get: the headers of kernel code in one text, and the body between macros. */

/** The file name of the body in what compilers say, and of the rest. */
#define PTI_BODY_FILE "body"
#define PTI_REST_FILE "polytile"

/** The names that a loader looks for: of a function on the host, of kernels on a GPU. */
#define PTI_HOST_SYMBOL            "pt_implementation"
#define PTI_CUDA_SYMBOL            "pt_body_cuda"
#define PTI_CUDA_CONTIGUOUS_SYMBOL "pt_body_cuda_contiguous"
#define PTI_CUDA_PIECES_SYMBOL     "pt_body_cuda_pieces"
#define PTI_CUDA_COARSE_SYMBOL     "pt_body_cuda_coarse"
#define PTI_CUDA_TILES_SYMBOL      "pt_body_cuda_tiles"

/** polytile/kernel.h with all that it includes of polytile. */
extern const unsigned char pti_kernel_headers_text[];
extern const size_t pti_kernel_headers_bytes;

/**
 * Refuse what no source can be made of: too many arrays, names that C has taken.
 *
 * Errors  DECLARATION.
 */
polytile_status pti_source_check(polytile_context *ctx, const polytile_declaration *declaration);

/** Append the part of a source that differs between kernels.
 * Shapes  types: one an array, scratch included. */
void pti_source_add_kernel(pti_text *source, const pti_body_text *body, pti_target target,
                           const polytile_type *types);

/** Return whether a GPU has a kernel that runs several launches, tile by tile
 * (polytile/kernel_tiles.h): of two indices and two to four matrices of one type, one of which it
 * writes. */
bool pti_source_has_tiles(const pti_body_text *body, const polytile_type *types);

/** Append the part before it. */
void pti_source_add_headers(pti_text *source, const pti_body_text *body, pti_target target,
                            const polytile_type *types);

/** Return whether a body's kernel goes round periodic arrays in tiles: it is compiled so where the
 * declaration wraps, if there are tiles. */
bool pti_source_goes_round(const pti_body_text *body, const polytile_type *types);

/** Return whether an element or a parameter is of a type, or has a value of it. */
bool pti_source_has(const pti_body_text *body, const polytile_type *types, polytile_scalar type);

#endif
