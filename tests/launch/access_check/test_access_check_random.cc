#include "support/mixture.h"
#include "support/random_instance.h"
#include "support/scale.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <type_traits>
#include <vector>

/* Random declarations, each with a kernel that touches just what is declared and lets all of it
 * show, and mutations of the declaration, which the kernel knows nothing of. */

namespace {

const polytile_scalar types[] = {POLYTILE_I8,  POLYTILE_I16, POLYTILE_I32, POLYTILE_I64,
                                 POLYTILE_U8,  POLYTILE_U16, POLYTILE_U32, POLYTILE_U64,
                                 POLYTILE_F32, POLYTILE_F64};

uint64_t mix(uint64_t value, uint64_t bits) {
    value = (value ^ bits) * 0x9E3779B97F4A7C15u;
    return value ^ (value >> 29);
}

template <class T> T combined(polytile_role role, T before, T value) {
    switch (role) {
    case POLYTILE_MIN:
        return std::min(before, value);
    case POLYTILE_MAX:
        return std::max(before, value);
    default:
        return value;
    }
}

/** Numbers that a float holds exactly; none leaves what it is combined with as it was, nor is it
 * what arrays hold at first, whose third bits are set. */
template <class T> T number_of(uint64_t value) {
    if (std::is_floating_point<T>::value)
        return static_cast<T>(value >> 44) + 2;
    return static_cast<T>((value >> 20 | 3) & ~uint64_t{4});
}

/** Integers of any type wrap. */
template <class T> T sum_of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
        return a + b;
}

template <class T> T product_of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    else
        return a * b;
}

template <class T> void write_as(polytile_role role, uint64_t value, void *element) {
    T before;
    std::memcpy(&before, element, sizeof before);
    T after = combined(role, before, number_of<T>(value));
    if (role == POLYTILE_OUT && value % 8 == 0)
        after = 0;
    if (role == POLYTILE_SUM)
        after = sum_of(before, number_of<T>(value));
    if (role == POLYTILE_PROD)
        after = product_of(before, number_of<T>(value));
    std::memcpy(element, &after, sizeof after);
}

void write(polytile_type type, polytile_role role, uint64_t value, void *element) {
    switch (type) {
    case POLYTILE_I8:
        return write_as<int8_t>(role, value, element);
    case POLYTILE_I16:
        return write_as<int16_t>(role, value, element);
    case POLYTILE_I32:
        return write_as<int32_t>(role, value, element);
    case POLYTILE_I64:
        return write_as<int64_t>(role, value, element);
    case POLYTILE_U8:
        return write_as<uint8_t>(role, value, element);
    case POLYTILE_U16:
        return write_as<uint16_t>(role, value, element);
    case POLYTILE_U32:
        return write_as<uint32_t>(role, value, element);
    case POLYTILE_U64:
        return write_as<uint64_t>(role, value, element);
    case POLYTILE_F32:
        return write_as<float>(role, value, element);
    default:
        return write_as<double>(role, value, element);
    }
}

/** What threads touch by accesses over arrays, element by element. */
class Accesses {
  public:
    Accesses(const RandomLaunch &launch, const std::vector<pti_access> &all)
        : accesses(all), domains_(launch.array_domains()),
          parameter_(launch.parameters()[0].value) {}

    polytile_domain section_of(const pti_access &access, const Point &thread) const {
        const polytile_domain &array = domains_[static_cast<size_t>(access.array)];
        polytile_domain box = {}, common;
        box.n_dims = access.n_dims;
        for (int d = 0; d < access.n_dims; d++) {
            const polytile_subscript &subscript = access.subscript[d];
            const int64_t lo =
                subscript.from_first ? array.range[d].lo : value_at(subscript.lo, thread);
            const int64_t hi =
                subscript.to_last ? array.range[d].hi : value_at(subscript.hi, thread);
            box.range[d] = pti_range(lo, hi, subscript.step);
        }
        return !pti_box_is_empty(&box) && pti_box_intersect(&box, &array, &common)
                   ? common
                   : pti_box_empty(access.n_dims);
    }

