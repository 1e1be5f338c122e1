#ifndef POLYTILE_TESTS_DISTRIBUTE_MEMBERS_H
#define POLYTILE_TESTS_DISTRIBUTE_MEMBERS_H

#include <cstdint>
#include <string>
#include <vector>

#include "support/elements.h"

extern "C" {
#include "distribute/exchange/exchange.h"
}

/* Members without processes or devices: each has a copy of every array, of which it knows what is
 * out of date, and interprets declarations thread by thread. */

/** The version of what nobody may read. */
enum { OUT_OF_DATE = -1 };

/** The elements of an array, each with the number of the launch that wrote it (0: none yet). */
struct Field {
    polytile_domain domain;
    std::vector<uint64_t> value;
    std::vector<int64_t> version;

    size_t offset(const Point &point) const;
    size_t size() const { return value.size(); }
};

using Fields = std::vector<Field>;

/** What became of a launch: how many threads reduced into each element of each array, and what they
 * added. */
struct Reduced {
    explicit Reduced(const Fields &fields);

    std::vector<std::vector<int64_t>> n_threads;
    std::vector<std::vector<uint64_t>> sum;
};

/** All members of a queue with their copies, beside the same program run by one. */
class Members {
  public:
    Members(const std::vector<pti_ownership> &ownerships, int n_members);
    ~Members();
    Members(const Members &) = delete;
    Members &operator=(const Members &) = delete;

    /** Run a group everywhere and compare what the owners have; says what is wrong. */
    std::string run(const std::vector<pti_shared_launch> &launches);

    int64_t n_moved() const { return n_moved_; }
    int64_t n_extra_threads() const { return n_extra_threads_; }

  private:
    std::string exchange(const pti_superstep &superstep, bool before);
    std::string move(const pti_exchange &exchange);
    std::string run_member(const pti_superstep &superstep, int member,
                           const std::vector<Fields> &expected, const std::vector<Reduced> &totals);
    void combine(const pti_shared_launch &launch, const Reduced &total, const Fields &before);
    std::string compare() const;
    std::string compare_boxes(const std::string &what, int array, int member,
                              const pti_boxes &boxes) const;

    std::vector<pti_ownership> ownerships_;
    int n_members_;
    pti_copies copies_ = {};
    pti_copies copies_of_one_ = {}; /* by calls that ask for the transfers of one member only */
    std::vector<Fields> fields_;    /* of each member */
    Fields alone_;
    int64_t n_run_ = 0;
    int64_t n_moved_ = 0;
    int64_t n_extra_threads_ = 0;
};

#endif
