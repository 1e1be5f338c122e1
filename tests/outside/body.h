#ifndef OUTSIDE_BODY_H
#define OUTSIDE_BODY_H

/* The kernels' bodies: one host function and one launcher, for any declaration. */
#include "outside/model.h"

#include <polytile/implementation.h>

#include <mutex>

namespace outside {

/** What a kernel's functions are given; it outlives the kernel's launches. */
struct Body {
    Kernel kernel;
    std::vector<polytile_view_shape> shapes;
    std::vector<int> taken; /* parameters, in the order in which the body gets them */
    std::vector<std::string> names;
    std::vector<polytile_body_parameter> parameters;
    polytile_implementation implementation;
    std::mutex mutex;
    std::string wrong; /* the first thing that was wrong with a view */

    explicit Body(const Kernel &drawn);
    Body(const Body &) = delete;
    Body &operator=(const Body &) = delete;
};

} // namespace outside

#endif
