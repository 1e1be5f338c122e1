#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "graph/schedule/storage.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace {

std::vector<int64_t> colour(std::vector<pti_stored> *stored, int64_t period, int n_memories) {
    std::vector<int64_t> bytes(static_cast<size_t>(n_memories));
    const pti_lives lives = {period, stored->data()};
    EXPECT_TRUE(pti_stored_colour(static_cast<int>(stored->size()), stored->data(),
                                  pti_lives_overlap, &lives, n_memories, bytes.data()));
    return bytes;
}

TEST(Storage, BuffersShareWhatTheyUseOneAfterTheOther) {
    std::vector<pti_stored> stored = {{0, 0, 4, 1024, 0, 0, 0},
                                      {0, 4, 4, 512, 0, 0, 0},
                                      {0, 8, 4, 256, 0, 0, 0},
                                      {1, 0, 20, 1000, 0, 0, 0},
                                      {1, 3, 1, 100, 0, 0, 0}};
    const std::vector<int64_t> bytes = colour(&stored, 10, 2);
    EXPECT_EQ(bytes[0], 1024 + 256); /* the third goes on into the next period */
    EXPECT_EQ(bytes[1], 1024 + 256);
    EXPECT_EQ(stored[0].colour, stored[1].colour);
    EXPECT_NE(stored[0].colour, stored[2].colour);
    EXPECT_NE(stored[3].offset_bytes, stored[4].offset_bytes);
}

/** The least bytes of any colouring, by trying all. */
int64_t least_by_brute_force(const std::vector<pti_stored> &stored, int64_t period) {
    const pti_lives lives = {period, stored.data()};
    std::vector<std::vector<int>> classes;
    int64_t best = INT64_MAX;
    std::function<void(size_t)> place = [&](size_t k) {
        if (k == stored.size()) {
            int64_t sum = 0;
            for (const auto &members : classes) {
                int64_t most = 0;
                for (int b : members)
                    most = std::max(most, stored[static_cast<size_t>(b)].n_bytes);
                sum += (most + 255) / 256 * 256;
            }
            best = std::min(best, sum);
            return;
        }
        for (size_t c = 0; c <= classes.size(); c++) {
            if (c == classes.size()) {
                classes.push_back({static_cast<int>(k)});
                place(k + 1);
                classes.pop_back();
                break;
            }
            bool is_free = true;
            for (int b : classes[c])
                is_free = is_free && !pti_lives_overlap(&lives, b, static_cast<int>(k));
            if (!is_free)
                continue;
            classes[c].push_back(static_cast<int>(k));
            place(k + 1);
            classes[c].pop_back();
        }
    };
    place(0);
    return best;
}

TEST(StorageRandom, NoTwoShareBytesWhileBothLive) {
    Random random(test_seed("StorageRandom.NoTwoShareBytesWhileBothLive"));
    int64_t sum = 0, least = 0;
    for (int64_t round = 0; round < scaled(1000); round++) {
        const int64_t period = random.number(1, 12);
        std::vector<pti_stored> stored;
        for (int64_t n = random.number(0, 7); n > 0; n--)
            stored.push_back({0, random.number(0, period - 1), random.number(1, period + 2),
                              random.number(1, 2000), static_cast<int>(random.number(0, 1)), 0, 0});
        const std::vector<int64_t> bytes = colour(&stored, period, 1);
        for (size_t a = 0; a < stored.size(); a++) {
            EXPECT_LE(stored[a].offset_bytes + stored[a].n_bytes, bytes[0]);
            for (size_t b = 0; b < a; b++) {
                bool live_together = false;
                for (int64_t t = 0; t < stored[a].ticks; t++)
                    for (int64_t u = 0; u < stored[b].ticks; u++)
                        live_together = live_together ||
                                        (stored[a].begin + t - stored[b].begin - u) % period == 0;
                const bool share =
                    stored[a].offset_bytes < stored[b].offset_bytes + stored[b].n_bytes &&
                    stored[b].offset_bytes < stored[a].offset_bytes + stored[a].n_bytes;
                EXPECT_FALSE(live_together && share);
                EXPECT_FALSE(share && stored[a].turn < stored[b].turn &&
                             stored[a].begin >= stored[b].begin);
                EXPECT_FALSE(share && stored[a].turn > stored[b].turn &&
                             stored[a].begin <= stored[b].begin);
                EXPECT_EQ(share, stored[a].colour == stored[b].colour);
            }
        }
        sum += bytes[0];
        least += least_by_brute_force(stored, period);
    }
    EXPECT_LE(static_cast<double>(sum), 1.05 * static_cast<double>(least) + 4096);
}

} // namespace
