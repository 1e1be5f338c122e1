#include "partition/skew/skewed.h"
#include "support/scale.h"

#include <climits>

extern "C" {
#include "partition/skew/sets.h"
}

/* What the passes of a chain move. */

namespace {

/** What the passes of a chain move, as text. */
std::string MovedBy(Skewed *skewed, int n_per_pass) {
    const pti_skew_request request = skewed->Request(1 << 20);
    std::string text;
    pti_skew_sets sets;
    EXPECT_TRUE(pti_skew_sets_find(&request, n_per_pass, INT_MAX, &sets));
    for (int p = 0; p < sets.n_passes; p++)
        for (int a = 0; a < sets.n_arrays; a++) {
            const pti_pass_sets *of = pti_skew_sets_of(&sets, p, a);
            for (const pti_boxes *set : {&of->exposed, &of->filled, &of->live}) {
                for (int k = 0; k < set->n_boxes; k++)
                    text += text_of(set->box[k]) + ";";
                text += "|";
            }
        }
    pti_skew_sets_free(&sets);
    return text;
}

/** Launches of one kernel are known to be the same, and those of equal kernels are not. */
TEST(Skew, LaunchesThatRepeatThemselvesMoveWhatAsManyOthersDo) {
    const char *const declarations[] = {"a[i, j]: in x[i-1:i+1, j]; out y[i, j]",
                                        "b[i, j]: in x[i, j]; out y[i, j]",
                                        "c[i, j]: in x[i-2:i, j], x[i, j]; inout y[i, j]"};
    const char *const threads[] = {"0:59, 0:4", "2:57, 0:4", "1:58, 1:3", "6:50, 0:4"};
    Random random(test_seed("Skew.LaunchesThatRepeatThemselvesMoveWhatAsManyOthersDo"));
    int64_t n_compared = 0;
    for (int64_t left = scaled(2000); left > 0; left--) {
        const int n_arrays = static_cast<int>(random.number(2, 4));
        const std::vector<std::string> domains(static_cast<size_t>(n_arrays), "60x5");
        std::vector<Kernel> kinds;
        for (int64_t k = random.number(1, 5); k > 0; k--) {
            const int x = static_cast<int>(random.number(0, n_arrays - 1));
            kinds.push_back({declarations[random.number(0, 2)],
                             threads[random.number(0, 3)],
                             {{"x", x}, {"y", (x + 1) % n_arrays}}});
        }
        std::vector<int> order;
        const int64_t n_launches = random.number(2, 40);
        for (int64_t l = 0; l < n_launches; l++)
            order.push_back(
                random.chance(3)
                    ? static_cast<int>(random.number(0, static_cast<int64_t>(kinds.size()) - 1))
                    : static_cast<int>(l % static_cast<int64_t>(kinds.size())));
        std::vector<Kernel> each;
        for (int kind : order)
            each.push_back(kinds[static_cast<size_t>(kind)]);
        Skewed same(domains, kinds), different(domains, each);
        if (random.chance(50)) {
            same.MakeScratch(1);
            different.MakeScratch(1);
        }
        for (int l = 0; l < static_cast<int>(n_launches); l++) {
            same.Add(order[static_cast<size_t>(l)]);
            different.Add(l);
        }
        ASSERT_EQ(same.Find(), different.Find());
        const int n_per_pass = static_cast<int>(random.number(1, n_launches));
        ASSERT_EQ(MovedBy(&same, n_per_pass), MovedBy(&different, n_per_pass));
        n_compared += same.chain().n_launches > 8;
    }
    EXPECT_GE(n_compared, least_count(scaled(2000), 0.6));
}

} // namespace
