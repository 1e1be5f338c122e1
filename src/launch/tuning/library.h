#ifndef POLYTILE_LAUNCH_TUNING_LIBRARY_H
#define POLYTILE_LAUNCH_TUNING_LIBRARY_H

#include <stddef.h>

/* The library's own tuning table: data/tuning.json, of which CMake makes a C file. */

extern const unsigned char pti_tuning_library_text[];
extern const size_t pti_tuning_library_bytes;

#endif
