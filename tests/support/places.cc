#include "support/places.h"

/* The one file that knows: all others are the same for every tree, and a compiler cache finds
 * them. */

namespace {

std::string within(const std::string &directory, const std::string &path) {
    return path.empty() ? directory : directory + "/" + path;
}

} // namespace

std::string in_source(const std::string &path) {
    return within(POLYTILE_SOURCE_DIR, path);
}

std::string in_build(const std::string &path) {
    return within(POLYTILE_BINARY_DIR, path);
}
