#include "launch/scene.h"
#include "support/environment.h"

#include <gtest/gtest.h>

/* What a check of a kernel against its declaration finds, and what it says. */

namespace {

class Context {
  public:
    Context() { EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    ~Context() { polytile_context_destroy(ctx); }
    std::string error() const { return polytile_last_error(ctx); }
    polytile_device *open(const std::string &text) {
        polytile_device *device = nullptr;
        EXPECT_EQ(polytile_device_open(ctx, text.c_str(), &device), POLYTILE_OK) << error();
        return device;
    }
    polytile_context *ctx = nullptr;
};

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
     {1, 0},
     ""},
    {"gemm",
     "gemm[i, j, k]: in A[i, k], B[k, 0]; out sum C[i, j]",
     6,
     POLYTILE_READS_UNDECLARED,
     1,
     {0, 1},
     ""},
    {"scale", "scale[i]: out x[i]", 20, POLYTILE_READS_UNDECLARED, 0, {0}, "out x[i]"},
    {"dot",
     "dot[i]: in x[i]; in y[0]; out sum s[0]",
     20,
     POLYTILE_READS_UNDECLARED,
     1,
     {1},
     "thread [1] reads y[1] (s[0] depends on it)"},
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
    {"scale", "scale[i]: in x[i]", 20, POLYTILE_WRITES_UNDECLARED, 0, {0}, ""},
    {"add", "add[i]: in x[i], y[i]; out z[i:i]; in z[i+1:i]", 9, POLYTILE_NO_VIOLATION, 0, {}, ""},
    {"scatter",
     "scatter[i]: in x[i]; out y[3*i:3*i+1]",
     9,
     POLYTILE_LEAVES_UNWRITTEN,
     1,
     {0},
     "thread [0] does not write y[0], and it is declared to be overwritten there: out "
     "y[3*i:3*i+1]; write all of it, narrow the section, or declare it inout"},
};

TEST(AccessCheck, NamesWhatIsWrongWithDeclarations) {
    Random random(test_seed("AccessCheck.NamesWhatIsWrongWithDeclarations"));
    for (const Wrong &wrong : wrongs) {
        Context context;
        Case of = case_of(std::string(wrong.kernel) + "[");
        of.declaration = wrong.declaration;
        Scene scene(context.ctx, of, wrong.n, &random);
        polytile_check_report report;
        const polytile_status status =
            polytile_check_run(context.open("host"), scene.kernel, &scene.domain,
                               scene.arrays.data(), &scene.options, &report);
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

} // namespace
