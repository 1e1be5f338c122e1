#ifndef EXAMPLES_GRANULOMETRY_VOLUME_H
#define EXAMPLES_GRANULOMETRY_VOLUME_H

#include "common/fields.h"

enum { VOLUME_DIMS = 3 };

/** A volume of bytes in C order; it is where they are not zero. */
typedef struct volume {
    int64_t extent[VOLUME_DIMS];
    int64_t n_elements;
    polytile_array *array;
    bool is_pack; /* generated: balls of known sizes */
} volume;

/**
 * Open the volume as the command line says: a .npy file of u8, a raw file of bytes, or a pack of
 * balls that do not touch. Only described when planning, unless it is a .npy file.
 *
 * Errors  INVALID (a file that is none of these, or of another size), OVERFLOW, IO, NO_MEMORY.
 */
polytile_status volume_open(session *s, int64_t default_n, volume *v);

/** Count by plain loops what openings of each size leave, from size 0. counts: n_sizes + 1 of them.
 * Errors: NO_MEMORY. */
polytile_status volume_count_plainly(session *s, const volume *v, int64_t n_sizes, int64_t *counts);

/** Count the same of a pack, from the sizes of its balls alone. */
void volume_count_pack(const session *s, const volume *v, int64_t n_sizes, int64_t *counts);

#endif
