#ifndef POLYTILE_ACCESS_CONFLICT_CLOSED_H
#define POLYTILE_ACCESS_CONFLICT_CLOSED_H

#include "access/declare/declaration.h"

/**
 * Prove in closed form that different threads never touch one element through two accesses of an
 * array, whatever the launch domain, the array and the parameters are.
 *
 * Looks at the dimensions in which both name a single element with the same coefficients: a
 * difference that no integers make up keeps the accesses apart, and an equation in one index that
 * is not settled yet settles it. False says nothing.
 */
bool pti_accesses_never_meet(const polytile_declaration *declaration, const pti_access *a,
                             const pti_access *b);

#endif
