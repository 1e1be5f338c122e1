#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/braces.h"
#include "support/chain_launch.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

namespace {

const polytile_domain along = domain_of("-8:8");

/** Launches by text over arrays A, B, C of one dimension, of which some are scratch. */
class Chain {
  public:
    explicit Chain(const polytile_domain &domain = along) {
        polytile_context_create(&ctx_);
        for (int a = 0; a < 3; a++)
            polytile_array_describe(ctx_, names[a], POLYTILE_F32, &domain, &arrays_[a]);
    }
    ~Chain() { polytile_context_destroy(ctx_); }
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;

    /** name_to_array: of A, B and C, which array each stands for. */
    void add(const std::string &declaration, const polytile_domain &threads,
             const std::vector<int> &name_to_array = {0, 1, 2}) {
        polytile_kernel *&kernel = kernels_[declaration];
        if (kernel == nullptr) {
            ASSERT_EQ(polytile_kernel_create(ctx_, declaration.c_str(), nullptr, &kernel),
                      POLYTILE_OK)
                << error();
        }
        operands_.emplace_back();
        for (int p = 0; p < polytile_kernel_get_n_arrays(kernel); p++)
            operands_.back().push_back(
                arrays_[name_to_array[polytile_kernel_get_array_name(kernel, p)[0] - 'A']]);
        launches_.push_back(chain_launch(kernel, threads, operands_.back().data()));
    }

    /** scratch: "AB" where A and B are. */
    polytile_status check(const std::string &scratch) {
        std::vector<polytile_array *> blank;
        for (const char name : scratch)
            blank.push_back(arrays_[name - 'A']);
        const polytile_status status =
            polytile_check_chain(static_cast<int>(launches_.size()), launches_.data(),
                                 static_cast<int>(blank.size()), blank.data(), nullptr);
        polytile_last_witness(ctx_, &witness);
        return status;
    }

    std::string error() const { return polytile_last_error(ctx_); }
    /** The array of the witness: 0, 1, 2. */
    int witnessed_array() const {
        int array = 0;
        while (launches_[static_cast<size_t>(witness.launch)].arrays[witness.operand] !=
               arrays_[array])
            array++;
        return array;
    }

    polytile_witness witness = {};
    static constexpr const char *names[] = {"A", "B", "C"};

