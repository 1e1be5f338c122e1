#ifndef POLYTILE_TESTS_SUPPORT_LIST_H
#define POLYTILE_TESTS_SUPPORT_LIST_H

#include <iterator>

/** An array or a vector as the two arguments that the library's calls take. */
#define LIST(list) static_cast<int>(std::size(list)), std::data(list)

#endif
