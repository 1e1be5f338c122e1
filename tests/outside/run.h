#ifndef OUTSIDE_RUN_H
#define OUTSIDE_RUN_H

/* Programs run by the library's public functions, compared with the interpreter as they go. */
#include "outside/model.h"

#include <polytile/status.h>

namespace outside {

/** What became of a program. */
struct Outcome {
    std::string failure;               /* "": none; else its kind, a colon, and what was wrong */
    int n_accepted = 0;                /* launches */
    std::vector<std::string> refusals; /* of launches, by reason, without their numbers */
};

/** A message without what differs from program to program. */
std::string reason(polytile_status status, const std::string &text);

Outcome run_program(const Program &program);

} // namespace outside

#endif