    using Names = std::set<std::pair<int, Point>>;

    Names touched(const Point &thread, bool (*counts)(const pti_access &)) const {
        Names names;
        for (const pti_access &access : accesses)
            if (counts(access))
                for_each_point(section_of(access, thread), [&](const Point &at) {
                    names.insert({access.array, at});
                });
        return names;
    }

    std::vector<pti_access> accesses;

  private:
    int64_t value_at(const polytile_affine &affine, const Point &thread) const {
        int64_t value = affine.constant + affine.parameter[0] * parameter_;
        for (size_t k = 0; k < thread.size(); k++)
            value += affine.index[k] * thread[k];
        return value;
    }

    std::vector<polytile_domain> domains_;
    int64_t parameter_;
};

bool is_read(const pti_access &access) {
    return access.role == POLYTILE_IN || access.role == POLYTILE_INOUT;
}
bool is_written(const pti_access &access) {
    return access.role != POLYTILE_IN;
}
bool is_overwritten(const pti_access &access) {
    return access.role == POLYTILE_OUT;
}

/** The kernel of accesses: a thread mixes all that it reads, and writes the mixture. */
struct Kernel {
    Accesses of;
    std::vector<polytile_type> type;

    static char *address(const polytile_view &view, const Point &at) {
        return static_cast<char *>(address_in(view, at.data(), at.size()));
    }

    void run_thread(const Point &thread, const polytile_view *views) const {
        uint64_t value = 17;
        for (int64_t index : thread)
            value = mix(value, static_cast<uint64_t>(index));
        if (of.touched(thread, is_written).empty())
            return;
        for (const auto &[array, at] : of.touched(thread, is_read)) {
            uint64_t bits = 0;
            std::memcpy(&bits, address(views[array], at), bytes_of(array));
            value = mix(value, bits);
        }
        for (const pti_access &access : of.accesses)
            if (is_written(access))
                for_each_point(of.section_of(access, thread), [&](const Point &at) {
                    value = mix(value, 5);
                    write(type[static_cast<size_t>(access.array)], access.role, value,
                          address(views[access.array], at));
                });
    }

    size_t bytes_of(int array) const {
        return static_cast<size_t>(polytile_type_get_bytes(type[static_cast<size_t>(array)]));
    }

    polytile_implementation implementation() {
        polytile_implementation made = {};
        made.user = this;
        made.host = [](const polytile_domain *threads, const polytile_view *views, void *user) {
            for_each_point(*threads, [&](const Point &thread) {
                static_cast<const Kernel *>(user)->run_thread(thread, views);
            });
        };
        return made;
    }
};

/** Another declaration: an end moves inwards or outwards, a step, a coefficient or a role changes,
 * or an access is gone. */
