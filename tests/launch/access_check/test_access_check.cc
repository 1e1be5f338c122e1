#include "launch/access_check/lines.h"
#include "launch/scene.h"
#include "support/environment.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

/* What a check of a kernel against its declaration finds, and what it says. */

namespace {

const Case &case_of(const std::string &declaration) {
    for (const Case &of : all_cases())
        if (std::string(of.declaration).compare(0, declaration.size(), declaration) == 0)
            return of;
    ADD_FAILURE() << "there is no case " << declaration;
    return all_cases()[0];
}

TEST(AccessCheck, LetsRightDeclarationsPass) {
    Random random(test_seed("AccessCheck.LetsRightDeclarationsPass"));
    for (const Case &of : all_cases())
        for (const char *text : {"host", "host(memory=4MiB,threads=2)"})
            for (int64_t n : {int64_t{3}, std::min<int64_t>(of.largest_n, 25)}) {
                Context context;
                Scene scene(context.ctx, of, n, &random);
                polytile_check_report report;
                EXPECT_EQ(polytile_check_run(context.open(text), scene.kernel, &scene.domain,
                                             static_cast<int>(scene.arrays.size()),
                                             scene.arrays.data(), &scene.options, &report),
                          POLYTILE_OK)
                    << of.declaration << " n " << n << ": " << context.error();
                EXPECT_EQ(report.violation, POLYTILE_NO_VIOLATION);
                EXPECT_GT(report.n_alone, 0);
                EXPECT_EQ(scene.memory, scene.before) << of.declaration;
            }
}

/** The kernel of a case with another declaration, and what is wrong with that. */
struct Wrong {
    const char *kernel, *declaration;
    int64_t n;
    polytile_violation violation;
    int array;
    std::vector<int64_t> element;
    const char *says;
};

const std::vector<Wrong> wrongs = {
    {"smooth",
     "smooth[i]: in A[i:i+1]; out B[i]",
     20,
     POLYTILE_READS_UNDECLARED,
     0,
     {0},
     "smooth: its declaration is wrong: thread [1] reads A[0] (B[1] depends on it), and it is not "
     "declared to be read there: in A[i:i+1]; declare what is read, or read no more than that "
     "(found on host)"},
    {"jacobi",
     "jacobi[i, j]: in A[i-1:i+1, j]; out B[i, j]",
     12,
     POLYTILE_READS_UNDECLARED,
     0,
     {1, 0},
     "thread [1, 1] reads A[1, 0] (B[1, 1] depends on it)"},
    {"heat",
     "heat[i, j, k]: in A[i-1:i, j, k], A[i+1, j, k], A[i, j-1:j+1, k], A[i, j, k]; "
     "out B[i, j, k]",
     6,
     POLYTILE_READS_UNDECLARED,
     0,
     {1, 1, 0},
     "reads A[1, 1, 0]"},
    {"matmul",
     "matmul[i, j]: in A[i, :], B[j, :]; out C[i, j]",
     9,
     POLYTILE_READS_UNDECLARED,
     1,
     {},
     ""},
    {"gemm",
     "gemm[i, j, k]: in A[i, k], B[k, 0]; out sum C[i, j]",
     6,
     POLYTILE_READS_UNDECLARED,
     1,
     {},
     ""},
    {"scale", "scale[i]: out x[i]", 20, POLYTILE_READS_UNDECLARED, 0, {0}, "out x[i]"},
    {"dot",
     "dot[i]: in x[i]; in y[0]; out sum s[0]",
     20,
     POLYTILE_READS_UNDECLARED,
     1,
     {},
     "(s[0] depends on it), and it is not declared to be read there: in y[0];"},
    {"least",
     "least[i, j]: in A[i, 0:j:2]; out min m[j]",
     8,
     POLYTILE_READS_UNDECLARED,
     0,
     {0, 1},
     ""},
    {"prefix",
     "prefix[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b < j}; out B[i, j]",
     8,
     POLYTILE_READS_UNDECLARED,
     0,
     {0, 0},
     ""},
    {"scatter",
     "scatter[i]: in x[i]; out y[3*i]",
     9,
     POLYTILE_WRITES_UNDECLARED,
     1,
     {1},
     "scatter: its declaration is wrong: thread [0] writes y[1], and it is not declared to be "
     "written there: out y[3*i]; declare what is written"},
    {"scale", "scale[i]: in x[i]", 20, POLYTILE_WRITES_UNDECLARED, 0, {}, ""},
    {"add", "add[i]: in x[i], y[i]; out z[i:i]; in z[i+1:i]", 9, POLYTILE_NO_VIOLATION, 0, {}, ""},
    {"scatter",
     "scatter[i]: in x[i]; out y[3*i:3*i+1]",
     9,
     POLYTILE_LEAVES_UNWRITTEN,
     1,
     {0},
     "thread [0] does not write y[0], or writes what it held, and it is declared to be overwritten "
     "there: out y[3*i:3*i+1]; declare it inout if what it holds is read or kept, as by +=; else "
     "write all of it, or narrow the section"},
};

TEST(AccessCheck, NamesWhatIsWrongWithDeclarations) {
    Random random(test_seed("AccessCheck.NamesWhatIsWrongWithDeclarations"));
    for (const Wrong &wrong : wrongs) {
        Context context;
        Case of = case_of(std::string(wrong.kernel) + "[");
        of.declaration = wrong.declaration;
        Scene scene(context.ctx, of, wrong.n, &random);
        polytile_check_report report;
        const polytile_status status = polytile_check_run(
            context.open("host"), scene.kernel, &scene.domain,
            static_cast<int>(scene.arrays.size()), scene.arrays.data(), &scene.options, &report);
        const bool is_right = wrong.violation == POLYTILE_NO_VIOLATION;
        EXPECT_EQ(status, is_right ? POLYTILE_OK : POLYTILE_INVALID) << wrong.declaration;
        EXPECT_EQ(report.violation, wrong.violation) << wrong.declaration << context.error();
        if (is_right || report.violation != wrong.violation)
            continue;
        EXPECT_EQ(report.array, wrong.array) << context.error();
        EXPECT_EQ(std::vector<int64_t>(report.element, report.element + wrong.element.size()),
                  wrong.element)
            << context.error();
        EXPECT_NE(context.error().find(wrong.says), std::string::npos) << context.error();
        EXPECT_EQ(scene.memory, scene.before) << wrong.declaration;
    }
}

TEST_F(AccessCheckLines, SeesWhatLiesOutsideTheArray) {
    EXPECT_EQ(check(
                  "shift[i]: in x[i]; out y[i]",
                  [](const polytile_domain *threads, const polytile_view *views, void *) {
                      for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                          at(views[1], i) = at(views[0], i == 0 ? -1 : i);
                  },
                  300),
              POLYTILE_INVALID);
    expect_says("thread [0] reads x[-1], which lies outside the array x[0:299] (y[0] depends on "
                "it), and it is not declared to be read there: in x[i];");
    EXPECT_EQ(check(
                  "shift[i]: in x[i]; out y[i]",
                  [](const polytile_domain *threads, const polytile_view *views, void *) {
                      for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                          at(views[1], i) = at(views[1], i < 299 ? i : 305) = at(views[0], i);
                  },
                  300),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_WRITES_UNDECLARED);
    expect_says("thread [299] writes y[305], which lies outside the array y[0:299], and");
}

TEST_F(AccessCheckLines, SeesWhatIsTakenOnlyIfItIsLargerOrSmaller) {
    EXPECT_EQ(check(
                  "most[i]: in x[i]; out y[i]",
                  [](const polytile_domain *threads, const polytile_view *views, void *) {
                      for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                          at(views[1], i) =
                              std::max(1e6f, std::max(at(views[0], i), at(views[0], i + 1)));
                  },
                  200),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED);
    EXPECT_EQ(check(
                  "least[i]: in x[i]; min y[0]",
                  [](const polytile_domain *threads, const polytile_view *views, void *) {
                      for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                          PT_MIN(at(views[1], 0),
                                 at(views[0], i) - 1 + std::min(0.0f, at(views[0], i + 2)));
                  },
                  200),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED);
    EXPECT_EQ(report.shown_array, 1);
}

/** What an index points to is where the table says, whose values are those of the array. */
TEST_F(AccessCheckLines, SeesWhatOnlyTheArraysOwnValuesMakeTrue) {
    std::fill(memory[0].begin(), memory[0].end(), 5.0f);
    EXPECT_EQ(check(
                  "same[i]: in x[i]; out y[i]",
                  [](const polytile_domain *threads, const polytile_view *views, void *) {
                      for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                          at(views[1], i) = at(views[0], i) == at(views[0], i + 1) ? 7.0f : 3.0f;
                  },
                  299),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED);
}

/** A mask that is read one element too far, or a flag that is read elsewhere, of each type. */
template <class T, bool IsFlag>
void choose(const polytile_domain *threads, const polytile_view *views, void *constant) {
    const auto of = [&](int view, int64_t i) {
        return static_cast<char *>(views[view].origin) + i * views[view].stride_bytes[0];
    };
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
        T mask;
        std::memcpy(&mask, of(1, IsFlag ? 0 : i + 1), sizeof mask);
        float chosen = 0;
        if (mask != *static_cast<const T *>(constant))
            std::memcpy(&chosen, of(0, i), sizeof chosen);
        std::memcpy(of(2, i), &chosen, sizeof chosen);
    }
}

