#include <gtest/gtest.h>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/schedule/builder.h"
}

/* Schedules under construction. */

namespace {

/** The last operations of all streams. */
std::vector<int64_t> streams_of(const pti_last &last) {
    std::vector<int64_t> streams;
    for (int s = 0; s < PTI_MAX_STREAMS; s++)
        streams.push_back(pti_last_on(&last, s));
    return streams;
}

pti_last draw_last(Random *random) {
    pti_last last = pti_last_none();
    for (int s = 0; s < PTI_MAX_STREAMS; s++)
        if (random->chance(60))
            pti_last_note_on(&last, static_cast<pti_stream>(s), random->number(0, 9));
    return last;
}

TEST(Builder, LastOperationsJoinStreamByStream) {
    Random random(test_seed("Builder.Last"));
    for (int64_t round = scaled(200); round > 0; round--) {
        pti_last one = draw_last(&random), joined = one;
        const pti_last other = draw_last(&random);
        pti_last_join(&joined, &other);
        for (int s = 0; s < PTI_MAX_STREAMS; s++)
            EXPECT_EQ(pti_last_on(&joined, s),
                      std::max(pti_last_on(&one, s), pti_last_on(&other, s)));
        pti_last_join(&one, &joined);
        EXPECT_EQ(streams_of(one), streams_of(joined));
    }
}

TEST(Builder, NotesOperationsOnTheStreamOfTheirKind) {
    for (const pti_op_kind kind : {PTI_UPLOAD, PTI_DOWNLOAD, PTI_COPY, PTI_FILL, PTI_LAUNCH}) {
        pti_op op = {};
        op.kind = kind;
        pti_last by_kind = pti_last_none(), by_stream = pti_last_none();
        pti_last_note(&by_kind, kind, 5);
        pti_last_note_on(&by_stream, pti_op_stream(&op), 5);
        EXPECT_EQ(streams_of(by_kind), streams_of(by_stream));
    }
}

/** A builder of a schedule without launches, for operations alone. */
class BuilderOfOps : public ::testing::Test {
  protected:
    BuilderOfOps() { pti_builder_begin(&builder_, &instance_, 0, nullptr); }
    ~BuilderOfOps() override { pti_schedule_free(builder_.schedule); }

    pti_instance instance_ = {};
    pti_builder builder_ = {};
};

TEST_F(BuilderOfOps, OperationsWaitForTheLastOnesOfOtherStreamsAlone) {
    Random random(test_seed("Builder.Waits"));
    const pti_op_kind kinds[] = {PTI_UPLOAD, PTI_DOWNLOAD, PTI_COPY, PTI_FILL, PTI_LAUNCH};
    std::vector<std::vector<int64_t>> expected;
    for (int64_t k = 0; k < 500; k++) {
        pti_op op = {};
        op.kind = kinds[random.number(0, 4)];
        pti_last waits = draw_last(&random);
        std::vector<int64_t> others;
        for (int s = 0; s < waits.n_streams; s++)
            if (waits.op[s] >= k)
                waits.op[s] = -1;
            else if (waits.op[s] >= 0 && s != static_cast<int>(pti_op_stream(&op)))
                others.push_back(waits.op[s]);
        ASSERT_EQ(pti_builder_add(&builder_, &op, &waits), k);
        expected.push_back(others);
    }
    const pti_schedule *schedule = builder_.schedule;
    ASSERT_FALSE(builder_.failed);
    ASSERT_EQ(schedule->n_ops, 500);
    for (size_t k = 0; k < expected.size(); k++) {
        const pti_op &op = schedule->op[k];
        const int64_t *wait = schedule->wait + op.first_wait;
        EXPECT_EQ(std::vector<int64_t>(wait, wait + op.n_waits), expected[k]);
    }
}

TEST_F(BuilderOfOps, OnesThatAreFullStayFull) {
    const pti_op op = {};
    const pti_last waits = pti_last_none();
    pti_builder_look(&builder_, PTI_MAX_LOOKS);
    EXPECT_FALSE(builder_.failed);
    EXPECT_EQ(pti_builder_add(&builder_, &op, &waits), 0);
    pti_builder_look(&builder_, 1);
    EXPECT_TRUE(builder_.failed);
    EXPECT_EQ(pti_builder_status(&builder_), POLYTILE_UNSUPPORTED);
    EXPECT_EQ(pti_builder_add(&builder_, &op, &waits), -1);
    EXPECT_EQ(builder_.schedule->n_ops, 1);
}

} // namespace
