#include <gtest/gtest.h>

#include <cstdint>

#include "access/set/draw_boxes.h"
#include "support/scale.h"

/* Every operation and question of boxes.h on random sets, against enumeration. */

namespace {

/* What an operation is given beside the set that it changes, and what that is by enumeration. */
struct Given {
    const polytile_domain &box;
    const pti_boxes &other, &third;
    Elements before, in_box, in_other, in_third;
};

class Boxes : public ::testing::Test {
  protected:
    ~Boxes() override {
        for (pti_boxes *set : {&set_, &other_, &third_})
            pti_boxes_free(set);
    }

    void draw(Random *random);
    Given give() const;

    polytile_domain whole_ = {};
    polytile_domain box_ = {};
    pti_boxes set_ = {};
    pti_boxes other_ = {};
    pti_boxes third_ = {};
};

pti_boxes_adder *const adders[] = {pti_boxes_add, pti_boxes_add_new, pti_boxes_gather,
                                   pti_boxes_include, pti_boxes_attach};

/* A set of some boxes, as any of the ways of adding leaves it, or nothing. */
void draw_set(Random *random, const polytile_domain &whole, pti_boxes *set) {
    pti_boxes_adder *add = adders[random->number(0, std::size(adders) - 1)];
    pti_boxes_clear(set);
    for (int64_t n = random->one_of({0, 1, 2, 4, 6, 30}); n > 0; n--) {
        const polytile_domain box = draw_box(random, whole);
        add(set, &box);
    }
}

void Boxes::draw(Random *random) {
    whole_ = draw_whole(random);
    box_ = draw_box(random, whole_);
    for (pti_boxes *set : {&set_, &other_, &third_})
        draw_set(random, whole_, set);
}

Given Boxes::give() const {
    return {box_,
            other_,
            third_,
            elements_of(whole_, set_),
            elements_of(whole_, box_),
            elements_of(whole_, other_),
            elements_of(whole_, third_)};
}

void expect_same(const pti_boxes &set, const Elements &elements) {
    const Elements in_set = elements_of(elements.domain(), set);
    ASSERT_FALSE(set.failed);
    ASSERT_EQ(pti_boxes_count(&set), in_set.count()) << "boxes overlap";
    ASSERT_TRUE(in_set == elements);
    for (int b = 0; b < set.n_boxes; b++) {
        ASSERT_FALSE(pti_box_is_empty(&set.box[b]));
        for (int d = 0; d < set.box[b].n_dims; d++) {
            const polytile_range range = set.box[b].range[d];
            ASSERT_EQ((range.hi - range.lo) % range.step, 0);
        }
    }
}

struct Operation {
    const char *name;
    void (*change)(pti_boxes *set, const Given &given);
    Elements (*expected)(const Given &given);
};

Elements with_box(const Given &given) {
    return all_of(given.before, given.in_box);
}

Elements with_other(const Given &given) {
    return all_of(given.before, given.in_other);
}

Elements without_box(const Given &given) {
    return rest_of(given.before, given.in_box);
}

template <pti_boxes_adder *Change> void by_box(pti_boxes *set, const Given &given) {
    Change(set, &given.box);
}

template <pti_boxes_adder *Add> void by_all(pti_boxes *set, const Given &given) {
    pti_boxes_unite(set, &given.other, Add);
}

void append_disjoint(pti_boxes *set, const Given &given) {
    pti_boxes rest = {};
    pti_boxes_copy(&rest, &given.other);
    pti_boxes_subtract_all(&rest, set);
    pti_boxes_unite(set, &rest, pti_boxes_append);
    pti_boxes_free(&rest);
}

const Operation operations[] = {
    {"clear", [](pti_boxes *set, const Given &) { pti_boxes_clear(set); },
     [](const Given &given) { return Elements(given.before.domain()); }},
    {"assign", by_box<pti_boxes_assign>, [](const Given &given) { return given.in_box; }},
    {"copy", [](pti_boxes *set, const Given &given) { pti_boxes_copy(set, &given.other); },
     [](const Given &given) { return given.in_other; }},
    {"subtract", by_box<pti_boxes_subtract>, without_box},
    {"subtract_all",
     [](pti_boxes *set, const Given &given) { pti_boxes_subtract_all(set, &given.other); },
     [](const Given &given) { return rest_of(given.before, given.in_other); }},
    {"clip", by_box<pti_boxes_clip>,
     [](const Given &given) { return both_of(given.before, given.in_box); }},
    {"clip_all", [](pti_boxes *set, const Given &given) { pti_boxes_clip_all(set, &given.other); },
     [](const Given &given) { return both_of(given.before, given.in_other); }},
    {"intersect",
     [](pti_boxes *set, const Given &given) {
         pti_boxes_intersect(set, &given.other, &given.third);
     },
     [](const Given &given) { return both_of(given.in_other, given.in_third); }},
    {"append", append_disjoint, with_other},
    {"add", by_box<pti_boxes_add>, with_box},
    {"add_new", by_box<pti_boxes_add_new>, with_box},
    {"gather", by_box<pti_boxes_gather>, with_box},
    {"include", by_box<pti_boxes_include>, with_box},
    {"attach", by_box<pti_boxes_attach>, with_box},
    {"detach", by_box<pti_boxes_detach>, without_box},
    {"unite, add", by_all<pti_boxes_add>, with_other},
    {"unite, add_new", by_all<pti_boxes_add_new>, with_other},
    {"unite, gather", by_all<pti_boxes_gather>, with_other},
    {"unite, include", by_all<pti_boxes_include>, with_other},
    {"unite, attach", by_all<pti_boxes_attach>, with_other},
    {"merge", [](pti_boxes *set, const Given &) { pti_boxes_merge(set); },
     [](const Given &given) { return given.before; }},
};

TEST_F(Boxes, OperationsLeaveTheElementsThatEnumerationDoes) {
    Random random(test_seed("Boxes.Operations"));
    for (int64_t round = scaled(1500); round > 0; round--)
        for (const Operation &operation : operations) {
            draw(&random);
            const Given given = give();
            operation.change(&set_, given);
            SCOPED_TRACE(operation.name);
            ASSERT_NO_FATAL_FAILURE(expect_same(set_, operation.expected(given)));
        }
}

TEST_F(Boxes, OperationsMayFollowOneAnother) {
    Random random(test_seed("Boxes.Follow"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        draw(&random);
        for (int64_t n = random.number(2, 10); n > 0; n--) {
            box_ = draw_box(&random, whole_);
            draw_set(&random, whole_, &other_);
            const Given given = give();
            const int64_t last = static_cast<int64_t>(std::size(operations)) - 1;
            const Operation &operation = operations[random.number(0, last)];
            operation.change(&set_, given);
            SCOPED_TRACE(operation.name);
            ASSERT_NO_FATAL_FAILURE(expect_same(set_, operation.expected(given)));
        }
    }
}

struct Question {
    const char *name;
    int64_t (*answer)(const pti_boxes &set, const Given &given);
    int64_t (*expected)(const Given &given);
};

const Question questions[] = {
    {"meet",
     [](const pti_boxes &set, const Given &given) -> int64_t {
         return pti_boxes_meet(&set, &given.box);
     },
     [](const Given &given) -> int64_t { return both_of(given.before, given.in_box).count() > 0; }},
    {"cover",
     [](const pti_boxes &set, const Given &given) -> int64_t {
         return pti_boxes_cover(&set, &given.box);
     },
     [](const Given &given) -> int64_t { return given.before.contains(given.in_box); }},
    {"count", [](const pti_boxes &set, const Given &) { return pti_boxes_count(&set); },
     [](const Given &given) { return given.before.count(); }},
    {"count_in",
     [](const pti_boxes &set, const Given &given) { return pti_boxes_count_in(&set, &given.box); },
     [](const Given &given) { return both_of(given.before, given.in_box).count(); }},
};

TEST_F(Boxes, QuestionsAreAnsweredAsByEnumeration) {
    Random random(test_seed("Boxes.Questions"));
    for (int64_t round = scaled(4000); round > 0; round--) {
        draw(&random);
        if (random.chance(40))
            pti_boxes_unite(&set_, &other_, pti_boxes_add);
        const Given given = give();
        for (const Question &question : questions)
            ASSERT_EQ(question.answer(set_, given), question.expected(given)) << question.name;
    }
}

/* The first box of other for which an answer is what is wanted. */
template <class Answer>
const polytile_domain *first_of(const pti_boxes &other, bool wanted, Answer answer) {
    for (int b = 0; b < other.n_boxes; b++)
        if (answer(other.box[b]) == wanted)
            return &other.box[b];
    return nullptr;
}

TEST_F(Boxes, FindsTheFirstOfOthersThatIsUncoveredOrMet) {
    Random random(test_seed("Boxes.Finds"));
    for (int64_t round = scaled(4000); round > 0; round--) {
        draw(&random);
        const Elements in_set = elements_of(whole_, set_);
        ASSERT_EQ(pti_boxes_find_uncovered(&set_, &other_),
                  first_of(other_, false, [&](const polytile_domain &box) {
                      return in_set.contains(elements_of(whole_, box));
                  }));
        ASSERT_EQ(pti_boxes_find_meeting(&set_, &other_),
                  first_of(other_, true, [&](const polytile_domain &box) {
                      return both_of(in_set, elements_of(whole_, box)).count() > 0;
                  }));
    }
}

TEST_F(Boxes, HullsAreTheSmallestBoxesAround) {
    Random random(test_seed("Boxes.Hulls"));
    for (int64_t round = scaled(4000); round > 0; round--) {
        draw(&random);
        const polytile_domain smallest = elements_of(whole_, set_).hull();
        const polytile_domain enclosed = pti_boxes_bounding(&set_, whole_.n_dims);
        const polytile_domain whole = pti_box_without_steps(&smallest);
        ASSERT_TRUE(pti_box_equals(&enclosed, &whole));
        if (set_.n_boxes == 0)
            continue;
        const polytile_domain hull = pti_boxes_hull(&set_);
        ASSERT_TRUE(pti_box_equals(&hull, &smallest));
    }
}

TEST_F(Boxes, StayAtMostSoManyBoxesByMoreOrByFewerElements) {
    Random random(test_seed("Boxes.Few"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        draw(&random);
        const int n = static_cast<int>(random.number(1, 6));
        const Elements before = elements_of(whole_, set_);
        pti_boxes_copy(&other_, &set_);
        const polytile_domain around = pti_boxes_bounding(&set_, whole_.n_dims);
        pti_boxes_widen(&set_, n);
        pti_boxes_narrow(&other_, n);
        const Elements wide = elements_of(whole_, set_), narrow = elements_of(whole_, other_);
        ASSERT_LE(set_.n_boxes, n);
        ASSERT_LE(other_.n_boxes, n);
        ASSERT_TRUE(wide.contains(before));
        ASSERT_TRUE(before.contains(narrow));
        ASSERT_TRUE(set_.n_boxes == 0 || elements_of(whole_, around).contains(wide));
        ASSERT_EQ(wide == before && narrow == before, pti_boxes_are_equal(&set_, &other_));
    }
}

TEST_F(Boxes, AreEqualIfTheyHaveTheSameElements) {
    Random random(test_seed("Boxes.Equal"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        draw(&random);
        ASSERT_EQ(pti_boxes_are_equal(&set_, &other_),
                  elements_of(whole_, set_) == elements_of(whole_, other_));
        pti_boxes_clear(&other_);
        for (int b = set_.n_boxes - 1; b >= 0; b--)
            pti_boxes_add(&other_, &set_.box[b]);
        ASSERT_TRUE(pti_boxes_are_equal(&set_, &other_));
    }
}

TEST_F(Boxes, AreAlikeIfTheirBoxesAreInTheSameOrder) {
    Random random(test_seed("Boxes.Alike"));
    for (int64_t round = scaled(1000); round > 0; round--) {
        draw(&random);
        pti_boxes_copy(&other_, &set_);
        ASSERT_TRUE(pti_boxes_are_alike(&set_, &other_));
        if (set_.n_boxes < 2)
            continue;
        std::swap(other_.box[0], other_.box[1]);
        ASSERT_FALSE(pti_boxes_are_alike(&set_, &other_));
        other_.n_boxes--;
        ASSERT_FALSE(pti_boxes_are_alike(&set_, &other_));
    }
}

TEST_F(Boxes, AskedForTheirOwnBoxesOrThemselvesStayWhatTheyAre) {
    Random random(test_seed("Boxes.Own"));
    for (int64_t round = scaled(2000); round > 0; round--) {
        draw(&random);
        const Elements before = elements_of(whole_, set_);
        pti_boxes_copy(&set_, &set_);
        ASSERT_NO_FATAL_FAILURE(expect_same(set_, before));
        for (pti_boxes_adder *add : adders) {
            if (set_.n_boxes > 0)
                add(&set_, &set_.box[random.number(0, set_.n_boxes - 1)]);
            ASSERT_NO_FATAL_FAILURE(expect_same(set_, before));
        }
        pti_boxes_subtract_all(&set_, &set_);
        ASSERT_EQ(set_.n_boxes, 0);
    }
}

/* Memory. */

struct Derivation {
    const char *name;
    void (*derive)(pti_boxes *set, const pti_boxes *failed);
};

const Derivation derivations[] = {
    {"copy", pti_boxes_copy},
    {"subtract_all", pti_boxes_subtract_all},
    {"clip_all", pti_boxes_clip_all},
    {"intersect, first",
     [](pti_boxes *set, const pti_boxes *failed) {
         const pti_boxes nothing = {};
         pti_boxes_intersect(set, failed, &nothing);
     }},
    {"intersect, second",
     [](pti_boxes *set, const pti_boxes *failed) {
         const pti_boxes nothing = {};
         pti_boxes_intersect(set, &nothing, failed);
     }},
    {"unite", [](pti_boxes *set,
                 const pti_boxes *failed) { pti_boxes_unite(set, failed, pti_boxes_include); }},
};

TEST(BoxesMemory, WhatIsMadeFromAFailedSetHasFailed) {
    for (const Derivation &derivation : derivations)
        for (const bool had_failed : {false, true}) {
            pti_boxes set = {}, other = {};
            other.failed = had_failed;
            derivation.derive(&set, &other);
            EXPECT_EQ(set.failed, had_failed) << derivation.name;
            pti_boxes_free(&set);
        }
}

TEST(BoxesMemory, AMarkStaysUntilTheSetIsFreed) {
    const polytile_domain box = box_of({{0, 9, 1}});
    const pti_boxes nothing = {};
    pti_boxes set = {};
    set.failed = true;
    pti_boxes_assign(&set, &box);
    pti_boxes_copy(&set, &nothing);
    pti_boxes_clear(&set);
    EXPECT_TRUE(set.failed);
    pti_boxes_free(&set);
    EXPECT_FALSE(set.failed);
}

TEST(BoxesMemory, ListsAreFreedWithTheirSets) {
    const polytile_domain box = box_of({{0, 9, 1}});
    pti_boxes *sets = static_cast<pti_boxes *>(calloc(3, sizeof *sets));
    pti_boxes_assign(&sets[1], &box);
    pti_boxes_free_list(sets, 3);
    pti_boxes_free_list(nullptr, 3);
}

/* How many boxes it takes. */

TEST_F(Boxes, SubtractingEveryFourthLeavesThreeResidues) {
    const polytile_domain whole = box_of({{0, 96, 1}}), fourth = box_of({{0, 96, 4}});
    pti_boxes_add(&set_, &whole);
    pti_boxes_subtract(&set_, &fourth);
    EXPECT_EQ(set_.n_boxes, 3);
    EXPECT_EQ(pti_boxes_count(&set_), 72);
}

TEST_F(Boxes, SubtractingTwoFarElementsLeavesThreeRuns) {
    const polytile_domain whole = box_of({{0, 1000000, 1}}), ends = box_of({{10, 900010, 900000}});
    pti_boxes_add(&set_, &whole);
    pti_boxes_subtract(&set_, &ends);
    EXPECT_EQ(set_.n_boxes, 3);
    EXPECT_EQ(pti_boxes_count(&set_), 999999);
}

TEST_F(Boxes, MergePutsResiduesTogetherAgain) {
    const polytile_domain even = box_of({{0, 98, 2}, {0, 9, 1}}),
                          odd = box_of({{1, 99, 2}, {0, 9, 1}});
    pti_boxes_add(&set_, &even);
    pti_boxes_add(&set_, &odd);
    pti_boxes_merge(&set_);
    ASSERT_EQ(set_.n_boxes, 1);
    const polytile_domain whole = box_of({{0, 99, 1}, {0, 9, 1}});
    EXPECT_TRUE(pti_box_equals(&set_.box[0], &whole));
}

TEST_F(Boxes, MergeMakesOneBoxOfATornOne) {
    for (int64_t i = 0; i < 12; i++)
        for (int64_t j = 0; j < 12; j++) {
            const polytile_domain element =
                box_of({{5 * i % 12, 5 * i % 12, 1}, {7 * j % 12, 7 * j % 12, 1}});
            pti_boxes_append(&set_, &element);
        }
    pti_boxes_merge(&set_);
    EXPECT_EQ(set_.n_boxes, 1);
    EXPECT_EQ(pti_boxes_count(&set_), 144);
}

TEST_F(Boxes, WhatIsAddedRowByRowStaysAsFewBoxesAsTheWaySays) {
    const struct {
        const char *name;
        pti_boxes_adder *add;
        int most_boxes;
    } ways[] = {{"gather", pti_boxes_gather, 15},
                {"include", pti_boxes_include, 1},
                {"attach", pti_boxes_attach, 1}};
    for (const auto &way : ways) {
        pti_boxes_clear(&set_);
        for (int64_t k = 0; k < 1009; k++) {
            const polytile_domain row = box_of({{k, k, 1}, {1, 97, 1}});
            way.add(&set_, &row);
            ASSERT_LE(set_.n_boxes, way.most_boxes) << way.name;
        }
        EXPECT_EQ(pti_boxes_count(&set_), 1009 * 97) << way.name;
    }
}

TEST_F(Boxes, WhatIsDetachedSlabBySlabLeavesAFrame) {
    const polytile_domain all = box_of({{0, 999, 1}, {0, 99, 1}});
    pti_boxes_attach(&set_, &all);
    for (int64_t k = 0; k < 1000; k += 10) {
        const polytile_domain slab = box_of({{k, k + 9, 1}, {1, 98, 1}});
        pti_boxes_detach(&set_, &slab);
        ASSERT_LE(set_.n_boxes, 4);
    }
    EXPECT_EQ(set_.n_boxes, 2);
}

TEST_F(Boxes, IncludingWhatIsThereLeavesTheBoxesInTheirOrder) {
    const polytile_domain first = box_of({{20, 29, 1}}), second = box_of({{0, 9, 1}});
    for (pti_boxes_adder *add : {pti_boxes_add_new, pti_boxes_include, pti_boxes_attach}) {
        pti_boxes_assign(&set_, &first);
        pti_boxes_append(&set_, &second);
        pti_boxes_copy(&other_, &set_);
        add(&set_, &first);
        EXPECT_TRUE(pti_boxes_are_alike(&set_, &other_));
    }
}

TEST_F(Boxes, ABoxThatIsAddedTakesThePlaceOfThoseInIt) {
    const polytile_domain all = box_of({{0, 98, 1}, {0, 9, 1}});
    for (pti_boxes_adder *add : adders) {
        pti_boxes_clear(&set_);
        for (int64_t k = 0; k < 97; k += 7) {
            const polytile_domain part = box_of({{k, k + 3, 1}, {1, 8, 1}});
            pti_boxes_append(&set_, &part);
        }
        add(&set_, &all);
        ASSERT_EQ(set_.n_boxes, 1);
        EXPECT_EQ(pti_box_compare(&set_.box[0], &all), 0);
    }
}

TEST_F(Boxes, MergeMakesNoRangeOfFarElements) {
    const polytile_domain near = box_of({{3, 3, 1}}), far = box_of({{10, 10, 1}});
    pti_boxes_append(&set_, &near);
    pti_boxes_append(&set_, &far);
    pti_boxes_merge(&set_);
    EXPECT_EQ(set_.n_boxes, 2);
}

TEST_F(Boxes, CountsSaturate) {
    const polytile_domain huge = box_of({{0, INT64_C(1) << 40, 1}, {0, INT64_C(1) << 40, 1}});
    const polytile_domain more = box_of({{-(INT64_C(1) << 40), -1, 1}, {0, INT64_C(1) << 40, 1}});
    pti_boxes_append(&set_, &huge);
    pti_boxes_append(&set_, &more);
    EXPECT_EQ(pti_boxes_count(&set_), INT64_MAX);
    EXPECT_EQ(pti_boxes_count_in(&set_, &huge), INT64_MAX);
}

} // namespace