/** A line of masks whose elements are all one but for one in the middle. */
template <class T> class Masked {
  public:
    explicit Masked(polytile_type type) {
        const int64_t extent = 20000;
        mask_[extent / 2] = rare;
        EXPECT_EQ(polytile_array_wrap(context_.ctx, "A", POLYTILE_F32, 1, &extent, a_.data(),
                                      &arrays_[0]),
                  POLYTILE_OK);
        EXPECT_EQ(
            polytile_array_wrap(context_.ctx, "m", type, 1, &extent, mask_.data(), &arrays_[1]),
            POLYTILE_OK);
        EXPECT_EQ(polytile_array_wrap(context_.ctx, "B", POLYTILE_F32, 1, &extent, b_.data(),
                                      &arrays_[2]),
                  POLYTILE_OK);
    }
    /** What is read of the mask, and not declared. */
    int64_t undeclared(const char *declaration, polytile_host_function *host, T constant) {
        polytile_kernel *kernel = nullptr;
        polytile_implementation made = {};
        made.host = host;
        made.user = &constant;
        polytile_check_report report = {};
        EXPECT_EQ(polytile_kernel_create(context_.ctx, declaration, &made, &kernel), POLYTILE_OK);
        EXPECT_EQ(polytile_check_run(context_.open("host"), kernel, POLYTILE_EXTENTS(19999),
                                     polytile_kernel_get_n_arrays(kernel), arrays_, nullptr,
                                     &report),
                  POLYTILE_INVALID);
        EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED) << context_.error();
        EXPECT_EQ(report.array, 1) << context_.error();
        return report.element[0] - report.threads.range[0].lo;
    }
    static constexpr T rare = 57;

  private:
    Context context_;
    std::vector<float> a_ = std::vector<float>(20000, 3), b_ = std::vector<float>(20000);
    std::vector<T> mask_ = std::vector<T>(20000, 1);
    polytile_array *arrays_[3] = {};
};

