#include <gtest/gtest.h>
#include <polytile/program.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "launch/kernels.h"

namespace {

const char *const text = "scale[i]: inout x[i]";

/** Each call ends the process with the exit code 1 and a text that says what was wrong. */
class ProgramDeathTest : public testing::Test {
  protected:
    ProgramDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    static void bind(const polytile_domain *domain, const char *names, int n_arrays,
                     void *const *addresses) {
        polytile_program_bind(polytile_program_open("host"), POLYTILE_F32, domain, names, n_arrays,
                              addresses);
    }
    static void launch(const char *declaration, const polytile_implementation *implementation,
                       const polytile_domain *domain) {
        polytile_program_launch(polytile_program_open("host"), declaration, implementation, domain);
    }
    static void bind_internal(polytile_range range) {
        polytile_domain domain = {};
        void *const none[] = {nullptr};
        domain.n_dims = 1;
        domain.range[0] = range;
        bind(&domain, "x", 1, none);
    }

    static inline float memory[10];
    static inline void *const list[] = {memory};
    static inline void *const two[] = {memory, nullptr};
};

TEST_F(ProgramDeathTest, NullsAreNamed) {
    const polytile_domain ten = polytile_domain_from_extents(1, std::vector<int64_t>{10}.data());
    const auto exits = testing::ExitedWithCode(1);
    EXPECT_EXIT(polytile_program_open(nullptr), exits, "the device's text is NULL");
    EXPECT_EXIT(polytile_program_bind(nullptr, POLYTILE_F32, &ten, "x", 1, list), exits,
                "polytile_program_bind: the program is NULL");
    EXPECT_EXIT(bind(nullptr, "x", 1, list), exits, "the domain is NULL");
    EXPECT_EXIT(bind(&ten, nullptr, 1, list), exits, "the list of names is NULL");
    EXPECT_EXIT(bind(&ten, "x", 1, nullptr), exits, "the list of arrays' memory is NULL");
    EXPECT_EXIT(polytile_program_launch(nullptr, text, &scale_kernel, &ten), exits,
                "polytile_program_launch: the program is NULL");
    EXPECT_EXIT(launch(nullptr, &scale_kernel, &ten), exits, "the declaration is NULL");
    EXPECT_EXIT(launch(text, nullptr, &ten), exits, "the implementation is NULL");
    EXPECT_EXIT(launch(text, &scale_kernel, nullptr), exits, "the domain is NULL");
}

TEST_F(ProgramDeathTest, InternalArraysBeginAtZeroAndAreDense) {
    const auto exits = testing::ExitedWithCode(1);
    EXPECT_EXIT(bind_internal({1, 9, 1}), exits, "internal array x.*dimension 0 is 1:9:1");
    EXPECT_EXIT(bind_internal({0, 9, 3}), exits, "steps of 1; dimension 0 is 0:9:3");
    EXPECT_EXIT(bind_internal({0, INT64_MAX, 1}), exits, "more elements than 64 bits can count");
}

TEST_F(ProgramDeathTest, NamesAreThoseOfDeclarations) {
    const polytile_domain ten = polytile_domain_from_extents(1, std::vector<int64_t>{10}.data());
    const auto exits = testing::ExitedWithCode(1);
    for (const std::string name : {"p->B", "p.B", "&B", "B[0]", "2B", "f(B)"})
        EXPECT_EXIT(bind(&ten, name.c_str(), 1, list), exits, "letters, digits and _") << name;
    EXPECT_EXIT(bind(&ten, "p->B", 1, list), exits, "\"B\", POLYTILE_DATA\\(p->B\\)");
    EXPECT_EXIT(bind(&ten, "", 1, list), exits, "fewer names than arrays, 0 and 1");
    EXPECT_EXIT(bind(&ten, "x", 2, two), exits, "fewer names than arrays, 1 and 2");
    EXPECT_EXIT(bind(&ten, "x, y, z", 2, two), exits, "more names than arrays, 3 and 2");
    EXPECT_EXIT(bind(&ten, std::string(64, 'x').c_str(), 1, list), exits,
                "\"" + std::string(63, 'x') + "...\" has 64 bytes, and may have 63");
}

TEST_F(ProgramDeathTest, AnArrayIsBoundOnce) {
    const polytile_domain ten = polytile_domain_from_extents(1, std::vector<int64_t>{10}.data());
    const auto exits = testing::ExitedWithCode(1);
    void *const same[] = {memory, memory};
    EXPECT_EXIT(bind(&ten, "x, x", 2, two), exits,
                "there is an array with the name x already; give this one another name");
    EXPECT_EXIT(bind(&ten, "x, y", 2, same), exits,
                "the memory of y is bound already, as x; bind it once, and use that name");
}

TEST(Program, RunsWhatIsNamedAndEndsQuietly) {
    std::vector<float> x(10, 1);
    polytile_program *program = polytile_program_open("host");
    EXPECT_NE(polytile_program_get_queue(program), nullptr);
    void *const only[] = {x.data()};
    const polytile_domain ten = polytile_domain_from_extents(1, std::vector<int64_t>{10}.data());
    polytile_program_bind(program, POLYTILE_F32, &ten, "x", 1, only);
    polytile_program_launch(program, text, &scale_kernel, &ten);
    polytile_program_close(program);
    polytile_program_close(nullptr);
    EXPECT_NE(x, std::vector<float>(10, 1));
}

/** Both are looked at, and not where they lie. */
TEST(Program, OneBufferMayHoldOneDeclarationAfterTheOther) {
    std::vector<float> x(10, 1), y(10, 10), z(10, 0);
    const polytile_domain ten = polytile_domain_from_extents(1, std::vector<int64_t>{10}.data());
    polytile_program *program = polytile_program_open("host");
    void *const all[] = {x.data(), y.data(), z.data()};
    polytile_program_bind(program, POLYTILE_F32, &ten, "x, y, z", 3, all);
    polytile_implementation body = scale_kernel;
    char buffer[64];
    const auto launch = [&](const char *declaration) {
        std::snprintf(buffer, sizeof buffer, "%s", declaration);
        polytile_program_launch(program, buffer, &body, &ten);
    };
    launch("scale[i]: inout x[i]");
    launch("scale[i]: inout y[i]");
    launch("scale[i]: inout x[i]");
    body = add_kernel;
    launch("add[i]: in x[i], y[i]; out z[i]");
    polytile_program_close(program);
    EXPECT_EQ(x, std::vector<float>(10, 4));
    EXPECT_EQ(y, std::vector<float>(10, 20));
    EXPECT_EQ(z, std::vector<float>(10, 24));
}

TEST(Program, NothingHasNoQueue) {
    EXPECT_EQ(polytile_program_get_queue(nullptr), nullptr);
}

} // namespace
