#include "distribute/mpi/persistent_exchanges.h"

namespace {

TEST(MpiRoute, ElementsArriveWhereverTheyLie) {
    const Joined joined;
    Random random(world_seed("MpiRoute.ElementsArriveWhereverTheyLie"));
    for (int64_t round = scaled(60); round > 0; round--) {
        RandomRoute route(joined, random);
        for (int version = 0; version < 3; version++) {
            route.set(version);
            ASSERT_EQ(route.start(), POLYTILE_OK) << joined.error();
            ASSERT_EQ(route.finish(), POLYTILE_OK) << joined.error();
            route.expect_received(version);
        }
    }
}

TEST(MpiRoute, SeveralAreUnderWayAtOnce) {
    const Joined joined;
    Random random(world_seed("MpiRoute.SeveralAreUnderWayAtOnce"));
    for (int64_t round = scaled(30); round > 0; round--) {
        RandomRoute first(joined, random), second(joined, random);
        first.set(1);
        second.set(2);
        ASSERT_EQ(first.start(), POLYTILE_OK);
        ASSERT_EQ(second.start(), POLYTILE_OK);
        ASSERT_EQ(second.finish(), POLYTILE_OK);
        ASSERT_EQ(first.finish(), POLYTILE_OK);
        first.expect_received(1);
        second.expect_received(2);
    }
}

TEST(MpiRoute, LongMessagesGoInChunks) {
    const Joined joined;
    Random random(world_seed("MpiRoute.LongMessagesGoInChunks"));
    for (int64_t round = scaled(30); round > 0; round--) {
        pti_mpi_of(joined.transport)->chunk_bytes = random.number(8, 100);
        RandomRoute route(joined, random);
        route.set(1);
        ASSERT_EQ(route.start(), POLYTILE_OK);
        ASSERT_EQ(route.finish(), POLYTILE_OK);
        route.expect_received(1);
    }
}

TEST(MpiRoute, ThoseWhomAFailedRankSendsToHearOfIt) {
    const Joined joined;
    Random random(world_seed("MpiRoute.ThoseWhomAFailedRankSendsToHearOfIt"));
    for (int64_t round = scaled(30); round > 0; round--) {
        RandomRoute route(joined, random);
        const int failed = static_cast<int>(random.number(0, world_size() - 1));
        const bool hears = route.receives_from(failed);
        route.set(3);
        ASSERT_EQ(route.start(world_rank() == failed), POLYTILE_OK);
        ASSERT_EQ(route.finish(), hears ? PTI_PEER_FAILED : POLYTILE_OK);
        if (world_rank() != failed)
            route.expect_received(3, failed);
        route.set(4);
        ASSERT_EQ(route.start(), POLYTILE_OK);
        ASSERT_EQ(route.finish(), POLYTILE_OK) << "a failure does not last";
        route.expect_received(4);
    }
}

TEST(MpiRoute, AFailedRankLeavesItsArraysAlone) {
    const Joined joined;
    Random random(world_seed("MpiRoute.AFailedRankLeavesItsArraysAlone"));
    for (int64_t round = scaled(10); round > 0; round--) {
        RandomRoute route(joined, random);
        std::vector<void *> data;
        for (int a = 0; a < route.route.n_arrays; a++) {
            data.push_back(route.route.arrays[a]->data);
            route.route.arrays[a]->data = nullptr;
        }
        ASSERT_EQ(route.start(true), POLYTILE_OK);
        (void)route.finish();
        for (int a = 0; a < route.route.n_arrays; a++)
            route.route.arrays[a]->data = data[static_cast<size_t>(a)];
    }
}

} // namespace