template <class T> void sees_comparisons(polytile_type type) {
    Masked<T> of(type);
    EXPECT_EQ(of.undeclared("mask[i]: in A[i], m[i]; out B[i]", choose<T, false>, 0), 1) << type;
    EXPECT_EQ(of.undeclared("mask[i]: in A[i], m[i]; out B[i]", choose<T, false>, Masked<T>::rare),
              1)
        << type;
    of.undeclared("flag[i]: in A[i], m[5]; out B[i]", choose<T, true>, 0);
    of.undeclared("flag[i]: in A[i], m[5]; out B[i]", choose<T, true>, 1);
}

/** With zero, and with a value that is rare. */
TEST(AccessCheck, SeesWhatIsOnlyComparedWithAValue) {
    sees_comparisons<int8_t>(POLYTILE_I8);
    sees_comparisons<int16_t>(POLYTILE_I16);
    sees_comparisons<int32_t>(POLYTILE_I32);
    sees_comparisons<int64_t>(POLYTILE_I64);
    sees_comparisons<uint8_t>(POLYTILE_U8);
    sees_comparisons<uint16_t>(POLYTILE_U16);
    sees_comparisons<uint32_t>(POLYTILE_U32);
    sees_comparisons<uint64_t>(POLYTILE_U64);
    sees_comparisons<float>(POLYTILE_F32);
    sees_comparisons<double>(POLYTILE_F64);
}