bool mutate(Random *random, const RandomLaunch &launch, std::vector<pti_access> *accesses) {
    const size_t a =
        static_cast<size_t>(random->number(0, static_cast<int64_t>(accesses->size()) - 1));
    pti_access &access = (*accesses)[a];
    const int d = static_cast<int>(random->number(0, access.n_dims - 1));
    polytile_subscript &subscript = access.subscript[d];
    const polytile_range array = launch.array_domains()[static_cast<size_t>(access.array)].range[d];
    int n_alike = 0;
    for (const pti_access &other : *accesses)
        n_alike += other.array == access.array;
    switch (random->number(0, 10)) {
    case 0:
    case 1:
        if (subscript.from_first)
            subscript.lo = polytile_affine{array.lo, {}, {}};
        subscript.from_first = false;
        subscript.lo.constant += random->number(1, 2);
        return true;
    case 2:
    case 3:
        if (subscript.to_last)
            subscript.hi = polytile_affine{array.hi, {}, {}};
        subscript.to_last = false;
        subscript.hi.constant -= random->number(1, 2);
        return true;
    case 9:
        subscript.lo.constant -= subscript.from_first ? 0 : random->number(1, 2);
        return true;
    case 10:
        subscript.hi.constant += subscript.to_last ? 0 : random->number(1, 2);
        return true;
    case 4:
        subscript.step += random->number(1, 2);
        return true;
    case 5:
        if (n_alike > 1)
            accesses->erase(accesses->begin() + static_cast<std::ptrdiff_t>(a));
        return n_alike > 1;
    case 6: {
        const int k = static_cast<int>(random->number(0, launch.threads().n_dims - 1));
        const int64_t by = random->one_of({1, -1});
        subscript.lo.index[k] += subscript.from_first ? 0 : by;
        subscript.hi.index[k] += subscript.to_last ? 0 : by;
        return true;
    }
    case 7: {
        const int64_t by = random->one_of({1, -1});
        subscript.lo.constant += by;
        subscript.hi.constant += by;
        return true;
    }
    default:
        if (access.role == POLYTILE_INOUT)
            access.role = random->chance(50) ? POLYTILE_IN : POLYTILE_OUT;
        else if (access.role == POLYTILE_OUT)
            access.role = POLYTILE_IN;
        else if (access.role == POLYTILE_IN && random->chance(30))
            access.role = POLYTILE_OUT;
        return true;
    }
}

/** Arrays in memory, a device, and what the kernel really touches. */
class Scene {
  public:
    Scene(polytile_context *ctx, Random *random, const RandomLaunch &launch)
        : ctx_(ctx), launch_(launch), kernel_{Accesses(launch, launch.accesses()), {}} {
        const auto &domains = launch.array_domains();
        memory_.resize(domains.size());
        arrays_.resize(domains.size());
        for (size_t a = 0; a < domains.size(); a++) {
            const polytile_type type = types[random->number(0, 9)];
            kernel_.type.push_back(type);
            memory_[a].resize(
                static_cast<size_t>(pti_box_count(&domains[a]) * polytile_type_get_bytes(type)));
            for (unsigned char &byte : memory_[a])
                byte = static_cast<unsigned char>(random->number(0, 63) | 4);
            EXPECT_EQ(polytile_array_wrap_domain(ctx, name_of(a).c_str(), type, &domains[a],
                                                 memory_[a].data(), &arrays_[a]),
                      POLYTILE_OK);
        }
        before_ = memory_;
        EXPECT_EQ(polytile_device_open(ctx, "host", &device_), POLYTILE_OK);
    }
    ~Scene() {
        EXPECT_EQ(memory_, before_);
        for (polytile_array *array : arrays_)
            polytile_array_destroy(array);
        polytile_device_close(device_);
    }

    /** Check the kernel with accesses as its declaration. */
    polytile_status check(const std::vector<pti_access> &accesses, polytile_check_report *report) {
        polytile_kernel *kernel = declare(accesses);
        polytile_launch_options options = {};
        options.n_parameters = 1;
        options.parameters = launch_.parameters().data();
        *report = {};
        if (kernel == nullptr)
            return POLYTILE_DECLARATION;
        const polytile_status status =
            polytile_check_run(device_, kernel, &launch_.threads(),
                               static_cast<int>(arrays_.size()), arrays_.data(), &options, report);
        polytile_kernel_destroy(kernel);
        return status;
    }

    /** What a thread really does that is not declared, or not what is declared, by enumeration. */
    polytile_violation truth(const std::vector<pti_access> &accesses) const {
        const Accesses declared(launch_, accesses);
        polytile_violation found = POLYTILE_NO_VIOLATION;
        for_each_point(launch_.threads(), [&](const Point &thread) {
            const Accesses::Names written = kernel_.of.touched(thread, is_written);
            const Accesses::Names may_write = declared.touched(thread, is_written);
            if (!includes(written, to_overwrite(declared, thread)))
                found = POLYTILE_LEAVES_UNWRITTEN;
            if (!written.empty() &&
                !includes(declared.touched(thread, is_read), kernel_.of.touched(thread, is_read)))
                found = POLYTILE_READS_UNDECLARED;
            if (!includes(may_write, written))
                found = POLYTILE_WRITES_UNDECLARED;
        });
        return found;
    }

