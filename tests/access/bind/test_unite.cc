#include <gtest/gtest.h>

#include "support/launch.h"

extern "C" {
#include "access/bind/unite.h"
#include "access/footprint/footprint.h"
#include "access/footprint/slabs.h"
#include "access/set/boxes.h"
}

namespace {

struct United {
    const char *declaration;
    const char *threads;
    const char *array;
    int n_sections; /* -1: nothing is done, since the elements are known */
};

/** A copy of the instance of a launch, of which the test may make another one. */
class Copy {
  public:
    explicit Copy(const Launch &launch) : ctx_(launch.context()) {
        EXPECT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        EXPECT_EQ(pti_instance_copy(ctx_, launch.instance(), &instance), POLYTILE_OK);
    }
    ~Copy() { pti_instance_free(instance); }
    Copy(const Copy &) = delete;
    Copy &operator=(const Copy &) = delete;

    polytile_status unite() { return pti_instance_unite_sections(ctx_, &instance); }
    polytile_status add_slabs() { return pti_instance_add_slabs(ctx_, instance); }

    pti_instance *instance = nullptr;

  private:
    polytile_context *ctx_;
};

TEST(Unite, SectionsBecomeOneWhereTheyAreAStridedOne) {
    const United cases[] = {
        {"f[a, k]: inout x[256*a+k], x[256*a+k+128]", "100x128", "25600", 1},
        {"f[a, k]: inout x[256*a+k+128], x[256*a+k]", "100x128", "25600", 1},
        {"f[a, k]: inout x[512*a+k], x[512*a+k+128], x[512*a+k+256], x[512*a+k+384]", "100x128",
         "51200", 1},
        {"f[a, k]: inout x[512*a+k], x[512*a+k+128], x[512*a+k+384]", "100x128", "51200", 2},
        {"f[a, k]: inout x[256*a+k]; out x[256*a+k+128]", "100x128", "25600", 2},
        {"f[a, k]: inout x[256*a+k, 0], x[256*a+k+128, 1]", "100x128", "25600x2", 2},
        {"f[a, k]: inout x[256*a+k, 0], x[256*a+k, 1]", "100x128", "25600x2", 1},
        {"f[i]: inout x[2*i], x[2*i+1]", "100", "200", -1},
    };
    for (const United &of : cases) {
        SCOPED_TRACE(of.declaration);
        const Launch launch(of.declaration, of.threads, {{"x", of.array}});
        Copy copy(launch);
        const int n_before = copy.instance->n_sections;
        EXPECT_EQ(copy.unite(), POLYTILE_OK);
        EXPECT_EQ(copy.instance->operand[0].n_sections,
                  of.n_sections < 0 ? n_before : of.n_sections);
        const bool is_united = of.n_sections >= 0 && of.n_sections < n_before;
        EXPECT_EQ(copy.instance->given != nullptr, is_united);
        EXPECT_EQ(pti_instance_as_given(copy.instance)->operand[0].n_sections, n_before);
    }
}

TEST(Slabs, WriteWhatIsKnownWhereBoxesOfThreadsDoNot) {
    const Launch launch("f[a, k, j]: inout x[256*a+k:256*a+k+128:128, j]", "100x128x64",
                        {{"x", "25600x64"}});
    Copy copy(launch);
    EXPECT_TRUE(copy.instance->operand[0].partial);
    EXPECT_EQ(copy.add_slabs(), POLYTILE_OK);
    ASSERT_NE(copy.instance->slabs, nullptr);
    EXPECT_EQ(copy.instance->slab_indices, 4u);
    EXPECT_EQ(pti_instance_for_slabs(copy.instance, 0), copy.instance);
    const pti_instance *slabs = pti_instance_for_slabs(copy.instance, 2);
    EXPECT_FALSE(slabs->operand[0].partial);
    const polytile_domain threads = domain_of("0:99, 0:127, 5:6");
    pti_boxes boxes = {};
    EXPECT_TRUE(pti_footprint_boxes(slabs, 0, PTI_WRITES, &threads, 16, &boxes));
    ASSERT_EQ(boxes.n_boxes, 1);
    EXPECT_EQ(boxes.box[0].range[0].hi, 25599);
    EXPECT_EQ(boxes.box[0].range[1].lo, 5);
    pti_boxes_free(&boxes);
}

TEST(Slabs, AreNoneAlongAnIndexThatMovesOtherDimensions) {
    const Launch launch("f[a, k, j]: inout x[256*a+k+j, j]", "100x128x64", {{"x", "25700x64"}});
    Copy copy(launch);
    EXPECT_EQ(copy.add_slabs(), POLYTILE_OK);
    EXPECT_EQ(copy.instance->slabs, nullptr);
}

} // namespace
