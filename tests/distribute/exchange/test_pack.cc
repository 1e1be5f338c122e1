#include "support/box_memory.h"
#include "support/scale.h"

#include <cstring>
#include <gtest/gtest.h>

extern "C" {
#include "distribute/exchange/pack.h"
}

namespace {

/** Everything as bytes: elements whose bytes tell them apart. */
std::vector<char> numbered(int64_t n_bytes) {
    std::vector<char> bytes(static_cast<size_t>(n_bytes));
    for (size_t k = 0; k < bytes.size(); k++)
        bytes[k] = static_cast<char>(k * 131 + k / 251);
    return bytes;
}

polytile_domain without_steps(polytile_domain domain) {
    for (int d = 0; d < domain.n_dims; d++)
        domain.range[d] = {domain.range[d].lo, domain.range[d].hi + 2, 1};
    return domain;
}

int64_t offset_in(const polytile_array &array, const Point &point) {
    int64_t element = 0;
    for (int d = 0; d < array.domain.n_dims; d++)
        element = element * pti_range_count(array.domain.range[d]) + point[static_cast<size_t>(d)] -
                  array.domain.range[d].lo;
    return element * array.element_bytes;
}

struct Packed {
    explicit Packed(Random &random) {
        const polytile_domain box = random_box(random, 4);
        array.element_bytes =
            random.chance(50) ? random.one_of({1, 2, 4, 8, 16}) : random.number(1, 70);
        array.domain = without_steps(random_hull(random, box));
        array.layout = pti_memory_layout_of(&array.domain, array.element_bytes);
        memory = numbered(pti_box_count(&array.domain) * array.element_bytes);
        array.data = memory.data();
        for (int64_t k = random.number(1, 4); k > 0; k--) {
            const polytile_domain part = random_box_in(random, box);
            pti_boxes_add(&boxes, &part);
        }
        n_bytes = pti_packed_bytes(&boxes, array.element_bytes);
    }
    ~Packed() { pti_boxes_free(&boxes); }
    Packed(const Packed &) = delete;
    Packed &operator=(const Packed &) = delete;

    /** Call visit(offset in the array, offset in what is packed) for every element. */
    template <class Visit> void for_each_element(Visit visit) const {
        int64_t at = 0;
        for (int k = 0; k < boxes.n_boxes; k++)
            for_each_point(boxes.box[k], [&](const Point &point) {
                visit(offset_in(array, point), at);
                at += array.element_bytes;
            });
        EXPECT_EQ(at, n_bytes);
    }

    polytile_array array = {};
    std::vector<char> memory;
    pti_boxes boxes = {};
    int64_t n_bytes = 0;
};

TEST(Pack, ElementsFollowEachOtherBoxByBoxInCOrder) {
    Random random(test_seed("Pack.ElementsFollowEachOtherBoxByBoxInCOrder"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        const Packed packed(random);
        std::vector<char> to(static_cast<size_t>(packed.n_bytes) + 8, 'x');
        ASSERT_EQ(pti_pack(&packed.array, &packed.boxes, to.data()), to.data() + packed.n_bytes);
        packed.for_each_element([&](int64_t in_array, int64_t in_packed) {
            ASSERT_EQ(std::memcmp(packed.memory.data() + in_array, to.data() + in_packed,
                                  static_cast<size_t>(packed.array.element_bytes)),
                      0);
        });
        EXPECT_EQ(std::string(to.end() - 8, to.end()), "xxxxxxxx");
    }
}

TEST(Pack, UnpackingWritesTheBoxesAndNothingElse) {
    Random random(test_seed("Pack.UnpackingWritesTheBoxesAndNothingElse"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        Packed packed(random);
        const std::vector<char> from = numbered(packed.n_bytes);
        std::vector<char> expected = packed.memory;
        packed.for_each_element([&](int64_t in_array, int64_t in_packed) {
            std::memcpy(expected.data() + in_array, from.data() + in_packed,
                        static_cast<size_t>(packed.array.element_bytes));
        });
        ASSERT_EQ(pti_unpack(&packed.array, &packed.boxes, from.data()),
                  from.data() + packed.n_bytes);
        ASSERT_EQ(packed.memory, expected);
    }
}

} // namespace
