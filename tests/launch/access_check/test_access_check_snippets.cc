#include "launch/access_check/lines.h"

#include <polytile/polytile.h>
#include <stdio.h>

/* The calls of docs/checking.md, word by word: test_docs.cc compares them. */

namespace {

/* clang-format off */

void say_what_is_wrong(polytile_context *ctx, polytile_device *device, polytile_kernel *kernel,
                       int64_t n, polytile_array *const *arrays) {
    polytile_check_report report;
    if (polytile_check_run(device, kernel, POLYTILE_EXTENTS(n), 2, arrays, NULL, &report) !=
        POLYTILE_OK)
        fprintf(stderr, "%s\n", polytile_last_error(ctx));
    if (report.violation == POLYTILE_READS_UNDECLARED)
        fprintf(stderr, "array %d, element %lld is read\n", report.array,
                (long long)report.element[0]);
}

void say_how_much_is_read(polytile_context *ctx, polytile_device *device, polytile_kernel *kernel,
                          int64_t n, polytile_array *const *arrays) {
    polytile_use uses[2]; /* one an array of the kernel */
    if (polytile_check_use(device, kernel, POLYTILE_EXTENTS(n), 2, arrays, NULL, uses) !=
        POLYTILE_OK)
        fprintf(stderr, "%s\n", polytile_last_error(ctx));
    else
        for (int a = 0; a < 2; a++)
            printf("array %d: %lld of %lld elements that were tried are read\n", a,
                   (long long)uses[a].n_read, (long long)uses[a].n_tried);
}

/* clang-format on */

/** y[i] = x[i] + x[i+1], under a declaration. */
class AccessSnippets : public AccessCheckLines {
  protected:
    polytile_kernel *create(const char *declaration) {
        polytile_kernel *kernel = nullptr;
        polytile_implementation add_next = {};
        add_next.host = [](const polytile_domain *threads, const polytile_view *views, void *) {
            for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++)
                at(views[1], i) = at(views[0], i) + at(views[0], i + 1);
        };
        EXPECT_EQ(polytile_kernel_create(context.ctx, declaration, &add_next, &kernel), POLYTILE_OK)
            << context.error();
        return kernel;
    }
};

TEST_F(AccessSnippets, TellWhichElementIsWrong) {
    polytile_kernel *kernel = create("add_next[i]: in x[i]; out y[i]");
    testing::internal::CaptureStderr();
    say_what_is_wrong(context.ctx, device, kernel, 200, arrays);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("add_next: its declaration is wrong: thread [0] reads x[1]"), 0u) << said;
    EXPECT_NE(said.find("\narray 0, element 1 is read\n"), std::string::npos) << said;
}

TEST_F(AccessSnippets, TellHowMuchIsRead) {
    polytile_kernel *kernel = create("add_next[i]: in x[i:i+1]; inout y[i]");
    testing::internal::CaptureStdout();
    say_how_much_is_read(context.ctx, device, kernel, 200, arrays);
    fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "array 0: 208 of 208 elements that were tried are read\n"
              "array 1: 0 of 200 elements that were tried are read\n");
}

} // namespace
