#ifndef POLYTILE_TESTS_PARTITION_PROVE_EXTREMES_H
#define POLYTILE_TESTS_PARTITION_PROVE_EXTREMES_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/random.h"

extern "C" {
#include "partition/schedule/joint.h"
#include "partition/schedule/schedule.h"
}

/* Numbers of a plan that are anything: no checker may take one for a position of a list, or add to
 * it, before it has looked at it. Sanitizers see where one does. */

/** One number of a plan. */
struct Number {
    std::string name;
    std::function<int64_t()> get;
    std::function<void(int64_t)> set;
    std::vector<int64_t> refused; /* values with which no plan is right */
    std::vector<int64_t> tried;   /* others */
};

/** All numbers of a schedule that decide something. */
std::vector<Number> NumbersOf(pti_schedule *schedule);
std::vector<Number> NumbersOf(pti_joint_schedule *schedule);

/**
 * Change numbers one by one, and expect that the checker refuses what cannot be right.
 *
 * objection: what the checker says now, "" if it accepts. n_most: of more numbers so many are
 * drawn.
 */
void ExpectExtremesRefused(const std::vector<Number> &numbers, int64_t n_most, Random *random,
                           const std::function<std::string()> &objection);

#endif
