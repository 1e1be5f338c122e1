#ifndef POLYTILE_ACCESS_CONFLICT_CLOSED_H
#define POLYTILE_ACCESS_CONFLICT_CLOSED_H

#include "access/declare/declaration.h"

/**
 * Prove in closed form that different threads never touch one element through two accesses of an
 * array, whatever the launch domain, the array and the parameters are.
 *
 * Uses the dimensions in which both name one element with the same coefficients. A difference that
 * no integers make up keeps the accesses apart; an equation in one open index settles it. False
 * means unknown.
 */
bool pti_accesses_never_meet(const polytile_declaration *declaration, const pti_access *a,
                             const pti_access *b);

#endif
