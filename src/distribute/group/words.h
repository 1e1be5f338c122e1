#ifndef POLYTILE_DISTRIBUTE_GROUP_WORDS_H
#define POLYTILE_DISTRIBUTE_GROUP_WORDS_H

#include "base/text.h"
#include "distribute/members/state.h"

/* What a process is about to do, as text, for others to compare with what they are about to do. */

/** A launch with its declaration, domain, arrays and options: "jacobi: in A[i-1:i+1, j]; ... over
 * [1:30, 1:30] with A f32 [0:31, 0:31], ...". The same text, the same launch. */
void pti_words_of_launch(const pti_recorded *recorded, pti_text *words);

/** The hash by which such texts are compared; never 0. */
uint64_t pti_words_hash(const char *words);

#endif
