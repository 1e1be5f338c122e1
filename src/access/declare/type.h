#ifndef POLYTILE_ACCESS_DECLARE_TYPE_H
#define POLYTILE_ACCESS_DECLARE_TYPE_H

#include <polytile/array.h>
#include <polytile/implementation.h>

/** The type that elements have which a kernel body knows: a scalar, or bytes where it is none. */
polytile_type pti_type_of(polytile_number number, int64_t element_bytes);

enum { PTI_TYPE_TEXT_BYTES = 32 };

/** A type for people, "f32" or "12 B", in a buffer, which it returns. */
char *pti_type_format(polytile_type type, char buffer[PTI_TYPE_TEXT_BYTES]);

#endif
