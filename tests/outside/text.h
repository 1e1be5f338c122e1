#ifndef OUTSIDE_TEXT_H
#define OUTSIDE_TEXT_H

/* Programs as text: declarations for the library, everything for people. */
#include "outside/model.h"

namespace outside {

/** A kernel's declaration, in one of the many ways to write it, which its style chooses. */
std::string declaration_text(const Kernel &kernel);

/** The names in a text, in order; digits before one are no part of it, as in 2n. */
std::vector<std::string> names_in(const std::string &text);

bool mentions(const std::string &text, const std::string &name);

std::string device_text(const std::vector<Device> &devices);

std::string box_text(const Box &box);

/** All of a program, a line for each object and each step. */
std::string program_text(const Program &program);

} // namespace outside

#endif
