#include "distribute/mpi/random_messages.h"

namespace {

TEST(MpiMessages, ElementsArriveWhereverTheyLie) {
    const Joined joined;
    Random random(world_seed("MpiMessages.ElementsArriveWhereverTheyLie"));
    for (int64_t round = scaled(60); round > 0; round--) {
        RandomMessages messages(joined, random);
        for (int version = 0; version < 3; version++) {
            messages.set(version);
            ASSERT_EQ(messages.run(), POLYTILE_OK) << joined.error();
            messages.expect_received(version);
        }
    }
}

TEST(MpiMessages, ListsFollowOneAnother) {
    const Joined joined;
    Random random(world_seed("MpiMessages.ListsFollowOneAnother"));
    for (int64_t round = scaled(30); round > 0; round--) {
        RandomMessages first(joined, random), second(joined, random);
        first.set(1);
        second.set(2);
        ASSERT_EQ(first.run(), POLYTILE_OK);
        ASSERT_EQ(second.run(), POLYTILE_OK);
        first.expect_received(1);
        second.expect_received(2);
    }
}

TEST(MpiMessages, LongOnesGoInChunks) {
    const Joined joined;
    Random random(world_seed("MpiMessages.LongOnesGoInChunks"));
    for (int64_t round = scaled(30); round > 0; round--) {
        pti_mpi_of(joined.transport)->chunk_bytes = random.number(8, 100);
        RandomMessages messages(joined, random);
        messages.set(1);
        ASSERT_EQ(messages.run(), POLYTILE_OK);
        messages.expect_received(1);
    }
}

TEST(MpiMessages, ThoseWhomAFailedRankSendsToHearOfIt) {
    const Joined joined;
    Random random(world_seed("MpiMessages.ThoseWhomAFailedRankSendsToHearOfIt"));
    for (int64_t round = scaled(30); round > 0; round--) {
        RandomMessages messages(joined, random);
        const int failed = static_cast<int>(random.number(0, world_size() - 1));
        const bool hears = messages.receives_from(failed);
        messages.set(3);
        ASSERT_EQ(messages.run(world_rank() == failed), hears ? PTI_PEER_FAILED : POLYTILE_OK);
        if (world_rank() != failed)
            messages.expect_received(3, failed);
        messages.set(4);
        ASSERT_EQ(messages.run(), POLYTILE_OK) << "a failure does not last";
        messages.expect_received(4);
    }
}

TEST(MpiMessages, AFailedRankLeavesItsArraysAlone) {
    const Joined joined;
    Random random(world_seed("MpiMessages.AFailedRankLeavesItsArraysAlone"));
    for (int64_t round = scaled(10); round > 0; round--) {
        RandomMessages messages(joined, random);
        std::vector<void *> data;
        for (polytile_array *array : messages.arrays()) {
            data.push_back(array->data);
            array->data = nullptr;
        }
        (void)messages.run(true);
        for (size_t a = 0; a < data.size(); a++)
            messages.arrays()[a]->data = data[a];
    }
}

} // namespace
