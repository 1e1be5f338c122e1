#include "faults/scene.h"
#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <unistd.h>

extern "C" {
#include "access/isl/isl_memory.h"
}

/* Every call of a kind fails in turn, once and for ever, in each scene: what comes out is the right
 * error or the right result, inputs are as they were, nothing is left behind, and the context can
 * be used on. Points of which a scene has too many are drawn; POLYTILE_TEST_SCALE sets how many. */

namespace {

struct Fault {
    faults_kind kind;
    int64_t n; /* 0: none */
    bool for_ever;
};

/** What a signal's handler writes. */
char now[256];

void say_where(int signal) {
    (void)!write(STDERR_FILENO, now, std::strlen(now));
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/** A directory of one's own. */
class Directory {
  public:
    Directory() {
        char name[] = "/tmp/polytile-faults-XXXXXX";
        path = mkdtemp(name) == nullptr ? "." : name;
    }
    ~Directory() { std::filesystem::remove_all(path); }

    std::vector<std::string> list() const {
        std::vector<std::string> names;
        for (const auto &entry : std::filesystem::directory_iterator(path))
            names.push_back(entry.path().filename().string());
        std::sort(names.begin(), names.end());
        return names;
    }

    std::string path;
};

/** Where a call was made, for addr2line. */
std::string place(void *address) {
    Dl_info info;
    if (address == nullptr || dladdr(address, &info) == 0)
        return "?";
    char text[256];
    std::snprintf(
        text, sizeof text, "%s+0x%zx", info.dli_fname,
        static_cast<size_t>(static_cast<char *>(address) - static_cast<char *>(info.dli_fbase)));
    return text;
}

bool is_right_error(const Fault &fault, polytile_status status) {
    switch (fault.kind) {
    case FAULTS_MEMORY:
    case FAULTS_ISL_MEMORY:
        return status == POLYTILE_NO_MEMORY;
    case FAULTS_FILES:
        return status == POLYTILE_IO;
    case FAULTS_CUDA:
        return status == POLYTILE_DEVICE || status == POLYTILE_NO_FIT ||
               status == POLYTILE_UNSUPPORTED;
    case FAULTS_THREADS:
        return status == POLYTILE_DEVICE || status == POLYTILE_NO_MEMORY ||
               status == POLYTILE_NO_FIT;
    default:
        return false;
    }
}

class Repetitions {
  public:
    explicit Repetitions(const Scene &scene) : scene_(scene), stage_(directory_.path) {
        for (const auto &[name, value] : scene.environment)
            environment_.set(name, value);
        environment_.set("POLYTILE_CACHE", (directory_.path + "/cache").c_str());
        environment_.set("POLYTILE_LOG", "error");
        scene.prepare(stage_);
        /* What the C library and OpenMP make once and keep is made now. */
        perform({FAULTS_NONE, 0, false});
        for (Field &field : stage_.fields)
            field.expected = field.memory;
        destroy();
        files_ = directory_.list();
    }

    /** How many calls of a kind there are without faults. */
    int64_t count(faults_kind kind) {
        perform({kind, 0, false});
        const int64_t n = n_calls_;
        destroy();
        return n;
    }

    void repeat(const Fault &fault) {
        std::snprintf(now, sizeof now, "%s: %s %lld %s\n", scene_.name,
                      faults_kind_word(fault.kind), static_cast<long long>(fault.n),
                      fault.for_ever ? "for ever" : "once");
        const int64_t n_mappings = faults_count_mappings(), n_files = faults_count_files();
        faults_track(true);
        perform(fault);
        check(fault);
        if (stage_.ctx != nullptr)
            use_on();
        faults_arm(fault.kind, 1, true);
        destroy();
        faults_disarm();
        faults_track(false);
        expect_nothing_left(n_mappings, n_files);
    }

    const std::string &what() const { return what_; }

  private:
    void reset() {
        stage_.begin_printing();
        for (Field &field : stage_.fields) {
            std::copy(field.before.begin(), field.before.end(), field.memory.begin());
            field.array = nullptr;
        }
    }

    void perform(const Fault &fault) {
        reset();
        stage_.said.clear();
        faults_arm(fault.kind, fault.n, fault.for_ever);
        if (fault.kind == FAULTS_CUDA && stage_.let_cuda_fail)
            stage_.let_cuda_fail(fault.n);
        status_ = polytile_context_create(&stage_.ctx);
        if (status_ == POLYTILE_OK)
            status_ = scene_.perform(stage_);
        error_ = stage_.said.empty() ? polytile_last_error(stage_.ctx) : stage_.said;
        n_calls_ = faults_disarm();
        describe_strike();
        if (fault.kind == FAULTS_CUDA && stage_.stop_cuda)
            what_ = stage_.stop_cuda(&n_calls_);
    }

    void describe_strike() {
        void *frames[FAULTS_MAX_FRAMES];
        const int n_frames = faults_get_struck_at(frames);
        what_ = faults_get_struck() == nullptr ? "nothing" : faults_get_struck();
        for (int k = 0; k < n_frames; k++)
            what_ += " " + place(frames[k]);
    }

    void check(const Fault &fault) {
        const bool is_as_without = status_ == scene_.expected;
        EXPECT_TRUE(is_as_without || is_right_error(fault, status_))
            << polytile_status_text(status_) << ": " << error_;
        EXPECT_TRUE(status_ == POLYTILE_OK || error_ != "")
            << polytile_status_text(status_) << ": nothing was said";
        EXPECT_TRUE(error_.rfind(";", 0) != 0 && error_.find(": ;") == std::string::npos)
            << "the first half is empty: " << error_;
        for (const Field &field : stage_.fields) {
            if (status_ == POLYTILE_OK) {
                EXPECT_TRUE(field.memory == field.expected) << field.name << " is wrong";
            } else {
                expect_unchanged_or_marked(field);
            }
        }
    }

    static void expect_unchanged_or_marked(const Field &field) {
        if (!field.is_written) {
            EXPECT_TRUE(field.memory == field.before) << field.name << " has changed";
        } else if (field.array == nullptr || polytile_array_is_complete(field.array)) {
            EXPECT_TRUE(field.memory == field.before || field.memory == field.expected ||
                        std::count(field.between.begin(), field.between.end(), field.memory) > 0)
                << field.name << " is not marked";
        }
    }

    /** Without faults the context gives what it gave the first time. */
    void use_on() {
        reset();
        const polytile_status status = scene_.perform(stage_);
        EXPECT_EQ(status, scene_.expected)
            << "later: " << polytile_status_text(status) << ": " << polytile_last_error(stage_.ctx);
        for (const Field &field : stage_.fields)
            EXPECT_TRUE(field.memory == field.expected) << field.name << " is wrong later";
    }

    void destroy() {
        polytile_context_destroy(stage_.ctx);
        stage_.ctx = nullptr;
    }

    void expect_nothing_left(int64_t n_mappings, int64_t n_files) {
        void *at = nullptr;
        size_t n_bytes = 0;
        const int64_t n_leaks = faults_count_leaks(&at, &n_bytes);
        EXPECT_EQ(n_leaks, 0) << n_bytes << " bytes of " << place(at);
        EXPECT_EQ(faults_count_mappings(), n_mappings) << "mappings";
        EXPECT_EQ(faults_count_files(), n_files) << "open files";
        EXPECT_EQ(pti_isl_memory_get_taken_bytes(), 0u) << "of the reserve";
        EXPECT_EQ(directory_.list(), files_);
    }

    const Scene &scene_;
    Directory directory_;
    Environment environment_;
    Stage stage_;
    std::vector<std::string> files_;
    polytile_status status_ = POLYTILE_OK;
    std::string error_, what_;
    int64_t n_calls_ = 0;
};

/** Up to n_most of 1 .. n, ascending. */
std::vector<int64_t> draw(int64_t n, int64_t n_most, Random *random) {
    std::vector<int64_t> drawn;
    for (int64_t k = 1; k <= n; k++)
        if (random->number(1, n - k + 1) <= n_most - static_cast<int64_t>(drawn.size()))
            drawn.push_back(k);
    return drawn;
}

struct Case {
    Scene scene;
    faults_kind kind;
};

void PrintTo(const Case &of, std::ostream *to) {
    *to << of.scene.name << " " << faults_kind_word(of.kind);
}

class Faults : public testing::TestWithParam<Case> {
  protected:
    static void SetUpTestSuite() {
        std::setvbuf(stdout, nullptr, _IOLBF, 0);
        pti_isl_memory_source = {faults_isl_malloc, faults_isl_realloc};
        std::signal(SIGSEGV, say_where);
        std::signal(SIGABRT, say_where);
    }
    static void TearDownTestSuite() {
        std::printf("at most %zu bytes of GMP's reserve in use\n", pti_isl_memory_get_peak_bytes());
    }
};

TEST_P(Faults, EndInTheRightErrorOrTheRightResult) {
    const Case &of = GetParam();
    if (of.kind == FAULTS_ISL_MEMORY && !pti_isl_memory_is_protected())
        GTEST_SKIP() << "built without GMP's header, so that isl's numbers end the process";
    const uint64_t seed = test_seed(of.scene.name);
    Random random(seed);
    Repetitions repetitions(of.scene);
    const int64_t n_points = repetitions.count(of.kind);
    const std::vector<int64_t> points = draw(n_points, scaled(40), &random);
    std::printf("%s: %lld points of kind %s, %zu of them here\n", of.scene.name,
                static_cast<long long>(n_points), faults_kind_word(of.kind), points.size());
    int64_t n_bad = 0;
    for (int64_t n : points) {
        for (bool for_ever : {false, true}) {
            if (for_ever && (of.kind == FAULTS_INTERRUPT || of.kind == FAULTS_CUDA))
                continue;
            const int n_before =
                testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
            repetitions.repeat({of.kind, n, for_ever});
            const int n_after =
                testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
            if (n_after > n_before)
                std::printf("^ %s %s, point %lld %s: %s\n", of.scene.name,
                            faults_kind_word(of.kind), static_cast<long long>(n),
                            for_ever ? "for ever" : "once", repetitions.what().c_str());
            n_bad += n_after > n_before;
        }
        ASSERT_LT(n_bad, 10) << "and so on";
    }
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const Scene &scene : all_scenes())
        for (int kind = 1; kind < N_FAULTS_KINDS; kind++)
            if (kind != FAULTS_ISL_CONTEXT &&
                (kind != FAULTS_CUDA || std::strstr(scene.name, "OnCuda") != nullptr))
                cases.push_back({scene, static_cast<faults_kind>(kind)});
    return cases;
}

std::string name_of(const testing::TestParamInfo<Case> &info) {
    std::string word = faults_kind_word(info.param.kind);
    std::replace(word.begin(), word.end(), '-', '_');
    return std::string(info.param.scene.name) + "_" + word;
}

INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(all_cases()), name_of);

} // namespace
