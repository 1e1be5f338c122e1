#include "graph/schedule/brute_force.h"
#include "graph/schedule/self_timed.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "graph/schedule/edges.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <queue>
#include <string>
#include <vector>

/* Periodic schedules against brute force, and against execution that starts everything as soon as
 * it can. */

namespace {

/** Tasks that own their lists. */
struct Tasks {
    std::vector<pti_task> task;
    std::vector<pti_frame_buffer> buffer;
    std::vector<pti_buffer_reader> reader;
    int n_resources = 0;

    pti_stream_tasks view() {
        pti_stream_tasks of = {};
        of.n_tasks = static_cast<int>(task.size());
        of.task = task.data();
        of.n_buffers = static_cast<int>(buffer.size());
        of.buffer = buffer.data();
        of.n_readers = static_cast<int>(reader.size());
        of.reader = reader.data();
        of.n_resources = n_resources;
        return of;
    }

    void add_buffer(int producer, const std::vector<pti_buffer_reader> &readers, int64_t bytes,
                    int64_t depth = 0) {
        buffer.push_back({producer, static_cast<int>(reader.size()),
                          static_cast<int>(readers.size()), bytes, depth});
        reader.insert(reader.end(), readers.begin(), readers.end());
    }

    std::string text() const {
        std::string text;
        for (size_t t = 0; t < task.size(); t++)
            text += "task " + std::to_string(t) + ": " + std::to_string(task[t].ticks) + " on " +
                    std::to_string(task[t].resource) + "\n";
        for (const pti_frame_buffer &of : buffer) {
            text += "buffer of " + std::to_string(of.producer) + ", " +
                    std::to_string(of.frame_bytes) + " bytes:";
            for (int r = of.first_reader; r < of.first_reader + of.n_readers; r++)
                text += " " + std::to_string(reader[static_cast<size_t>(r)].task) + "(-" +
                        std::to_string(reader[static_cast<size_t>(r)].delay) + ")";
            text += "\n";
        }
        return text;
    }
};

Tasks random_tasks(Random &random, int most_tasks, int most_ticks, bool has_delays) {
    Tasks drawn;
    const int n = static_cast<int>(random.number(1, most_tasks));
    drawn.n_resources = static_cast<int>(random.number(1, 3));
    for (int t = 0; t < n; t++)
        drawn.task.push_back({static_cast<int>(random.number(-1, drawn.n_resources - 1)),
                              random.number(random.chance(10) ? 0 : 1, most_ticks), 0});
    for (int t = 0; t < n; t++) {
        std::vector<pti_buffer_reader> readers;
        for (int r = t + 1; r < n; r++)
            if (random.chance(40))
                readers.push_back({r, has_delays && random.chance(15) ? 1 : 0});
        for (int r = 0; has_delays && r <= t; r++)
            if (random.chance(12))
                readers.push_back({r, static_cast<int>(random.number(1, 2))});
        drawn.add_buffer(t, readers, random.number(1, 9));
    }
    return drawn;
}

/** Execution that starts everything as soon as it can: a producer when its buffer has room, a
 * reader when its frame is there, and the tasks of a resource in the schedule's order. Returns when
 * the last frame of n begins, at the task that begins last. */
int64_t run_self_timed(const pti_stream_tasks &of, const pti_periodic &schedule, int64_t n_frames) {
    const size_t n = static_cast<size_t>(of.n_tasks);
    std::vector<std::vector<int64_t>> start(
        n, std::vector<int64_t>(static_cast<size_t>(n_frames), -1));
    struct Firing {
        int64_t planned;
        int64_t ticks;
        int task;
        int64_t frame;
    };
    std::vector<Firing> order;
    for (int t = 0; t < of.n_tasks; t++)
        for (int64_t f = 0; f < n_frames; f++)
            order.push_back({schedule.start[t] + f * schedule.period, of.task[t].ticks, t, f});
    std::stable_sort(order.begin(), order.end(), [](const Firing &a, const Firing &b) {
        return a.planned != b.planned ? a.planned < b.planned : a.ticks < b.ticks;
    });
    std::vector<int64_t> is_free(static_cast<size_t>(of.n_resources) + 1, 0);
    int64_t last = 0;
    for (const Firing &one : order) {
        int64_t at = 0;
        const auto end_of = [&](int task, int64_t frame) {
            return frame < 0 || frame >= n_frames
                       ? 0
                       : start[static_cast<size_t>(task)][static_cast<size_t>(frame)] +
                             of.task[task].ticks;
        };
        for (int b = 0; b < of.n_buffers; b++)
            for (int r = of.buffer[b].first_reader;
                 r < of.buffer[b].first_reader + of.buffer[b].n_readers; r++) {
                const pti_buffer_reader &reader = of.reader[r];
                if (reader.task == one.task)
                    at = std::max(at, end_of(of.buffer[b].producer, one.frame - reader.delay));
                if (of.buffer[b].producer == one.task && reader.task != one.task)
                    at = std::max(
                        at, end_of(reader.task, one.frame - schedule.capacity[b] + reader.delay));
            }
        if (of.task[one.task].resource >= 0) {
            at = std::max(at, is_free[static_cast<size_t>(of.task[one.task].resource)]);
            is_free[static_cast<size_t>(of.task[one.task].resource)] = at + one.ticks;
        }
        EXPECT_LE(at, one.planned) << "a firing is later than planned";
        start[static_cast<size_t>(one.task)][static_cast<size_t>(one.frame)] = at;
        last = std::max(last, at);
    }
    return last;
}

TEST(Periodic, BoundIsTheWorkOfAResourceOrACycle) {
    Tasks two;
    two.n_resources = 2;
    two.task = {{0, 3, 0}, {1, 4, 0}, {0, 2, 0}};
    two.add_buffer(0, {{1, 0}}, 1);
    two.add_buffer(1, {{2, 0}}, 1);
    pti_period_bound bound;
    pti_stream_tasks of = two.view();
    ASSERT_TRUE(pti_period_bound_find(&of, &bound));
    EXPECT_EQ(bound.ticks, 5);
    EXPECT_EQ(bound.kind, PTI_BOUND_WORK);
    EXPECT_EQ(bound.resource, 0);
    two.add_buffer(2, {{0, 1}}, 1);
    of = two.view();
    ASSERT_TRUE(pti_period_bound_find(&of, &bound));
    EXPECT_EQ(bound.ticks, 9);
    EXPECT_EQ(bound.kind, PTI_BOUND_CYCLE);
    two.reader.back().delay = 2;
    of = two.view();
    ASSERT_TRUE(pti_period_bound_find(&of, &bound));
    EXPECT_EQ(bound.ticks, 5);
    two.buffer[0].depth = 1;
    of = two.view();
    ASSERT_TRUE(pti_period_bound_find(&of, &bound));
    EXPECT_EQ(bound.ticks, 7);
}

/* Two stages on two resources: the buffer between them holds two frames. */
TEST(Periodic, AChannelBetweenTwoBusyUnitsHoldsTwoFrames) {
    Tasks chain;
    chain.n_resources = 2;
    chain.task = {{0, 4, 0}, {1, 4, 0}};
    chain.add_buffer(0, {{1, 0}}, 10);
    chain.add_buffer(1, {}, 10);
    const pti_stream_tasks of = chain.view();
    pti_periodic schedule;
    ASSERT_EQ(pti_periodic_find(&of, 4, &schedule), PTI_FOUND);
    EXPECT_EQ(schedule.capacity[0], 2);
    EXPECT_EQ(schedule.capacity[1], 1);
    EXPECT_TRUE(schedule.is_least);
    pti_periodic_free(&schedule);
    ASSERT_EQ(pti_periodic_find_serial(&of, &schedule), PTI_FOUND);
    EXPECT_EQ(schedule.period, 8);
    EXPECT_EQ(schedule.capacity[0], 1);
    pti_periodic_free(&schedule);
}

/* A depth that no schedule needs changes nothing, however long periods are: 2^20 frames of 2^47
 * ticks are more than 64 bits hold. What has no resource takes no time, as in graphs. */
TEST(PeriodicRandom, DeepBuffersOfLongPeriodsChangeNothing) {
    Random random(test_seed("PeriodicRandom.DeepBuffersOfLongPeriodsChangeNothing"));
    const int64_t tick = INT64_C(1) << 45;
    for (int64_t round = 0; round < scaled(200); round++) {
        Tasks drawn = random_tasks(random, 7, 4, random.chance(50)), deep;
        const bool is_large = random.chance(30);
        for (pti_task &task : drawn.task)
            task.ticks *= task.resource < 0 ? 0 : tick;
        deep = drawn;
        for (pti_frame_buffer &buffer : deep.buffer)
            if (random.chance(60))
                buffer.depth = INT64_C(1) << random.number(17, 20);
        const pti_stream_tasks of = drawn.view(), of_deep = deep.view();
        pti_period_bound bound, deep_bound;
        pti_periodic schedule, deep_schedule;
        ASSERT_TRUE(pti_period_bound_find(&of, &bound));
        ASSERT_TRUE(pti_period_bound_find(&of_deep, &deep_bound));
        EXPECT_EQ(deep_bound.ticks, bound.ticks);
        EXPECT_EQ(deep_bound.kind, bound.kind);
        const int64_t period = is_large ? 3 * bound.ticks : bound.ticks;
        const pti_found found = pti_periodic_find(&of, period, &schedule);
        ASSERT_EQ(pti_periodic_find(&of_deep, period, &deep_schedule), found);
        if (found == PTI_FOUND) {
            EXPECT_EQ(pti_periodic_find_fault(&of_deep, &deep_schedule), nullptr);
            for (int t = 0; t < of.n_tasks; t++)
                EXPECT_EQ(deep_schedule.start[t], schedule.start[t]);
        }
        pti_periodic_free(&schedule);
        pti_periodic_free(&deep_schedule);
        ASSERT_EQ(pti_periodic_find_serial(&of_deep, &deep_schedule),
                  pti_periodic_find_serial(&of, &schedule));
        pti_periodic_free(&schedule);
        pti_periodic_free(&deep_schedule);
        ASSERT_FALSE(HasFailure()) << deep.text();
    }
}

/* Many pairs of one input: what is made is read before the next one is made. */
TEST(Periodic, AFrameAfterTheOtherReadsSoonWhatWasMade) {
    Tasks pairs;
    pairs.n_resources = 1;
    for (int t = 0; t < 12; t++)
        pairs.task.push_back({0, 1 + t % 3, 0});
    for (int t = 0; t < 12; t += 2)
        pairs.add_buffer(t, {{t + 1, 0}}, 10);
    const pti_stream_tasks of = pairs.view();
    pti_periodic schedule;
    ASSERT_EQ(pti_periodic_find_serial(&of, &schedule), PTI_FOUND);
    EXPECT_EQ(pti_periodic_find_fault(&of, &schedule), nullptr);
    for (int t = 0; t < 12; t += 2)
        EXPECT_EQ(schedule.start[t + 1], schedule.start[t] + of.task[t].ticks);
    pti_periodic_free(&schedule);
}

TEST(PeriodicRandom, BuffersAreLeastAsByBruteForce) {
    Random random(test_seed("PeriodicRandom.BuffersAreLeastAsByBruteForce"));
    const int64_t n_rounds = scaled(1000);
    int64_t n_compared = 0, n_without = 0;
    for (int64_t round = 0; round < n_rounds; round++) {
        Tasks drawn = random_tasks(random, 5, 3, random.chance(50));
        const pti_stream_tasks of = drawn.view();
        pti_period_bound bound;
        pti_periodic schedule;
        ASSERT_TRUE(pti_period_bound_find(&of, &bound));
        if (bound.ticks > 8)
            continue;
        const pti_found found = pti_periodic_find(&of, bound.ticks, &schedule);
        ASSERT_TRUE(schedule.is_least) << drawn.text();
        ASSERT_NE(found, PTI_FOUND_NO_MEMORY);
        n_compared++;
        n_without += found == PTI_NONE_FOUND;
        if (found == PTI_NONE_FOUND) {
            EXPECT_EQ(BruteForce(of, bound.ticks, INT64_MAX).best(), INT64_MAX) << drawn.text();
            continue;
        }
        EXPECT_EQ(pti_periodic_find_fault(&of, &schedule), nullptr)
            << pti_periodic_find_fault(&of, &schedule) << "\n"
            << drawn.text();
        const int64_t bytes = bytes_of(of, schedule);
        EXPECT_EQ(BruteForce(of, bound.ticks, bytes).best(), bytes)
            << "period " << bound.ticks << "\n"
            << drawn.text();
        pti_periodic_free(&schedule);
        if (HasFailure())
            return;
    }
    std::printf("%lld compared, of which %lld have no schedule of the bound\n",
                static_cast<long long>(n_compared), static_cast<long long>(n_without));
    EXPECT_GE(n_compared, least_count(n_rounds, 0.9));
}

/** Tasks that all have a unit, up to three, three of them each at most. */
Tasks random_actors(Random &random) {
    Tasks drawn = random_tasks(random, 6, 4, random.chance(50));
    const int n = static_cast<int>(drawn.task.size());
    drawn.n_resources = static_cast<int>(random.number((n + 2) / 3, 3));
    for (int t = 0; t < n; t++) {
        int64_t n_there;
        do {
            drawn.task[static_cast<size_t>(t)].resource =
                static_cast<int>(random.number(0, drawn.n_resources - 1));
            n_there =
                std::count_if(drawn.task.begin(), drawn.task.begin() + t, [&](const pti_task &of) {
                    return of.resource == drawn.task[static_cast<size_t>(t)].resource;
                });
        } while (n_there == 3);
        drawn.task[static_cast<size_t>(t)].ticks =
            std::max<int64_t>(1, drawn.task[static_cast<size_t>(t)].ticks);
    }
    return drawn;
}

/** Whether self-timed execution, with any order of each unit's actors, sustains a period with
 * channels of fewer bytes together. More frames in a channel never hurt: so only those capacities
 * are tried to which no frame can be added. */
bool sustains_with_less(const pti_stream_tasks &of, int64_t period, int64_t bytes) {
    std::vector<int64_t> capacity(static_cast<size_t>(of.n_buffers), 1);
    const std::function<bool(int, int64_t)> choose = [&](int b, int64_t left) {
        if (b == of.n_buffers) {
            for (int k = 0; k < of.n_buffers; k++)
                if (of.buffer[k].n_readers > 0 && of.buffer[k].frame_bytes <= left)
                    return false;
            return SelfTimed(of, period, capacity).sustains();
        }
        bool does = choose(b + 1, left);
        for (int64_t more = 1;
             !does && of.buffer[b].n_readers > 0 && more * of.buffer[b].frame_bytes <= left;
             more++) {
            capacity[static_cast<size_t>(b)] = 1 + more;
            does = choose(b + 1, left - more * of.buffer[b].frame_bytes);
        }
        capacity[static_cast<size_t>(b)] = 1;
        return does;
    };
    int64_t least = 0;
    for (int b = 0; b < of.n_buffers; b++)
        least += of.buffer[b].frame_bytes;
    return bytes > least && choose(0, bytes - 1 - least);
}

TEST(PeriodicRandom, ChannelsAreLeastOfAllOrdersOfSelfTimedExecution) {
    Random random(test_seed("PeriodicRandom.ChannelsAreLeastOfAllOrdersOfSelfTimedExecution"));
    const int64_t n_rounds = scaled(10000);
    int64_t n_without = 0, n_more = 0;
    for (int64_t round = 0; round < n_rounds; round++) {
        Tasks drawn = random_actors(random);
        const pti_stream_tasks of = drawn.view();
        pti_period_bound bound;
        pti_periodic schedule;
        ASSERT_TRUE(pti_period_bound_find(&of, &bound));
        const pti_found found = pti_periodic_find(&of, bound.ticks, &schedule);
        ASSERT_TRUE(schedule.is_least) << drawn.text();
        const std::vector<int64_t> many(drawn.buffer.size(), 4);
        n_without += found == PTI_NONE_FOUND;
        if (found == PTI_NONE_FOUND) {
            ASSERT_FALSE(SelfTimed(of, bound.ticks, many).sustains()) << drawn.text();
            continue;
        }
        const std::vector<int64_t> capacity(schedule.capacity, schedule.capacity + of.n_buffers);
        n_more +=
            std::count_if(capacity.begin(), capacity.end(), [](int64_t n) { return n > 1; }) > 0;
        ASSERT_TRUE(SelfTimed(of, bound.ticks, capacity).sustains()) << drawn.text();
        ASSERT_FALSE(sustains_with_less(of, bound.ticks, bytes_of(of, schedule))) << drawn.text();
        pti_periodic_free(&schedule);
    }
    std::printf("%lld graphs, of which %lld need several frames in a channel and %lld have no "
                "schedule of the bound\n",
                static_cast<long long>(n_rounds), static_cast<long long>(n_more),
                static_cast<long long>(n_without));
    EXPECT_GE(n_more, least_count(n_rounds, 0.3));
}

TEST(PeriodicRandom, SelfTimedExecutionSustainsThePeriod) {
    Random random(test_seed("PeriodicRandom.SelfTimedExecutionSustainsThePeriod"));
    for (int64_t round = 0; round < scaled(1000); round++) {
        Tasks drawn = random_tasks(random, 12, 50, random.chance(50));
        const pti_stream_tasks of = drawn.view();
        pti_period_bound bound;
        pti_periodic schedule;
        ASSERT_TRUE(pti_period_bound_find(&of, &bound));
        if (pti_periodic_find(&of, bound.ticks, &schedule) != PTI_FOUND)
            continue;
        const int64_t n_frames = 30;
        const int64_t last = run_self_timed(of, schedule, n_frames);
        EXPECT_LE(last, *std::max_element(schedule.start, schedule.start + of.n_tasks) +
                            (n_frames - 1) * bound.ticks);
        EXPECT_EQ(pti_periodic_find_fault(&of, &schedule), nullptr);
        pti_periodic_free(&schedule);
        ASSERT_FALSE(HasFailure()) << drawn.text();
    }
}

TEST(PeriodicRandom, ManyTasksReachTheBoundWithoutCycles) {
    Random random(test_seed("PeriodicRandom.ManyTasksReachTheBoundWithoutCycles"));
    for (int64_t round = 0; round < scaled(30); round++) {
        Tasks drawn = random_tasks(random, 100, 1000, false);
        const pti_stream_tasks of = drawn.view();
        pti_period_bound bound;
        pti_periodic schedule;
        ASSERT_TRUE(pti_period_bound_find(&of, &bound));
        ASSERT_EQ(pti_periodic_find(&of, bound.ticks, &schedule), PTI_FOUND);
        EXPECT_EQ(pti_periodic_find_fault(&of, &schedule), nullptr);
        pti_periodic_free(&schedule);
    }
}

} // namespace
