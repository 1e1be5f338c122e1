#include "launch/access_check/lines.h"

extern "C" {
#include "launch/access_check/shadow_copy.h"
}

/* What differs between runs for another reason than that something else is read. */

namespace {

/** Elements as structs, of which a kernel sets what it likes. */
struct Padded {
    float x, y;
    char c;
};

/** Lines of structs, of raw bytes for the library. */
template <class T> class Structs {
  public:
    Structs() {
        const int64_t extent = 100;
        for (size_t a = 0; a < 2; a++)
            EXPECT_EQ(polytile_array_wrap(context.ctx, names_[a],
                                          POLYTILE_BYTES(static_cast<int>(sizeof(T))), 1, &extent,
                                          memory_[a].data(), &arrays_[a]),
                      POLYTILE_OK);
    }
    polytile_status check(const char *declaration, polytile_host_function *host) {
        polytile_kernel *kernel = nullptr;
        polytile_implementation made = {};
        made.host = host;
        EXPECT_EQ(polytile_kernel_create(context.ctx, declaration, &made, &kernel), POLYTILE_OK);
        return polytile_check_run(context.open("host"), kernel, POLYTILE_EXTENTS(99),
                                  polytile_kernel_get_n_arrays(kernel), arrays_, nullptr, &report);
    }
    static T *at(const polytile_view &view, int64_t i) {
        return reinterpret_cast<T *>(static_cast<char *>(view.origin) + i * view.stride_bytes[0]);
    }
    Context context;
    polytile_check_report report = {};

  private:
    static constexpr const char *names_[] = {"A", "B"};
    std::vector<T> memory_[2] = {std::vector<T>(100), std::vector<T>(100)};
    polytile_array *arrays_[2] = {};
};

void set_members(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
        const Padded *from = Structs<Padded>::at(views[0], i);
        Padded *to = Structs<Padded>::at(views[1], i);
        to->x = from->x + 1;
        to->y = from->y;
        to->c = from->c;
    }
}

TEST(AccessCheckFinding, PaddingIsNotSaidToBeRead) {
    Structs<Padded> of;
    EXPECT_EQ(of.check("set[i]: in A[i]; out B[i]", set_members), POLYTILE_INVALID);
    EXPECT_EQ(of.report.violation, POLYTILE_LEAVES_UNWRITTEN);
    EXPECT_EQ(of.context.error(),
              "set: its declaration is wrong: thread [0] does not write all bytes of B[0], and it "
              "is declared to be overwritten there: out B[i]; write the others, too, or declare it "
              "inout; if they are padding, which assigning an element may leave out, make it "
              "members of the struct, and set these (found on host)");
    EXPECT_EQ(of.check("set[i]: in A[i]; inout B[i]", set_members), POLYTILE_OK)
        << of.context.error();
}

TEST(AccessCheckFinding, AMemberThatNobodySetsIsLeft) {
    struct Pair {
        double x, y;
    };
    Structs<Pair> of;
    const auto half = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            Structs<Pair>::at(views[1], i)->y = Structs<Pair>::at(views[0], i)->y;
    };
    const auto whole = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            *Structs<Pair>::at(views[1], i) = *Structs<Pair>::at(views[0], i);
    };
    const auto next = [](const polytile_domain *threads, const polytile_view *views, void *) {
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            *Structs<Pair>::at(views[1], i) = *Structs<Pair>::at(views[0], i + 1);
    };
    EXPECT_EQ(of.check("half[i]: in A[i]; out B[i]", half), POLYTILE_INVALID);
    EXPECT_EQ(of.report.violation, POLYTILE_LEAVES_UNWRITTEN);
    EXPECT_EQ(of.check("whole[i]: in A[i]; out B[i]", whole), POLYTILE_OK) << of.context.error();
    EXPECT_EQ(of.check("next[i]: in A[i]; out B[i]", next), POLYTILE_INVALID);
    EXPECT_EQ(of.report.violation, POLYTILE_READS_UNDECLARED);
    EXPECT_EQ(of.report.element[0], 1);
}