TEST_F(AccessCheckLines, TablesHoldTheirValues) {
    const auto gather = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            at(views[2], i) = at(views[1], static_cast<int64_t>(at(views[0], i)));
    };
    EXPECT_EQ(check("gather[i]: in x[i], y[0:19]; out z[i]", gather, 200), POLYTILE_OK)
        << context.error();
    EXPECT_EQ(check("gather[i]: in x[i], y[0:18]; out z[i]", gather, 200), POLYTILE_INVALID);
    EXPECT_EQ(report.array, 1);
    EXPECT_EQ(report.element[0], 19);
}

TEST_F(AccessCheckLines, WhatARelationLeavesOutIsNotToBeWritten) {
    const auto fill = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            if (i % 3 != 1)
                at(views[1], i) = at(views[0], i);
    };
    EXPECT_EQ(check("fill[i]: in x[i]; out {[i] -> y[e] : e = i and i mod 3 != 1}", fill, 200),
              POLYTILE_OK)
        << context.error();
    EXPECT_EQ(check("fill[i]: in x[i]; out {[i] -> y[e] : e = i and i mod 3 = 0}", fill, 200),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_WRITES_UNDECLARED);
    EXPECT_EQ(report.element[0], 2);
    EXPECT_EQ(check("fill[i]: in x[i]; out y[i]", fill, 200), POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_LEAVES_UNWRITTEN);
    EXPECT_EQ(report.element[0], 1);
}

/** Which is not told from an element that is not written. */
TEST_F(AccessCheckLines, WhatZeroIsAddedToIsSaidToHoldWhatItHeld) {
    const auto accumulate = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            at(views[1], i) += at(views[0], i) * static_cast<float>(i);
    };
    EXPECT_EQ(check("accumulate[i]: in x[i]; out y[i]", accumulate, 200), POLYTILE_INVALID);
    expect_says("thread [0] does not write y[0], or writes what it held, and it is declared to be "
                "overwritten there: out y[i]; declare it inout if what it holds is read or kept");
    EXPECT_EQ(check("accumulate[i]: in x[i]; inout y[i]", accumulate, 200), POLYTILE_OK)
        << context.error();
}

/** Adds neighbours within boxes of eight threads, as threads of a block may. */
TEST_F(AccessCheckLines, BlocksAreLookedAtWhole) {
    const auto pairs = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            at(views[1], i) = at(views[0], i) + at(views[0], i ^ 7);
    };
    const int64_t eight = 8, four = 4;
    polytile_launch_options options = {};
    options.plan.block = &eight;
    EXPECT_EQ(check("pairs[i]: in x[i]; out y[i]", pairs, 200, &options), POLYTILE_OK)
        << context.error();
    options.plan.block = &four;
    EXPECT_EQ(check("pairs[i]: in x[i]; out y[i]", pairs, 200, &options), POLYTILE_INVALID);
    EXPECT_EQ(report.threads.range[0].hi - report.threads.range[0].lo, 3);
    expect_says(" depends on it), and it is not declared to be read there: in x[i]");
    expect_says("pairs: its declaration is wrong: the threads [");
}

TEST_F(AccessCheckLines, LaunchersAreCheckedAsFunctionsAre) {
    polytile_implementation made = {};
    made.host_launcher = [](const polytile_sub_kernel *launch) {
        for (int64_t i = launch->threads->range[0].lo; i <= launch->threads->range[0].hi; i++)
            at(launch->views[1], i) = at(launch->views[0], i) + at(launch->views[0], i + 1);
        return launch->threads->range[0].hi == 250 ? 3 : 0;
    };
    EXPECT_EQ(check("next[i]: in x[i:i+1]; out y[i]", made, 200), POLYTILE_OK) << context.error();
    EXPECT_EQ(check("next[i]: in x[i]; out y[i]", made, 200), POLYTILE_INVALID);
    expect_says("reads x[");
    EXPECT_EQ(check("next[i]: in x[i:i+1]; out y[i]", made, 251), POLYTILE_DEVICE);
    expect_says("next: the launcher returned 3 for the threads [");
}

