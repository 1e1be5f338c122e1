#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_INTERIOR_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_INTERIOR_H

#include "distribute/exchange/exchange.h"

/**
 * The threads of a box that read nothing of what a member is about to receive: they can run while
 * it is on its way.
 *
 * A box inside `threads`, made by taking the fewest threads off one side at a time. It is empty if
 * that leaves less than half of them, or nothing is received, or one array stands for several
 * operands: a part of the threads may need more memory than all then (queue/shared.h).
 */
polytile_domain pti_interior_of(const pti_shared_launch *launch, const pti_exchange *exchange,
                                int member, const polytile_domain *threads);

#endif