  private:
    polytile_context *ctx_ = nullptr;
    polytile_array *arrays_[3] = {};
    std::map<std::string, polytile_kernel *> kernels_;
    std::deque<std::vector<polytile_array *>> operands_;
    std::vector<polytile_chain_launch> launches_;
};

TEST(Prove, ElementsAreReadAfterALaunchHasWrittenThem) {
    struct Case {
        std::vector<const char *> launches; /* declarations, over -4:4 */
        const char *scratch;
        const char *says; /* "" where all are written */
    };
    const Case cases[] = {
        {{"k[i]: in A[i]; out B[i]"}, "", ""},
        {{"k[i]: in A[i]; out B[i]"}, "B", ""},
        {{"k[i]: in A[i]; out B[i]"}, "A", "k: thread [-4] reads A[-4] (in A[i]), but A has no"},
        {{"k[i]: in A[i]; out B[i]", "l[i]: in B[i]; out C[i]"}, "B", ""},
        {{"k[i]: in A[i]; out B[i]", "l[i]: in B[i-1:i+1]; out C[i]"},
         "B",
         "launch 2 of 2: l: thread [-4] reads B[-5] (in B[i-1:i+1])"},
        {{"k[i]: in A[i]; out B[2*i]", "l[i]: in B[i]; out C[i]"}, "B", "thread [-3] reads B[-3]"},
        {{"k[i]: in A[i]; out B[2*i]", "k[i]: out {[i] -> B[a] : a = 2*i+1 and a < 8}",
          "l[i]: in B[i]; out C[i]"},
         "B",
         ""},
        {{"k[i]: out {[i] -> B[a] : a = i and i mod 3 = 0}",
          "l[i]: in {[i] -> B[a] : a = i and i mod 3 = 0}; out C[i]"},
         "B",
         ""},
        {{"k[i]: out {[i] -> B[a] : a = i and i mod 3 = 0}",
          "l[i]: in {[i] -> B[a] : a = i and i mod 3 <= 1}; out C[i]"},
         "B",
         "reads B[-2]"},
        {{"k[i]: inout B[i]"}, "B", "thread [-4] reads B[-4] (inout B[i])"},
        {{"k[i]: out sum B[0:1]", "l[i]: sum B[1]"}, "B", ""},
        {{"k[i]: sum B[1]"}, "B", "combines into B[1] (sum B[1])"},
        {{"k[i]: sum B[1]"}, "B", "start from the identity"},
        {{"k[i]: in A[i]; out A[i]"}, "A", "reads A[-4]"},
        {{"k[i]: in B[i:i-1]; out A[i]"}, "B", ""},
    };
    for (const Case &c : cases) {
        Chain chain;
        for (const char *launch : c.launches)
            chain.add(launch, domain_of("-4:4"));
        const polytile_status status = chain.check(c.scratch);
        EXPECT_EQ(status, c.says[0] == '\0' ? POLYTILE_OK : POLYTILE_DECLARATION) << chain.error();
        EXPECT_NE(chain.error().find(c.says), std::string::npos) << chain.error() << "\n" << c.says;
        EXPECT_EQ(chain.witness.kind,
                  status == POLYTILE_OK ? POLYTILE_WITNESS_NONE : POLYTILE_WITNESS_UNINITIALISED);
    }
}

TEST(Prove, NoAccessIsWhollyOutsideItsArrayAlsoInBraces) {
    struct Case {
        const char *declaration, *threads;
        const char *says; /* "" where none is outside */
    };
    const Case cases[] = {
        {"k[i]: in A[i+12]; out B[i]", "-4:-4", ""},
        {"k[i]: in A[i+12]; out B[i]", "-4:-3", "k: thread [-3] touches A[9], and its section has"},
        {"k[i]: in A[i-5:i+5:10]; out B[i]", "-4:4", ""},
        {"k[i]: in A[20*i-10:20*i+10:20]; out B[i]", "-4:4", "thread [-4] touches A[-70]"},
        {"k[i]: in A[-10:10:20]; out B[i]", "-4:4", "thread [-4] touches A[-10]"},
        {"k[i]: in {[i] -> A[a] : a = 3*i and i mod 2 = 0}; out B[i]", "-4:4",
         "thread [-4] touches A[-12]"},
        {"k[i]: in {[i] -> A[a] : a = 3*i and i mod 5 = 0}; out B[i]", "-4:4", ""},
        {"k[i]: in {[i] -> A[a] : i <= 2a < i + 2 and i mod 3 = 1}; out B[i]", "-4:4", ""},
        {"k[i]: in {[i] -> A[a] : a < 2*i - 5 and i mod 2 = 0}; out B[i]", "-4:4", ""},
        {"k[i]: in {[i] -> A[a] : a != i}; out B[i]", "-4:4", ""},
    };
    for (const Case &c : cases) {
        Chain chain;
        chain.add(c.declaration, domain_of(c.threads));
        const polytile_status status = chain.check("");
        EXPECT_EQ(status, c.says[0] == '\0' ? POLYTILE_OK : POLYTILE_DECLARATION)
            << c.declaration << "\n"
            << chain.error();
        EXPECT_NE(chain.error().find(c.says), std::string::npos) << chain.error() << "\n" << c.says;
        EXPECT_EQ(chain.witness.kind,
                  status == POLYTILE_OK ? POLYTILE_WITNESS_NONE : POLYTILE_WITNESS_OUTSIDE);
    }
}

TEST(Prove, AConflictNamesItsLaunchInWordsAndAsData) {
    Chain chain;
    chain.add("k[i]: in A[i]; out B[i]", domain_of("-4:4"));
    chain.add("smooth[i]: in A[i-1:i+1]; out A[i]", domain_of("-4:4"));
    EXPECT_EQ(chain.check(""), POLYTILE_CONFLICT);
    EXPECT_EQ(chain.error().find("launch 2 of 2: smooth: threads ["), 0u) << chain.error();
    EXPECT_EQ(chain.witness.kind, POLYTILE_WITNESS_CONFLICT);
    EXPECT_EQ(chain.witness.launch, 1);
    EXPECT_EQ(chain.witness.operand, 0);
    EXPECT_EQ(chain.witness.n_indices, 1);
    EXPECT_EQ(chain.witness.n_dims, 1);
    const int64_t reader = chain.witness.thread[0], writer = chain.witness.other[0];
    EXPECT_EQ(std::abs(reader - writer), 1);
    EXPECT_TRUE(chain.witness.element[0] == reader || chain.witness.element[0] == writer);
}

TEST(Prove, AWitnessLastsUntilTheNextCall) {
    Chain chain;
    chain.add("k[i]: in A[i]; out B[i]", domain_of("-4:4"));
    EXPECT_EQ(chain.check("A"), POLYTILE_DECLARATION);
    EXPECT_EQ(chain.witness.kind, POLYTILE_WITNESS_UNINITIALISED);
    EXPECT_EQ(chain.check(""), POLYTILE_OK);
    EXPECT_EQ(chain.witness.kind, POLYTILE_WITNESS_NONE);
    polytile_witness none = {};
    EXPECT_FALSE(polytile_last_witness(nullptr, &none));
    EXPECT_FALSE(polytile_last_witness(nullptr, nullptr));
}

TEST(Prove, StepsAreProvedOnceAKind) {
    Chain chain;
    for (int step = 0; step < 100000; step++)
        chain.add("k[i]: in A[i-1:i+1]; out B[i]", domain_of("-7:7"),
                  step % 2 == 0 ? std::vector<int>{0, 1, 2} : std::vector<int>{1, 0, 2});
    EXPECT_EQ(chain.check(""), POLYTILE_OK) << chain.error();
    EXPECT_EQ(chain.check("B"), POLYTILE_DECLARATION);
    EXPECT_EQ(chain.witness.launch, 1) << "what lies at the border of B was never written";
    EXPECT_EQ(chain.witness.element[0], -8);
}

TEST(Prove, WrongChainsAreRefused) {
    EXPECT_EQ(polytile_check_chain(0, nullptr, 0, nullptr, nullptr), POLYTILE_INVALID);
    const polytile_chain_launch none = {};
    EXPECT_EQ(polytile_check_chain(1, &none, 0, nullptr, nullptr), POLYTILE_INVALID);
    Chain chain;
    chain.add("k[i]: in A[i]; out B[i]", domain_of("-4:4"), {0, 0, 0});
    EXPECT_EQ(chain.check(""), POLYTILE_CONFLICT);
    EXPECT_EQ(chain.witness.kind, POLYTILE_WITNESS_CONFLICT);
    EXPECT_EQ(chain.witness.element[0], chain.witness.thread[0]);
}

/* ---- against enumeration ---- */

/** An access of array 0, 1, 2 as text and as what it means. */
struct Touch {
    int name;
    bool reads, writes;
    std::function<bool(int64_t thread, int64_t element)> has;
    std::string text;
};

Touch random_section(Random *random, int name, const char *role, bool one_element) {
    const int64_t lo = random->number(-2, 2), hi = one_element ? lo : lo + random->number(0, 4);
    const int64_t step = one_element ? 1 : random->number(1, 3);
    const std::string text = std::string(Chain::names[name]) + "[i+" + std::to_string(lo) + ":i+" +
                             std::to_string(hi) + ":" + std::to_string(step) + "]";
    return {name, false, false,
            [=](int64_t thread, int64_t element) {
                const int64_t along_section = element - thread - lo;
                return along_section >= 0 && element - thread <= hi && along_section % step == 0;
            },
            std::string(role) + " " + text};
}

Touch random_braces(Random *random, int name, const char *role, bool alone) {
    const RandomBraces braces(random, 1, 1, Chain::names[name], alone);
    return {name, false, false,
            [=](int64_t thread, int64_t element) { return braces.has({thread}, {element}); },
            std::string(role) + " " + braces.text()};
}

struct RandomKernel {
    std::vector<Touch> touches;
    std::string text = "k[i]: ";
};

/** One written array, and others that are read. */
RandomKernel random_kernel(Random *random) {
    RandomKernel kernel;
    const int written = static_cast<int>(random->number(0, 2));
    const int64_t kind = random->one_of({0, 0, 0, 0, 1, 2, 3});
    static const char *const roles[] = {"out", "inout", "sum", "out sum"};
    kernel.touches.push_back(kind < 2 && random->chance(40)
                                 ? random_braces(random, written, roles[kind], true)
                                 : random_section(random, written, roles[kind], kind < 2));
    kernel.touches.back().writes = true;
    kernel.touches.back().reads = kind == 1 || kind == 2;
    for (int64_t n = random->number(0, 2); n > 0; n--) {
        const int read = static_cast<int>((written + random->number(1, 2)) % 3);
        kernel.touches.push_back(random->chance(40) ? random_braces(random, read, "in", false)
                                                    : random_section(random, read, "in", false));
        kernel.touches.back().reads = true;
    }
    for (size_t t = 0; t < kernel.touches.size(); t++)
        kernel.text += (t == 0 ? "" : "; ") + kernel.touches[t].text;
    return kernel;
}

/** Elements with a value, by array. */
using Values = std::set<std::pair<int, int64_t>>;

struct RandomLaunchOf {
    RandomKernel kernel;
    polytile_domain threads;
    std::vector<int> name_to_array;

