#ifndef POLYTILE_TESTS_DISTRIBUTE_WALKED_H
#define POLYTILE_TESTS_DISTRIBUTE_WALKED_H

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <polytile/ranks.h>

/* What the groups of this process send and copy, noted where they walk over their lists: the
 * functions that do it are wrapped in the whole program. */

/** Elements of an array from member to member. */
struct Moved {
    int from, to;
    std::string array;
    bool is_message; /* to another process; else from one of this process's members to another */
    int64_t n_bytes;
    bool operator==(const Moved &other) const;
    bool operator<(const Moved &other) const;
    friend void PrintTo(const Moved &moved, std::ostream *out);
};

/** What one process sends, and copies among its members, of one superstep, in order of members and
 * arrays. */
struct MovedBy {
    std::vector<Moved> before, after;
    int64_t combined_bytes = 0; /* with all others */
    bool operator==(const MovedBy &other) const {
        return before == other.before && after == other.after &&
               combined_bytes == other.combined_bytes;
    }
    friend void PrintTo(const MovedBy &moved, std::ostream *out);
};

void begin_noting();
/** Of each superstep since. */
std::vector<MovedBy> end_noting();
/** The bytes that were really copied from memory to memory meanwhile, of each array. */
std::map<std::string, int64_t> copied_bytes();

/** The same as a plan tells it of one process. */
std::vector<MovedBy> planned_moves(const polytile_ranks_plan *plan, int process);
/** What it says is copied from memory to memory. */
std::map<std::string, int64_t> planned_copies(const polytile_ranks_plan *plan, int process);

#endif
