#ifndef OUTSIDE_GIVEN_H
#define OUTSIDE_GIVEN_H

/* The parameters of one call of the library. */
#include "outside/model.h"

#include <polytile/launch.h>

#include <deque>

namespace outside {

/** Which parameters a call may do without. */
enum class Leave {
    none,
    bodies,    /* those that no subscript names, as plans and checks */
    subscripts /* those that subscripts name, as runs of a plan */
};

/** A list of parameters in any order, by any of the ways to make them. */
class Given {
  public:
    Given(const Kernel &called, const std::vector<Number> &values, uint64_t seed, Leave leave);

    /** Make a launch's mistake; the names that the error may have. */
    std::vector<std::string> spoil(const Launch &launch);

    /** The same list while nothing else is done to it; NULL if it is empty. */
    void put_into(polytile_launch_options &options) const;

    /** Fill the memory that the call was given with something else. */
    void overwrite();

  private:
    const Kernel &kernel;
    Dice dice;
    std::deque<std::string> names;
    std::vector<size_t> numbers; /* of the kernel's parameters */
    std::vector<polytile_parameter> list;

    bool is_left(Leave leave, size_t parameter);
    void add(const std::string &name, const Number &number, size_t at);
    std::string unknown_name();
    std::vector<std::string> add_unknown();
};

} // namespace outside

#endif