/** The first thread whose own element of B has the small numbers of the next of A as poison. */
int64_t first_alike(polytile_context *ctx, polytile_array *const *arrays) {
    pti_shadow_copy scratch[2];
    pti_operand operand[2] = {};
    polytile_domain box = *POLYTILE_EXTENTS(5000);
    for (int a = 0; a < 2; a++) {
        operand[a].name = arrays[a]->name;
        operand[a].type = POLYTILE_U8;
        operand[a].element_bytes = 1;
        operand[a].domain = box;
        EXPECT_EQ(pti_shadow_copy_make(arrays[a], &operand[a], a, &scratch[a]), POLYTILE_OK);
        EXPECT_EQ(pti_shadow_copy_place(ctx, &scratch[a], &box, PTI_N_PATTERNS), POLYTILE_OK);
    }
    const auto is_alike = [&](int64_t i, pti_pattern pattern) {
        return *pti_shadow_copy_poison(&scratch[0], pattern, i + 1) ==
               *pti_shadow_copy_poison(&scratch[1], pattern, i);
    };
    int64_t thread = 1;
    while (!is_alike(thread, PTI_PATTERN_EVEN) || !is_alike(thread, PTI_PATTERN_ODD))
        thread++;
    EXPECT_LT(thread, 4000);
    for (pti_shadow_copy &one : scratch)
        pti_shadow_copy_free(&one);
    return thread;
}

TEST(AccessCheckFinding, WhatIsReadIsNotSaidToBeLeftBecauseItIsAlike) {
    Context context;
    const int64_t extent = 5000;
    std::vector<uint8_t> memory[2] = {std::vector<uint8_t>(5000), std::vector<uint8_t>(5000)};
    polytile_array *arrays[2];
    for (size_t a = 0; a < 2; a++)
        ASSERT_EQ(polytile_array_wrap(context.ctx, a == 0 ? "A" : "B", POLYTILE_U8, 1, &extent,
                                      memory[a].data(), &arrays[a]),
                  POLYTILE_OK);
    int64_t thread = first_alike(context.ctx, arrays);
    polytile_implementation made = {};
    made.user = &thread;
    made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
        const auto at = [&](int view, int64_t i) {
            return static_cast<uint8_t *>(views[view].origin) + i;
        };
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            *at(1, i) = i == *static_cast<const int64_t *>(user) ? *at(0, i + 1) : 7;
    };
    polytile_kernel *kernel = nullptr;
    polytile_check_report report;
    ASSERT_EQ(polytile_kernel_create(context.ctx, "alike[i]: in A[0]; out B[i]", &made, &kernel),
              POLYTILE_OK);
    EXPECT_EQ(polytile_check_run(context.open("host"), kernel, POLYTILE_EXTENTS(4999),
                                 polytile_kernel_get_n_arrays(kernel), arrays, nullptr, &report),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED) << context.error();
    EXPECT_EQ(report.element[0], thread + 1) << context.error();
}

/** Adds up from either end in turn, as threads of its own may in any order. */
int add_in_turn(const polytile_sub_kernel *launch) {
    static bool is_down = false;
    is_down = !is_down;
    const polytile_view *views = launch->views;
    const polytile_range *range = &launch->threads->range[0];
    const auto element = [](const polytile_view &view, int64_t i) {
        return reinterpret_cast<float *>(static_cast<char *>(view.origin) +
                                         i * view.stride_bytes[0]);
    };
    float sum = 0;
    for (int64_t k = 0; k <= range->hi - range->lo; k++)
        sum += 1.0f / (1 + *element(views[0], is_down ? range->hi - k : range->lo + k));
    if (launch->user != nullptr)
        sum += *element(views[0], range->hi + 1);
    *element(views[1], 0) += sum;
    return 0;
}

TEST_F(AccessCheckLines, ReductionsMayRoundInAnyOrder) {
    polytile_implementation made = {};
    made.host_launcher = add_in_turn;
    EXPECT_EQ(check("total[i]: in x[i]; out sum y[0]", made, 299), POLYTILE_OK) << context.error();
    made.user = this;
    EXPECT_EQ(check("total[i]: in x[i]; out sum y[0]", made, 299), POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED);
    EXPECT_EQ(report.array, 0);
}

TEST_F(AccessCheckLines, WhatCountsItsCallsIsNotSaidToReadAnything) {
    const auto count = [](const polytile_domain *threads, const polytile_view *views, void *) {
        static float calls = 0;
        for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
            at(views[1], i) = calls++;
    };
    EXPECT_EQ(check("count[i]: in x[i]; out y[i]", count, 200), POLYTILE_UNSUPPORTED);
    EXPECT_EQ(report.violation, POLYTILE_NO_VIOLATION);
    EXPECT_EQ(context.error(),
              "count: its declaration cannot be checked: thread [0] leaves y[0] with another value "
              "when run again on the same values; let the kernel do the same each time, without "
              "counters, clocks or a random state of its own, or do not check it (found on host)");
}

} // namespace
