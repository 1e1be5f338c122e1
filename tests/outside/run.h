#ifndef OUTSIDE_RUN_H
#define OUTSIDE_RUN_H

/* Programs run by the library's public functions, compared with the interpreter as they go. */
#include "outside/model.h"

#include <polytile/queue.h>

namespace outside {

/** What became of a program. */
struct Outcome {
    std::string failure;               /* "": none; else its kind, a colon, and what was wrong */
    int n_accepted = 0;                /* launches */
    std::vector<std::string> refusals; /* of launches, by reason, without their numbers */
};

/** A message without what differs from program to program. */
std::string reason(polytile_status status, const std::string &text);

/** Opens the queue of a program in another way than over devices of this process. */
using OpenQueue = polytile_status (*)(polytile_context *ctx, const Program &program,
                                      const polytile_share_options *share, polytile_queue **queue);

/** Have programs use it, and be told at once of what fails. */
void set_ranks(OpenQueue open, void (*failed)(const Outcome &outcome));

Outcome run_program(const Program &program);

} // namespace outside

#endif
