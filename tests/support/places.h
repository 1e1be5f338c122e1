#ifndef POLYTILE_TESTS_SUPPORT_PLACES_H
#define POLYTILE_TESTS_SUPPORT_PLACES_H

#include <string>

/** Return the path of a file of the source tree: "README.md"; "" is the tree itself. */
std::string in_source(const std::string &path);

/** Return the path of a file of the build directory: "tools/polytile". */
std::string in_build(const std::string &path);

#endif
