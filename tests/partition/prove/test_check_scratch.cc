#include "partition/prove/handmade.h"

#include <gtest/gtest.h>

namespace {

enum { X, W, Y };      /* operands */
enum { W_PLACED = 2 }; /* of the first superblock: its placement */

/** y[i] from x[i] by way of scratch w[i, 0:3], two superblocks of four threads, all operands of
 * both in the same memory. */
Handmade ByWayOfScratch() {
    Handmade made;
    made.threads = Box({{0, 7}});
    made.Operand("x", 4, made.threads);
    made.Section(POLYTILE_IN, false, {Sub(0, 0, {1})});
    made.Operand("w", 4, Box({{0, 7}, {0, 3}}));
    made.Section(POLYTILE_SCRATCH, false, {Sub(0, 0, {1}), Sub(0, 3, {})});
    made.Operand("y", 4, made.threads);
    made.Section(POLYTILE_OUT, false, {Sub(0, 0, {1})});
    int64_t launch = -1, download = -1;
    for (int64_t k = 0; k < 2; k++) {
        const polytile_domain box = Box({{4 * k, 4 * k + 3}});
        const int64_t x = made.Place(X, 0, box), y = made.Place(Y, 16, box);
        const int64_t w = made.Place(W, 32, Box({{4 * k, 4 * k + 3}, {0, 3}}));
        const int64_t ready = made.Move(
            PTI_UPLOAD, k, x, box, k > 0 ? std::vector<int64_t>{launch} : std::vector<int64_t>{});
        launch = made.Launch(box, {x, w, y},
                             k > 0 ? std::vector<int64_t>{ready, download}
                                   : std::vector<int64_t>{ready});
        download = made.Move(PTI_DOWNLOAD, k, y, box, {launch});
    }
    made.limit_bytes = made.arena_bytes;
    return made;
}

TEST(CheckScratch, NeedsMemoryAndNothingElse) {
    Handmade made = ByWayOfScratch();
    EXPECT_TRUE(made.Holds()) << made.why;
}

TEST(CheckScratch, LaunchesThatRunSideBySideHaveTheirOwn) {
    Handmade made = ByWayOfScratch();
    made.placements[3].offset_bytes = 96;
    made.placements[4].offset_bytes = 112;
    made.placements[5].offset_bytes = 128;
    made.limit_bytes = made.arena_bytes = 192;
    made.waits[3].clear();
    made.waits[4] = {3};
    made.ops[4].lane = 1;
    EXPECT_TRUE(made.Holds()) << made.why;
    made.placements[5].offset_bytes = 32;
    EXPECT_FALSE(made.Holds());
    EXPECT_NE(made.why.find("w: does not wait for the last use of the memory it takes over"),
              std::string::npos)
        << made.why;
}

TEST(CheckScratch, RejectsMemoryThatIsNotItsOwn) {
    const struct {
        const char *what;
        void (*change)(Handmade &made);
        const char *says;
    } rows[] = {
        {"no placement", [](Handmade &m) { m.launch_placements[W] = -1; },
         "w[0:3, 0:3]: has no placement"},
        {"over what is read", [](Handmade &m) { m.placements[W_PLACED].offset_bytes = 12; },
         "x: is used where other data has taken its place"},
        {"over what is written", [](Handmade &m) { m.placements[W_PLACED].offset_bytes = 20; },
         "w: is used where other data has taken its place"},
        {"of fewer threads",
         [](Handmade &m) {
             m.placements[W_PLACED].layout.hull.range[0].hi--;
             m.placements[W_PLACED].layout.size_bytes -= 16;
         },
         "w[0:3, 0:3]: is scratch outside its placement"},
        {"beyond the limit", [](Handmade &m) { m.limit_bytes -= 4; }, "exceeds the limit"},
    };
    for (const auto &row : rows) {
        Handmade made = ByWayOfScratch();
        row.change(made);
        EXPECT_FALSE(made.Holds()) << row.what;
        EXPECT_NE(made.why.find(row.says), std::string::npos) << row.what << " gave " << made.why;
    }
}

} // namespace
