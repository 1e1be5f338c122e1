#include "queue/blend_test.h"
#include "support/places.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>

extern "C" {
#include "partition/prove/check.h"
bool __real_pti_schedule_check(const pti_schedule *schedule, pti_text *why);
bool __wrap_pti_schedule_check(const pti_schedule *schedule, pti_text *why);
}

/* Plans that are not proved right are never run, whichever way they come. The linker puts the
 * function here between the library and its checker, so that a plan can be made wrong. */

namespace {

/** Members of a queue prove their plans beside each other. */
struct {
    std::atomic<int> n_proofs{0};
    std::atomic<bool> spoils_next{false};
} plans;

} // namespace

/** A plan is wrong without its last operation, a launch or a download. */
bool __wrap_pti_schedule_check(const pti_schedule *schedule, pti_text *why) {
    pti_schedule given = *schedule;
    plans.n_proofs++;
    if (plans.spoils_next.exchange(false))
        given.n_ops--;
    return __real_pti_schedule_check(&given, why);
}

namespace {

constexpr int64_t n = 6000;

/** What launches that take the fields in turn leave. */
void compute(int n_launches, std::vector<float> *fields) {
    for (int l = 0; l < n_launches; l++) {
        const std::vector<float> &from = fields[l % 2];
        for (size_t i = 1; i + 1 < from.size(); i++)
            fields[1 - l % 2][i] = from[i - 1] + 2 * from[i] + from[i + 1];
    }
}

#ifdef NDEBUG
constexpr bool is_for_debugging = false;
#else
constexpr bool is_for_debugging = true;
#endif

class CertifiedPlans : public blending::BlendTest {
  protected:
    CertifiedPlans() : BlendTest(n) {}

    void SetUp() override {
        set_check("plan");
        for (size_t k = 0; k < fields[0].size(); k++)
            fields[0][k] = static_cast<float>(k % 5);
    }

    void set_check(const char *value) {
        BlendTest::set_check(value);
        plans.n_proofs = 0;
        plans.spoils_next = false;
    }

    polytile_status launch_all(polytile_queue *queue, int n_launches) {
        polytile_queue_pause(queue);
        launch_in_turn(queue, n_launches);
        return polytile_queue_wait(queue);
    }

    void expect_refusal(polytile_status status) {
        EXPECT_EQ(status, POLYTILE_INTERNAL);
        EXPECT_FALSE(plans.spoils_next);
        expect_says({"failed its own check and was not run", "please report it"});
    }
};

TEST_F(CertifiedPlans, AreProvedInBuildsForDebuggingUnlessTurnedOff) {
    const struct {
        const char *value;
        bool plan, attach;
    } cases[] = {{nullptr, is_for_debugging, false},
                 {"", is_for_debugging, false},
                 {"off", false, false},
                 {"plan", true, false},
                 {"attach", false, true},
                 {"plan,attach", true, true},
                 {"access,wide", false, false},
                 {"attach,plan", true, true}};
    for (const auto &of : cases) {
        ASSERT_NO_FATAL_FAILURE(set_check(of.value));
        EXPECT_EQ(pti_get_settings(ctx)->check_plan, of.plan) << (of.value ? of.value : "unset");
        EXPECT_EQ(pti_get_settings(ctx)->check_attach, of.attach);
    }
    for (const char *value : {"off,plan", ",access", "access,", "plan,,access", ","}) {
        environment.set("POLYTILE_CHECK", value);
        polytile_context *refused = nullptr;
        EXPECT_EQ(polytile_context_create(&refused), POLYTILE_INVALID) << value;
    }
}

TEST_F(CertifiedPlans, AreNotProvedWhereThatIsOff) {
    set_check("off");
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host(memory=8KiB)", &device), POLYTILE_OK);
    EXPECT_EQ(polytile_run(device, kernel, &domain, static_cast<int>(arrays.size()), arrays.data(),
                           nullptr),
              POLYTILE_OK);
    EXPECT_EQ(plans.n_proofs, 0);
}

TEST_F(CertifiedPlans, ThatFailAreNotRun) {
    std::vector<float> expected[] = {fields[0], fields[1]};
    compute(1, expected);
    for (const char *text : {"host", "host(memory=8KiB)"}) {
        const std::vector<float> before = fields[1];
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(ctx, text, &device), POLYTILE_OK);
        plans.spoils_next = true;
        expect_refusal(polytile_run(device, kernel, &domain, static_cast<int>(arrays.size()),
                                    arrays.data(), nullptr));
        EXPECT_EQ(fields[1], before) << text;
        ASSERT_EQ(polytile_run(device, kernel, &domain, static_cast<int>(arrays.size()),
                               arrays.data(), nullptr),
                  POLYTILE_OK);
        EXPECT_EQ(fields[1], expected[1]) << text;
        std::fill(fields[1].begin(), fields[1].end(), -1.0F);
    }
}