    /** Whether a thread of those that are reported does what is reported, by enumeration. */
    bool is_true(const std::vector<pti_access> &accesses,
                 const polytile_check_report &report) const {
        const Accesses declared(launch_, accesses);
        const int n_dims = launch_.array_domains()[static_cast<size_t>(report.array)].n_dims;
        const std::pair<int, Point> name = {report.array,
                                            Point(report.element, report.element + n_dims)};
        bool is = false;
        for_each_point(report.threads, [&](const Point &thread) {
            const auto does = [&](bool (*counts)(const pti_access &)) {
                return kernel_.of.touched(thread, counts).count(name) > 0;
            };
            const auto may = [&](bool (*counts)(const pti_access &)) {
                return declared.touched(thread, counts).count(name) > 0;
            };
            switch (report.violation) {
            case POLYTILE_READS_UNDECLARED:
                is = is || (does(is_read) && !may(is_read));
                break;
            case POLYTILE_WRITES_UNDECLARED:
                is = is || (does(is_written) && !may(is_written));
                break;
            default:
                is = is || (to_overwrite(declared, thread).count(name) > 0 && !does(is_written));
            }
        });
        return is;
    }

  private:
    static std::string name_of(size_t array) {
        return std::string(1, static_cast<char>('A' + array));
    }
    /** What is declared to be read, too, has its value, and may be left. */
    static Accesses::Names to_overwrite(const Accesses &declared, const Point &thread) {
        const Accesses::Names read = declared.touched(thread, is_read);
        Accesses::Names names;
        for (const auto &name : declared.touched(thread, is_overwritten))
            if (read.count(name) == 0)
                names.insert(name);
        return names;
    }
    static bool includes(const Accesses::Names &all, const Accesses::Names &some) {
        return std::includes(all.begin(), all.end(), some.begin(), some.end());
    }

    polytile_kernel *declare(const std::vector<pti_access> &accesses) {
        static const char *const indices[] = {"i", "j", "k", "l"};
        static const char *const parameters[] = {"n"};
        polytile_declaration *declaration = nullptr;
        polytile_kernel *kernel = nullptr;
        const polytile_implementation implementation = kernel_.implementation();
        EXPECT_EQ(polytile_declaration_create(ctx_, "random", launch_.threads().n_dims, indices, 1,
                                              parameters, &declaration),
                  POLYTILE_OK);
        for (const pti_access &access : accesses)
            if (polytile_declaration_add(declaration, access.role, access.fresh,
                                         name_of(static_cast<size_t>(access.array)).c_str(),
                                         access.n_dims, access.subscript) != POLYTILE_OK)
                return nullptr;
        polytile_kernel_create_from(declaration, &implementation, &kernel);
        polytile_declaration_destroy(declaration);
        return kernel;
    }

    polytile_context *ctx_;
    const RandomLaunch &launch_;
    Kernel kernel_;
    std::vector<std::vector<unsigned char>> memory_, before_;
    std::vector<polytile_array *> arrays_;
    polytile_device *device_ = nullptr;
};

/** What became of declarations. */
struct Counts {
    int64_t n_right = 0, n_refused = 0, n_harmless = 0;
    int64_t n_found = 0, n_alone = 0; /* of the latter one thread is named */
    std::map<polytile_violation, int64_t> n_caught;
    int64_t n_narrowed() {
        return n_caught[POLYTILE_READS_UNDECLARED] + n_caught[POLYTILE_WRITES_UNDECLARED];
    }
};

