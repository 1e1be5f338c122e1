#include "partition/memory/resident.h"

#include "support/scale.h"

/* Where nothing has to make room. */

namespace {

constexpr int n_arrays = 5;

/** Lines of several lengths that come and go, and launches of one that write a part of it. */
class Lines {
  public:
    explicit Lines(Random *random)
        : random_(random), domains_(draw_domains()), resident_(draw_arena(), domains_) {}

    bool has_room() { return pti_residency_has_room(resident_.get()); }
    int64_t d2h_bytes() const { return resident_.d2h_bytes; }

    /** Write an array, all of it or a part. */
    void write(int array) {
        const int64_t n = length(array), lo = random_->chance(60) ? 0 : random_->number(0, n - 1);
        const std::string threads =
            std::to_string(lo) + ":" + std::to_string(random_->number(lo, n - 1));
        CutLaunch grow({"grow[i]: inout x[i]", threads.c_str(), {{"x", array}}}, domains_);
        resident_.Plan({grow.Step()});
    }

    /** Another array comes to an array's position. */
    void replace(int array) {
        resident_.Plan({Flush(array)});
        pti_residency_remove(resident_.get(), array);
        domains_[static_cast<size_t>(array)] = draw_domain();
        polytile_domain domain = domain_of(domains_[static_cast<size_t>(array)]);
        const pti_resident_array made = {name_, POLYTILE_F64, 8, domain, false, false, {}};
        ASSERT_EQ(pti_residency_add(resident_.get(), &made), array);
    }

    int any() { return static_cast<int>(random_->number(0, n_arrays - 1)); }

    /** Write all arrays in some order. */
    void write_all() {
        const int first = any(), by = static_cast<int>(random_->number(1, n_arrays - 1));
        for (int k = 0; k < n_arrays; k++)
            write((first + k * by) % n_arrays);
    }

    bool do_all_fit() const {
        int64_t bytes = 0;
        for (int a = 0; a < n_arrays; a++)
            bytes += pti_resident_padded(8 * length(a));
        return bytes <= arena_bytes_;
    }

  private:
    std::string draw_domain() { return std::to_string(random_->one_of({1, 30, 33, 64, 100, 128})); }
    std::vector<std::string> draw_domains() {
        std::vector<std::string> made;
        for (int a = 0; a < n_arrays; a++)
            made.push_back(draw_domain());
        return made;
    }
    int64_t draw_arena() { return arena_bytes_ = 256 * random_->number(8, 20); }
    int64_t length(int array) const { return std::stoll(domains_[static_cast<size_t>(array)]); }

    Random *random_;
    char name_[8] = "later";
    std::vector<std::string> domains_;
    int64_t arena_bytes_ = 0;
    Resident resident_;
};

TEST(ResidencyRoom, NothingLeavesWhereAllFindsRoom) {
    Random random(test_seed("ResidencyRoom"));
    int n_with = 0, n_leaving = 0;
    const auto rounds = static_cast<int>(scaled(2000));
    for (int round = 0; round < rounds && !testing::Test::HasFailure(); round++) {
        Lines lines(&random);
        for (int64_t n = random.number(0, 12); n > 0; n--)
            random.chance(50) ? lines.write(lines.any()) : lines.replace(lines.any());
        const bool has_room = lines.has_room(), do_fit = lines.do_all_fit();
        const int64_t d2h_bytes = lines.d2h_bytes();
        lines.write_all();
        EXPECT_TRUE(do_fit || !has_room);
        n_with += has_room;
        n_leaving += do_fit && lines.d2h_bytes() > d2h_bytes;
        if (has_room) {
            EXPECT_EQ(lines.d2h_bytes(), d2h_bytes) << "round " << round;
            EXPECT_TRUE(lines.has_room());
        }
    }
    if (rounds >= 200) {
        EXPECT_GT(n_with, rounds / 4);
        EXPECT_GT(n_leaving, 0) << "nothing was drawn that leaves though all fits";
    }
    RecordProperty("leaving", n_leaving);
}

} // namespace
