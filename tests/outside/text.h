#ifndef OUTSIDE_TEXT_H
#define OUTSIDE_TEXT_H

/* Programs as text: declarations for the library, everything for people. */
#include "outside/model.h"

namespace outside {

/** A kernel's declaration, in one of the many ways to write it, which its style chooses. */
std::string declaration_text(const Kernel &kernel);

std::string device_text(const std::vector<Device> &devices);

std::string box_text(const Box &box);

/** All of a program, a line for each object and each step. */
std::string program_text(const Program &program);

} // namespace outside

#endif
