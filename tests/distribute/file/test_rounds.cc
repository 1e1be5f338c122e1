#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "distribute/file/rounds.h"
}

/* Elements that lie in boxes of several memories come in the array's C order, a buffer at a
 * time. */

namespace {

constexpr int element_bytes = 3;

polytile_domain Extents(const std::vector<int64_t> &extents) {
    return polytile_domain_from_extents(static_cast<int>(extents.size()), extents.data());
}

/** An array and memories that hold boxes of it and elements around them. */
class Memories {
  public:
    explicit Memories(const polytile_domain &whole) {
        store.whole = whole;
        store.element_bytes = element_bytes;
    }
    ~Memories() { pti_store_free(&store); }

    /** All memory holds zeros. */
    void add(const polytile_domain &box, const polytile_domain &around) {
        pti_boxes boxes = {};
        pti_boxes_add(&boxes, &box);
        memory.emplace_back(static_cast<size_t>(pti_box_count(&around)) * element_bytes);
        pti_store_add(&store, &boxes, &around, memory.back().data());
        pti_boxes_free(&boxes);
    }

    pti_store store = {};
    std::vector<std::vector<char>> memory;
};

/** Whether a place of a domain, counted in C order, is in a box. */
bool Has(const polytile_domain &box, const polytile_domain &domain, int64_t place) {
    for (int d = domain.n_dims - 1; d >= 0; d--) {
        const int64_t extent = pti_range_count(domain.range[d]);
        if (!pti_range_has(box.range[d], domain.range[d].lo + place % extent))
            return false;
        place /= extent;
    }
    return true;
}

/** Where a place of one domain is in another around it. */
int64_t PlaceIn(const polytile_domain &to, const polytile_domain &from, int64_t place) {
    int64_t result = 0, factor = 1;
    for (int d = from.n_dims - 1; d >= 0; d--) {
        const int64_t extent = pti_range_count(from.range[d]);
        const int64_t index = from.range[d].lo + place % extent;
        place /= extent;
        result += (index - to.range[d].lo) * factor;
        factor *= pti_range_count(to.range[d]);
    }
    return result;
}

/** Three bytes that tell an element's place in the array. */
void SetElement(char *element, int64_t place) {
    for (int b = 0; b < element_bytes; b++)
        element[b] = static_cast<char>(place * 7 + b * 31 + place / 256);
}

/** The bytes of all elements of the store in C order; each written to its memory, too, if asked. */
std::vector<char> Expected(Memories &memories, bool writes) {
    std::vector<char> bytes;
    const polytile_domain &whole = memories.store.whole;
    for (int64_t place = 0; place < pti_box_count(&whole); place++)
        for (int k = 0; k < memories.store.n_boxes; k++) {
            const pti_stored_box &stored = memories.store.box[k];
            if (!Has(stored.box, whole, place))
                continue;
            char element[element_bytes];
            SetElement(element, place);
            bytes.insert(bytes.end(), element, element + element_bytes);
            if (writes)
                std::memcpy(stored.memory + PlaceIn(stored.around, whole, place) * element_bytes,
                            element, element_bytes);
        }
    return bytes;
}

std::vector<char> CollectAll(const pti_store &store, int64_t capacity_bytes, int capacity) {
    std::vector<char> bytes;
    pti_rounds rounds;
    EXPECT_TRUE(pti_rounds_begin(&store, capacity_bytes, capacity, &rounds));
    while (pti_rounds_next(&rounds)) {
        EXPECT_LE(rounds.n_bytes, capacity_bytes);
        EXPECT_LE(rounds.n_runs, capacity);
        const char *from = static_cast<const char *>(pti_round_collect(&rounds));
        bytes.insert(bytes.end(), from, from + rounds.n_bytes);
    }
    EXPECT_EQ(rounds.n_bytes, 0);
    pti_rounds_end(&rounds);
    return bytes;
}

void SpreadAll(const pti_store &store, const std::vector<char> &bytes, int64_t capacity_bytes,
               int capacity) {
    size_t done = 0;
    pti_rounds rounds;
    ASSERT_TRUE(pti_rounds_begin(&store, capacity_bytes, capacity, &rounds));
    while (pti_rounds_next(&rounds)) {
        ASSERT_LE(done + static_cast<size_t>(rounds.n_bytes), bytes.size());
        std::memcpy(pti_round_place(&rounds), bytes.data() + done,
                    static_cast<size_t>(rounds.n_bytes));
        pti_round_spread(&rounds);
        done += static_cast<size_t>(rounds.n_bytes);
    }
    EXPECT_EQ(done, bytes.size());
    pti_rounds_end(&rounds);
}

int CountRounds(const pti_store &store, int64_t capacity_bytes) {
    int n_rounds = 0;
    pti_rounds rounds;
    EXPECT_TRUE(pti_rounds_begin(&store, capacity_bytes, PTI_ROUND_RUNS, &rounds));
    while (pti_rounds_next(&rounds))
        n_rounds++;
    pti_rounds_end(&rounds);
    return n_rounds;
}

polytile_domain RandomWhole(Random &random) {
    polytile_domain whole = {};
    whole.n_dims = static_cast<int>(random.number(1, 4));
    for (int d = 0; d < whole.n_dims; d++) {
        const int64_t lo = random.number(-3, 3);
        whole.range[d] = pti_range(lo, lo + random.number(0, 7), 1);
    }
    return whole;
}

polytile_domain RandomBox(Random &random, const polytile_domain &whole) {
    polytile_domain box = whole;
    for (int d = 0; d < whole.n_dims; d++) {
        const int64_t a = random.number(whole.range[d].lo, whole.range[d].hi);
        const int64_t b = random.number(whole.range[d].lo, whole.range[d].hi);
        if (random.chance(60))
            box.range[d] = pti_range(std::min(a, b), std::max(a, b), random.one_of({1, 1, 2, 3}));
    }
    return box;
}

polytile_domain RandomAround(Random &random, const polytile_domain &box) {
    polytile_domain around = box;
    for (int d = 0; d < box.n_dims; d++)
        around.range[d] = pti_range(box.range[d].lo - random.one_of({0, 0, 2}),
                                    box.range[d].hi + random.one_of({0, 0, 1}), 1);
    return around;
}

void AddRandom(Random &random, Memories &memories) {
    pti_boxes boxes = {};
    for (int64_t k = random.number(0, 5); k > 0; k--) {
        const polytile_domain box = RandomBox(random, memories.store.whole);
        pti_boxes_add(&boxes, &box);
    }
    for (int k = 0; k < boxes.n_boxes; k++)
        memories.add(boxes.box[k], RandomAround(random, boxes.box[k]));
    pti_boxes_free(&boxes);
}

TEST(Rounds, CollectEveryElementInCOrder) {
    Random random(test_seed("Rounds.CollectEveryElementInCOrder"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        Memories memories(RandomWhole(random));
        AddRandom(random, memories);
        const std::vector<char> expected = Expected(memories, true);
        ASSERT_EQ(CollectAll(memories.store, random.number(1, 100),
                             static_cast<int>(random.number(1, 20))),
                  expected);
    }
}

TEST(Rounds, PutEveryElementWhereItBelongsAndTouchNothingElse) {
    Random random(test_seed("Rounds.PutEveryElementWhereItBelongsAndTouchNothingElse"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        Memories memories(RandomWhole(random));
        AddRandom(random, memories);
        const std::vector<char> bytes = Expected(memories, false);
        SpreadAll(memories.store, bytes, random.number(1, 100),
                  static_cast<int>(random.number(1, 20)));
        const auto spread = memories.memory;
        for (auto &memory : memories.memory)
            std::fill(memory.begin(), memory.end(), '\0');
        Expected(memories, true);
        ASSERT_EQ(spread, memories.memory);
    }
}

/** Messages are cut anywhere, even in the middle of an element. */
TEST(Walk, CollectsAndSpreadsTheSameBytesInMessagesOfAnyLength) {
    Random random(test_seed("Walk.CollectsAndSpreadsTheSameBytesInMessagesOfAnyLength"));
    for (int64_t round = scaled(1000); round > 0; round--) {
        Memories memories(RandomWhole(random));
        AddRandom(random, memories);
        const std::vector<char> expected = Expected(memories, true);
        const auto filled = memories.memory;
        std::vector<char> message(50), bytes;
        pti_walk from, to;
        ASSERT_TRUE(pti_walk_begin(&memories.store, &from));
        while (int64_t n = pti_walk_collect(&from, message.data(), random.number(1, 50)))
            bytes.insert(bytes.end(), message.begin(), message.begin() + n);
        ASSERT_EQ(bytes, expected);
        for (auto &memory : memories.memory)
            std::fill(memory.begin(), memory.end(), '\0');
        ASSERT_TRUE(pti_walk_begin(&memories.store, &to));
        for (size_t done = 0, n; done < bytes.size(); done += n) {
            n = std::min(static_cast<size_t>(random.number(1, 50)), bytes.size() - done);
            pti_walk_spread(&to, bytes.data() + done, static_cast<int64_t>(n));
        }
        ASSERT_EQ(memories.memory, filled);
        pti_walk_end(&from);
        pti_walk_end(&to);
    }
}

TEST(Rounds, OfWholeRowsAreOneStretchThatIsNotCopied) {
    Memories memories(Extents({10, 4, 5}));
    polytile_domain rows = Extents({10, 4, 5});
    rows.range[0] = pti_range(2, 7, 1);
    memories.add(rows, rows);
    pti_rounds rounds;
    ASSERT_TRUE(pti_rounds_begin(&memories.store, 1000, 4, &rounds));
    ASSERT_TRUE(pti_rounds_next(&rounds));
    EXPECT_EQ(rounds.n_runs, 1);
    EXPECT_EQ(rounds.run[0].at_bytes, 2 * 20 * element_bytes);
    EXPECT_EQ(rounds.n_bytes, 6 * 20 * element_bytes);
    EXPECT_EQ(pti_round_collect(&rounds), memories.memory[0].data());
    EXPECT_FALSE(pti_rounds_next(&rounds));
    pti_rounds_end(&rounds);
}

TEST(Rounds, AreAsFewAsTheBufferAllows) {
    Memories memories(Extents({1000}));
    memories.add(Extents({1000}), Extents({1000}));
    EXPECT_EQ(CountRounds(memories.store, 1000 * element_bytes), 1);
    EXPECT_EQ(CountRounds(memories.store, 1000 * element_bytes - 1), 2);
    EXPECT_EQ(CountRounds(memories.store, 100 * element_bytes), 10);
}

TEST(Rounds, OfNothingAreNone) {
    Memories memories(Extents({4, 4}));
    EXPECT_EQ(CountRounds(memories.store, 1000), 0);
}

/* The boxes of a cyclic layout: merging them is what a walk is made for. */
TEST(Rounds, OfManyBoxesTakeTheirRowsInTurn) {
    const polytile_domain whole = Extents({300, 400});
    Memories memories(whole);
    for (int64_t i = 0; i < 300; i += 6)
        for (int64_t j = 0; j < 400; j += 4) {
            polytile_domain box = whole;
            box.range[0] = pti_range(i, i + 2, 1);
            box.range[1] = pti_range(j, j + 1, 1);
            memories.add(box, box);
        }
    pti_rounds rounds;
    ASSERT_TRUE(pti_rounds_begin(&memories.store, 1 << 20, 1 << 20, &rounds));
    ASSERT_TRUE(pti_rounds_next(&rounds));
    EXPECT_EQ(rounds.n_runs, 150 * 100);
    for (int k = 1; k < rounds.n_runs; k++)
        ASSERT_LT(rounds.run[k - 1].at_bytes, rounds.run[k].at_bytes);
    pti_rounds_end(&rounds);
}

} // namespace
