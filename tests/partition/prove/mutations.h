#ifndef POLYTILE_TESTS_PARTITION_PROVE_MUTATIONS_H
#define POLYTILE_TESTS_PARTITION_PROVE_MUTATIONS_H

#include "partition/prove/handmade.h"

#include <map>
#include <random>
#include <string>

/* Small changes to right schedules, of which nearly all make them wrong. */

class Draw {
  public:
    explicit Draw(uint64_t seed) : random_(seed) {}
    int64_t Number(int64_t lo, int64_t hi) {
        return std::uniform_int_distribution<int64_t>(lo, hi)(random_);
    }
    size_t Below(size_t n) { return static_cast<size_t>(Number(0, static_cast<int64_t>(n) - 1)); }

  private:
    std::mt19937_64 random_;
};

/** Mutants by what became of them. */
struct Tally {
    int64_t rejected = 0;
    int64_t harmless = 0; /* accepted, and the interpreter finds nothing wrong */
    int64_t missed = 0;   /* accepted, and wrong */
};

/** What the checker makes of mutants of right schedules. */
class Mutants {
  public:
    /** May mutants change what several launches and holdings have? */
    Mutants(Draw *draw, bool has_launches) : draw_(draw), has_launches_(has_launches) {}

    /** Change a schedule n times, each time anew. */
    void Try(const Handmade &right, int n);

    /** Print all, and fail if one was missed, or if fewer than so many broken mutants were tried at
     * scale 1. */
    void ExpectRejected(int64_t n_least) const;

    /** Fail if a kind of mutation that was tried often was never rejected. */
    void ExpectEveryKindRejected() const;

  private:
    Draw *draw_;
    bool has_launches_;
    std::map<std::string, Tally> tallies_;
};

#endif
