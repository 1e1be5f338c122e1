#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

extern "C" {
#include "partition/show/json_write.h"
}

namespace {

const polytile_domain box = {2, {{1, 7, 2}, {-3, 4, 1}}};

json_t *make_object() {
    const pti_json_member members[] = {
        {"box", pti_json_box(&box)},  {"steps", pti_json_bounds(&box, PTI_JSON_STEP)},
        {"none", pti_json_real(NAN)}, {"some", pti_json_real(0.1)},
        {nullptr, nullptr},
    };
    const pti_json_member further[] = {{"name", pti_json_name("n\xff")}, {nullptr, nullptr}};
    return pti_json_extend(pti_json_extend(json_object(), members), further);
}

pti_text write_document() {
    pti_text text = {};
    const int64_t numbers[] = {1, 2};
    pti_text_add(&text, "{\n");
    pti_json_write_members(&text, make_object());
    pti_text_add(&text, "  \"list\": [");
    pti_json_write_entry(&text, pti_json_numbers(2, numbers), true);
    pti_json_write_entry(&text, pti_json_append(json_array(), json_true()), false);
    pti_text_add(&text, "]\n}\n");
    return text;
}

TEST(JsonWrite, HasAMemberOrAnEntryALine) {
    pti_text text = write_document();
    ASSERT_FALSE(text.failed);
    EXPECT_STREQ(text.data, "{\n"
                            "  \"box\": {\"lo\": [1, -3], \"hi\": [7, 4]},\n"
                            "  \"steps\": [2, 1],\n"
                            "  \"none\": null,\n"
                            "  \"some\": 0.1,\n"
                            "  \"name\": \"n?\",\n"
                            "  \"list\": [\n"
                            "    [1, 2],\n"
                            "    [true]]\n"
                            "}\n");
    pti_text_free(&text);
}

int allocations_left, n_held;

void *fail_after_a_while(size_t n_bytes) {
    void *memory = allocations_left-- > 0 ? malloc(n_bytes) : nullptr;
    n_held += memory != nullptr;
    return memory;
}

void give_back(void *memory) {
    n_held -= memory != nullptr;
    free(memory);
}

TEST(JsonWrite, ReportsEveryFailedAllocationAndKeepsNothing) {
    bool failed = true;
    int n_failures = 0;
    for (; failed && n_failures < 10000; n_failures++) {
        allocations_left = n_failures;
        n_held = 0;
        json_set_alloc_funcs(fail_after_a_while, give_back);
        pti_text text = write_document();
        json_set_alloc_funcs(malloc, free);
        failed = text.failed;
        pti_text_free(&text);
        ASSERT_EQ(n_held, 0) << n_failures;
    }
    EXPECT_FALSE(failed);
    EXPECT_GT(n_failures, 20);
}

} // namespace