TEST_F(AccessCheckLines, RefusesWhatCannotRun) {
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_kernel_create(context.ctx, "add[i]: in x[i], y[i]; out z[i]", &add_kernel,
                                     &kernel),
              POLYTILE_OK);
    const polytile_domain threads = *POLYTILE_EXTENTS(100), *domain = &threads;
    EXPECT_EQ(polytile_check_run(nullptr, kernel, domain, polytile_kernel_get_n_arrays(kernel),
                                 arrays, nullptr, nullptr),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_check_run(device, kernel, nullptr, polytile_kernel_get_n_arrays(kernel),
                                 arrays, nullptr, nullptr),
              POLYTILE_INVALID);
    expect_says("add: the launch domain is NULL");
    EXPECT_EQ(polytile_check_run(device, nullptr, domain, polytile_kernel_get_n_arrays(nullptr),
                                 arrays, nullptr, nullptr),
              POLYTILE_INVALID);
    expect_says("host: the kernel is NULL");
    EXPECT_EQ(polytile_check_run(device, kernel, domain, 0, nullptr, nullptr, nullptr),
              POLYTILE_INVALID);
    expect_says("add: the list of arrays is NULL");
    EXPECT_EQ(polytile_check_use(device, kernel, domain, polytile_kernel_get_n_arrays(kernel),
                                 arrays, nullptr, nullptr),
              POLYTILE_INVALID);
    expect_says("uses is NULL");
    EXPECT_EQ(polytile_check_run(device, kernel, POLYTILE_EXTENTS(400),
                                 polytile_kernel_get_n_arrays(kernel), arrays, nullptr, nullptr),
              POLYTILE_DECLARATION);
    polytile_queue *queue = nullptr;
    ASSERT_EQ(polytile_queue_create(context.ctx, "host", &queue), POLYTILE_OK);
    EXPECT_EQ(polytile_check_run(polytile_queue_get_device(queue), kernel, domain,
                                 polytile_kernel_get_n_arrays(kernel), arrays, nullptr, nullptr),
              POLYTILE_INVALID);
    expect_says("belongs to a queue");
}

/** Who was run last is known, should it end in a fault. */
TEST(AccessCheckAsked, ThreadsAreLoggedBeforeTheyRun) {
    Environment environment;
    environment.set("POLYTILE_LOG", "debug");
    Random random(1);
    Context context;
    Scene scene(context.ctx, case_of("smooth["), 20, &random);
    testing::internal::CaptureStderr();
    EXPECT_EQ(polytile_check_run(context.open("host"), scene.kernel, &scene.domain,
                                 static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                 nullptr, nullptr),
              POLYTILE_OK);
    const std::string log = testing::internal::GetCapturedStderr();
    const size_t box = log.find("smooth: checks what is touched by the threads ["),
                 alone = log.find("smooth: checks what is touched by thread [1]\n");
    EXPECT_NE(box, std::string::npos) << log;
    EXPECT_NE(alone, std::string::npos) << log;
    EXPECT_LT(box, alone);
}

TEST(AccessCheckAsked, RunsAreRefusedBeforeAnythingIsWritten) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "access");
    Random random(1);
    for (const char *text : {"host", "host(memory=64KiB)"}) {
        Context context;
        Case of = case_of("heat[");
        Scene right(context.ctx, of, 9, &random);
        of.declaration = "heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k]; out B[i, j, k]";
        Scene wrong(context.ctx, of, 9, &random);
        polytile_device *device = context.open(text);
        EXPECT_EQ(polytile_run(device, wrong.kernel, &wrong.domain,
                               static_cast<int>(wrong.arrays.size()), wrong.arrays.data(), nullptr),
                  POLYTILE_INVALID);
        EXPECT_NE(context.error().find("heat: its declaration is wrong: thread [1, 1, 1] reads "
                                       "A[1, 1, 0] (B[1, 1, 1] depends on it)"),
                  std::string::npos)
            << context.error();
        EXPECT_EQ(wrong.memory, wrong.before);
        EXPECT_TRUE(polytile_array_is_complete(wrong.arrays[1]));
        EXPECT_EQ(polytile_run(device, right.kernel, &right.domain,
                               static_cast<int>(right.arrays.size()), right.arrays.data(), nullptr),
                  POLYTILE_OK)
            << context.error();
        EXPECT_NE(right.memory, right.before);
    }
}

} // namespace
