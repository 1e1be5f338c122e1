#ifndef POLYTILE_ACCESS_ARRAY_TYPE_H
#define POLYTILE_ACCESS_ARRAY_TYPE_H

#include <polytile/array.h>
#include <polytile/implementation.h>

/* Types of elements: sizes, parts and names. */

/** Return the type of elements in a kernel body: a scalar, or else bytes. */
polytile_type pti_type_of(polytile_number number, int64_t element_bytes);

/** The names of POLYTILE_TYPES, for people. */
#define PTI_TYPE_NAMES "i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64, bf16, c64, c128"

/** Where the index of an element of POLYTILE_INDEXED() is. */
enum { PTI_INDEX_OFFSET = 8, PTI_INDEXED_BYTES = 16 };

/** Return the type of the values of POLYTILE_INDEXED(), or -1 for another type. */
int pti_type_indexed(polytile_type type);

/** Return the type of the two parts of a complex type, or -1 for another type. */
int pti_type_part(polytile_type type);

enum { PTI_TYPE_TEXT_BYTES = 32 };

/** Write a type for people, "f32" or "12 B", into a buffer, and return it. */
char *pti_type_format(polytile_type type, char buffer[PTI_TYPE_TEXT_BYTES]);

#endif