void try_mutation(Random *random, polytile_context *ctx, const RandomLaunch &launch, Scene *scene,
                  Counts *counts) {
    std::vector<pti_access> accesses = launch.accesses();
    polytile_check_report report;
    if (!mutate(random, launch, &accesses))
        return;
    const polytile_status status = scene->check(accesses, &report);
    const bool is_refused = status != POLYTILE_OK && report.violation == POLYTILE_NO_VIOLATION;
    if (is_refused) {
        counts->n_refused++;
        return;
    }
    const polytile_violation truth = scene->truth(accesses);
    EXPECT_EQ(report.violation != POLYTILE_NO_VIOLATION, truth != POLYTILE_NO_VIOLATION)
        << launch.declaration_text() << "\n"
        << "should be " << truth << " and is " << report.violation << ": "
        << polytile_last_error(ctx);
    if (report.violation != POLYTILE_NO_VIOLATION) {
        EXPECT_TRUE(scene->is_true(accesses, report)) << launch.declaration_text() << "\n"
                                                      << polytile_last_error(ctx);
        counts->n_alone += pti_box_count(&report.threads) == 1;
        counts->n_found++;
    }
    counts->n_harmless += truth == POLYTILE_NO_VIOLATION;
    if (truth != POLYTILE_NO_VIOLATION)
        counts->n_caught[truth]++;
}

/** Only where something is read and something written can all of a declaration be wrong. */
bool reads_and_writes(const RandomLaunch &launch) {
    const auto &all = launch.accesses();
    return std::any_of(all.begin(), all.end(), is_read) &&
           std::any_of(all.begin(), all.end(), is_written);
}

void try_launch(Random *random, polytile_context *ctx, const RandomLaunch &launch, Counts *counts) {
    Scene scene(ctx, random, launch);
    polytile_check_report report;
    const polytile_status status = scene.check(launch.accesses(), &report);
    if (status != POLYTILE_OK && report.violation == POLYTILE_NO_VIOLATION)
        return;
    EXPECT_EQ(status, POLYTILE_OK) << launch.declaration_text() << "\n" << polytile_last_error(ctx);
    counts->n_right++;
    for (int k = 0; k < 8 && !testing::Test::HasFailure(); k++)
        try_mutation(random, ctx, launch, &scene, counts);
}

TEST(AccessCheck, CatchesEveryNarrowedDeclarationAndNoRightOne) {
    Random random(test_seed("AccessCheck.CatchesEveryNarrowedDeclarationAndNoRightOne"));
    const int64_t n_wanted = scaled(2500);
    Counts counts;
    RandomShape shape;
    shape.conflict_free = true;
    shape.inexact_percent = 0;
    shape.most_operands = 3;
    shape.most_threads = 30;
    shape.most_elements = 400;
    while (counts.n_narrowed() < n_wanted && !HasFailure()) {
        polytile_context *ctx = nullptr;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        {
            const RandomLaunch launch(ctx, &random, shape);
            if (launch.is_small() && !launch.touches_outside() && reads_and_writes(launch))
                try_launch(&random, ctx, launch, &counts);
        }
        polytile_context_destroy(ctx);
    }
    std::printf(
        "%lld right declarations passed; of their mutations %lld were narrowed and caught "
        "(%lld in what is read, %lld in what is written), %lld left something unwritten, "
        "%lld changed nothing and passed, %lld were refused; one thread was named %lld times "
        "of %lld\n",
        static_cast<long long>(counts.n_right), static_cast<long long>(counts.n_narrowed()),
        static_cast<long long>(counts.n_caught[POLYTILE_READS_UNDECLARED]),
        static_cast<long long>(counts.n_caught[POLYTILE_WRITES_UNDECLARED]),
        static_cast<long long>(counts.n_caught[POLYTILE_LEAVES_UNWRITTEN]),
        static_cast<long long>(counts.n_harmless), static_cast<long long>(counts.n_refused),
        static_cast<long long>(counts.n_alone), static_cast<long long>(counts.n_found));
    EXPECT_EQ(counts.n_alone, counts.n_found);
}

} // namespace