TEST_F(CertifiedPlans, ThatWereMadeBeforeAreProvedToo) {
    const std::vector<float> before = fields[1];
    polytile_device *device = nullptr;
    polytile_plan *plan = nullptr;
    polytile_launch_options options = {};
    options.plan.limit_bytes = 8192;
    ASSERT_EQ(polytile_device_open(ctx, "host(memory=8KiB)", &device), POLYTILE_OK);
    ASSERT_EQ(polytile_plan_create(kernel, &domain, static_cast<int>(arrays.size()), arrays.data(),
                                   &options, &plan),
              POLYTILE_OK);
    plans.spoils_next = true;
    expect_refusal(polytile_plan_run(plan, device, kernel, static_cast<int>(arrays.size()),
                                     arrays.data(), NULL));
    EXPECT_EQ(fields[1], before);
}

struct QueueCase {
    const char *devices;
    int n_launches;
};

void PrintTo(const QueueCase &of, std::ostream *out) {
    *out << of.devices << ", " << of.n_launches << " launches";
}

class CertifiedQueues : public CertifiedPlans, public testing::WithParamInterface<QueueCase> {};

INSTANTIATE_TEST_SUITE_P(Ways, CertifiedQueues,
                         testing::Values(QueueCase{"host", 1}, QueueCase{"host", 12},
                                         QueueCase{"host(memory=8KiB)", 1},
                                         QueueCase{"host(memory=8KiB)", 12},
                                         QueueCase{"host(memory=1MiB)", 12},
                                         QueueCase{"host,host", 1}, QueueCase{"host,host", 12},
                                         QueueCase{"host(memory=8KiB),host", 12}));

TEST_P(CertifiedQueues, RunNoPlanThatFails) {
    const auto [devices, n_launches] = GetParam();
    const std::vector<float> before[] = {fields[0], fields[1]};
    std::vector<float> expected[] = {fields[0], fields[1]};
    compute(n_launches, expected);
    polytile_queue *queue = open(devices);
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    plans.spoils_next = true;
    expect_refusal(launch_all(queue, n_launches));
    if (std::string(devices).find(',') == std::string::npos) {
        EXPECT_EQ(fields[0], before[0]);
        EXPECT_EQ(fields[1], before[1]);
    }
    ASSERT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
    for (int f = 0; f < 2; f++)
        fields[f] = before[f];
    const int n_before = plans.n_proofs;
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    EXPECT_EQ(launch_all(queue, n_launches), POLYTILE_OK) << error();
    ASSERT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
    EXPECT_GT(plans.n_proofs, n_before);
    EXPECT_EQ(fields[0], expected[0]);
    EXPECT_EQ(fields[1], expected[1]);
}

std::string text_of(const std::filesystem::path &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/** The executor proves what it runs; no other file tells a device to run something. */
TEST(Certified, OnlyTheExecutorHandsOperationsToDevices) {
    const std::filesystem::path root = in_source("");
    for (const auto &entry : std::filesystem::recursive_directory_iterator(root / "src"))
        for (const char *call : {"functions->submit(", "functions->run_all("})
            EXPECT_TRUE(entry.is_directory() || entry.path().filename() == "execute.c" ||
                        text_of(entry.path()).find(call) == std::string::npos)
                << entry.path() << " calls " << call;
}

} // namespace
