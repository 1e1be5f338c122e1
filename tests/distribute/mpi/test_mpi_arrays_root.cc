#include "distribute/mpi/spread_parts.h"

/* Scattering from one rank's memory, and gathering there. */

namespace {

int random_root(Random &random) {
    return static_cast<int>(random.number(0, world_size() - 1));
}

TEST(MpiRoot, GathersEveryElementInCOrder) {
    Random random(world_seed("MpiRoot.GathersEveryElementInCOrder"));
    const Joined joined;
    for (int64_t round = scaled(20); round > 0; round--) {
        const int root = random_root(random);
        Spread u(joined, random_shape(random));
        u.limit_rounds(random);
        const std::vector<char> elements = spread_elements(u.array->n_bytes);
        u.set(elements);
        std::vector<char> gathered(world_rank() == root ? elements.size() : 0);
        ASSERT_EQ(
            pti_spread_gather(&u.spread, root, world_rank() == root ? gathered.data() : nullptr),
            POLYTILE_OK);
        ASSERT_TRUE(world_rank() != root || gathered == elements);
    }
}

TEST(MpiRoot, ScattersEveryElementToItsOwnerAndNoOther) {
    Random random(world_seed("MpiRoot.ScattersEveryElementToItsOwnerAndNoOther"));
    const Joined joined;
    for (int64_t round = scaled(20); round > 0; round--) {
        const int root = random_root(random);
        Spread u(joined, random_shape(random));
        u.limit_rounds(random);
        const std::vector<char> elements = spread_elements(u.array->n_bytes);
        bool has_begun = false;
        ASSERT_EQ(pti_spread_scatter(&u.spread, root,
                                     world_rank() == root ? elements.data() : nullptr, &has_begun),
                  POLYTILE_OK);
        ASSERT_TRUE(has_begun);
        ASSERT_TRUE(u.holds(elements));
    }
}

TEST(MpiRoot, WithoutMemoryFailsOnAllRanksBeforeAnythingMoves) {
    const Joined joined;
    Spread u(joined, {});
    const int root = world_size() - 1;
    bool has_begun = true;
    EXPECT_EQ(pti_spread_scatter(&u.spread, root, nullptr, &has_begun), POLYTILE_INVALID);
    EXPECT_EQ(joined.error(),
              "rank " + std::to_string(root) + ": array u: the root's elements are NULL");
    EXPECT_FALSE(has_begun);
}

TEST(MpiRoot, ThatIsNoRankIsRefused) {
    const Joined joined;
    Spread u(joined, {});
    char element;
    EXPECT_EQ(pti_spread_gather(&u.spread, world_size(), &element), POLYTILE_INVALID);
    EXPECT_EQ(joined.error(), "rank 0: array u: root " + std::to_string(world_size()) +
                                  " is none of the " + std::to_string(world_size()) +
                                  " ranks, which are counted from 0");
    EXPECT_EQ(pti_spread_gather(&u.spread, -1, &element), POLYTILE_INVALID);
}

} // namespace