    bool reads(int64_t thread, int array, int64_t element) const {
        for (const Touch &touch : kernel.touches)
            if (touch.reads && name_to_array[static_cast<size_t>(touch.name)] == array &&
                touch.has(thread, element))
                return true;
        return false;
    }

    template <class Visit> void for_each(bool Touch::*kind, Visit visit) const {
        for (const Touch &touch : kernel.touches)
            for (int64_t i = threads.range[0].lo; touch.*kind && i <= threads.range[0].hi; i++)
                for (int64_t e = along.range[0].lo; e <= along.range[0].hi; e++)
                    if (touch.has(i, e))
                        visit(name_to_array[static_cast<size_t>(touch.name)], e);
    }
};

TEST(ProveRandom, ChainsAreJudgedAsByEnumeration) {
    Random random(test_seed("ProveRandom.ChainsAreJudgedAsByEnumeration"));
    int64_t n_proved = 0, n_refused = 0, n_outside = 0;
    for (int64_t round = scaled(1500); round > 0 && !HasFatalFailure();) {
        static const char *const scratches[] = {"A", "AB", "ABC", "B"};
        const std::string scratch = scratches[random.number(0, 3)];
        std::vector<RandomLaunchOf> launches;
        Chain chain;
        std::string text = "scratch " + scratch;
        for (int64_t n = random.number(1, 6); n > 0; n--) {
            const int64_t lo = random.number(-5, 2);
            const std::string threads =
                std::to_string(lo) + ":" + std::to_string(lo + random.number(0, 6));
            const int turn = static_cast<int>(random.one_of({0, 0, 1, 2}));
            launches.push_back({random_kernel(&random),
                                domain_of(threads),
                                {turn, (1 + turn) % 3, (2 + turn) % 3}});
            chain.add(launches.back().kernel.text, launches.back().threads,
                      launches.back().name_to_array);
            text += "\n" + launches.back().kernel.text + " over " + threads + " turned by " +
                    std::to_string(turn);
        }
        const polytile_status status = chain.check(scratch);
        const polytile_witness &witness = chain.witness;
        if (status == POLYTILE_CONFLICT || status == POLYTILE_UNSUPPORTED)
            continue;
        const auto launch = static_cast<size_t>(witness.launch);
        if (witness.kind == POLYTILE_WITNESS_OUTSIDE) {
            bool touched = false;
            for (const Touch &touch : launches[launch].kernel.touches)
                touched =
                    touched || (launches[launch].name_to_array[static_cast<size_t>(touch.name)] ==
                                    chain.witnessed_array() &&
                                touch.has(witness.thread[0], witness.element[0]));
            ASSERT_TRUE(touched) << text << "\n" << chain.error();
            ASSERT_TRUE(witness.element[0] < -8 || witness.element[0] > 8) << chain.error();
            n_outside++;
            continue;
        }
        Values values;
        std::optional<size_t> expected;
        for (size_t l = 0; l < launches.size() && !expected; l++) {
            launches[l].for_each(&Touch::reads, [&](int array, int64_t element) {
                if (scratch.find(Chain::names[array]) != std::string::npos &&
                    values.count({array, element}) == 0)
                    expected = l;
            });
            if (!expected)
                launches[l].for_each(&Touch::writes, [&](int array, int64_t element) {
                    values.insert({array, element});
                });
        }
        ASSERT_EQ(status, expected ? POLYTILE_DECLARATION : POLYTILE_OK) << text << "\n"
                                                                         << chain.error();
        if (expected) {
            ASSERT_EQ(witness.kind, POLYTILE_WITNESS_UNINITIALISED) << chain.error();
            ASSERT_EQ(launch, *expected) << text << "\n" << chain.error();
            const int array = chain.witnessed_array();
            const int64_t thread = witness.thread[0], element = witness.element[0];
            ASSERT_TRUE(launches[launch].reads(thread, array, element)) << text << chain.error();
            ASSERT_EQ(values.count({array, element}), 0u) << text << chain.error();
            ASSERT_GE(thread, launches[launch].threads.range[0].lo);
            ASSERT_LE(thread, launches[launch].threads.range[0].hi);
        }
        (expected ? n_refused : n_proved)++;
        round--;
    }
    EXPECT_GE(n_proved, least_count(scaled(1500), 0.13));
    EXPECT_GE(n_refused, least_count(scaled(1500), 0.65));
    std::printf("proved %lld, refused %lld, outside %lld\n", static_cast<long long>(n_proved),
                static_cast<long long>(n_refused), static_cast<long long>(n_outside));
}

} // namespace
