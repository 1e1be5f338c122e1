#ifndef POLYTILE_TESTS_PARTITION_SKEW_BLURS_H
#define POLYTILE_TESTS_PARTITION_SKEW_BLURS_H

#include "partition/skew/skewed.h"

#include <string>
#include <vector>

/* Blurs to and fro, of lines and of planes. */

namespace blurs {

inline const std::vector<std::string> two_lines = {"64", "64"};
inline const Kernel there = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 0}, {"y", 1}}};
inline const Kernel back = {"blur[i]: in x[i-1:i+1]; out y[i]", "1:62", {{"x", 1}, {"y", 0}}};

inline const std::vector<std::string> planes = {"64x64", "64x64", "64x64", "64"};
inline const Kernel blur_there = {
    "blur[i, j]: in x[i-1:i+1, j]; out y[i, j]", "1:62,0:63", {{"x", 0}, {"y", 1}}};
inline const Kernel blur_back = {
    "blur[i, j]: in x[i-1:i+1, j]; out y[i, j]", "1:62,0:63", {{"x", 1}, {"y", 0}}};
inline const Kernel add_up = {
    "rows[i, j]: in w[:, :], x[i, j]; out sum z[i]", "0:63,0:63", {{"w", 2}, {"x", 0}, {"z", 3}}};

} // namespace blurs

#endif
