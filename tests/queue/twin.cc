#include "queue/twin.h"

#include <algorithm>
#include <gtest/gtest.h>

extern "C" {
#include "partition/window/plan.h"
#include "partition/window/plan_chain.h"
#include "queue/queue.h"
#include "support/chain_launch.h"
}

namespace {

polytile_type unsigned_of(int64_t n_bytes) {
    return n_bytes == 1   ? POLYTILE_U8
           : n_bytes == 2 ? POLYTILE_U16
           : n_bytes == 4 ? POLYTILE_U32
                          : POLYTILE_U64;
}

size_t count_elements(const std::vector<int64_t> &extents) {
    size_t n = 1;
    for (const int64_t extent : extents)
        n *= static_cast<size_t>(extent);
    return n;
}

bool is_same(const polytile_domain &one, const polytile_domain &other) {
    for (int d = 0; d < one.n_dims; d++)
        if (one.range[d].lo != other.range[d].lo || one.range[d].hi != other.range[d].hi)
            return false;
    return one.n_dims == other.n_dims;
}

std::string text_of(const polytile_domain &box) {
    std::string text;
    for (int d = 0; d < box.n_dims; d++)
        text += std::to_string(box.range[d].lo) + ":" + std::to_string(box.range[d].hi) + " ";
    return text;
}

std::string text_of(const pti_instance &instance, const pti_partition &partition) {
    std::string text = "over " + text_of(instance.threads) + "in ";
    for (int64_t k = 0; k < partition.n_superblocks; k++)
        text += text_of(partition.superblock[k]);
    return text;
}

GenericSection point(size_t n_dims) {
    GenericSection section;
    for (size_t d = 0; d < n_dims; d++)
        section.push_back({static_cast<int>(d), 0, 0});
    return section;
}

} // namespace

Twin::Twin(const std::string &device, Random *random, const TwinPlace &place)
    : random_(random), place_(place) {
    EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
    EXPECT_EQ(place_.create_queue(ctx_, device.c_str(), &queue_), POLYTILE_OK) << error();
}

Twin::~Twin() {
    polytile_context_destroy(ctx_);
}

int Twin::add(const std::vector<int64_t> &extents, int64_t element_bytes, bool is_internal) {
    const size_t n_elements = count_elements(extents);
    const size_t n_bytes = n_elements * static_cast<size_t>(element_bytes);
    fields_.push_back({n_fields(), extents, element_bytes, is_internal, false, nullptr,
                       std::vector<unsigned char>(is_internal ? 0 : n_bytes),
                       std::vector<unsigned char>(n_bytes),
                       std::vector<char>(n_elements, !is_internal)});
    Field &field = fields_.back();
    for (unsigned char &byte : field.memory)
        byte = static_cast<unsigned char>(random_->number(0, 255));
    if (!is_internal)
        field.expected = field.memory;
    make_array(field);
    if (!is_internal)
        attach(field);
    return n_fields() - 1;
}

int Twin::add_field(const std::vector<int64_t> &extents, int64_t element_bytes) {
    return add(extents, element_bytes, false);
}

int Twin::add_internal(const std::vector<int64_t> &extents, int64_t element_bytes) {
    return add(extents, element_bytes, true);
}

void Twin::make_array(Field &field) {
    const int n_dims = static_cast<int>(field.extents.size());
    const polytile_type type = unsigned_of(field.element_bytes);
    const std::string name = "field" + std::to_string(field.number);
    const polytile_status status =
        field.is_internal
            ? polytile_queue_create_array(queue_, name.c_str(), type, n_dims, field.extents.data(),
                                          &field.array)
            : polytile_array_wrap(ctx_, name.c_str(), type, n_dims, field.extents.data(),
                                  field.memory.data(), &field.array);
    EXPECT_EQ(status, POLYTILE_OK) << error();
}

void Twin::attach(Field &field) {
    EXPECT_EQ(polytile_queue_attach(queue_, 1, &field.array), POLYTILE_OK) << error();
}

void Twin::detach(Field &field) {
    EXPECT_EQ(polytile_queue_detach(queue_, 1, &field.array), POLYTILE_OK) << error();
    expect_same(field);
}

void Twin::expect_same(const Field &field) const {
    const auto [is, should] =
        std::mismatch(field.memory.begin(), field.memory.end(), field.expected.begin());
    if (is != field.memory.end())
        ADD_FAILURE() << "field " << field.number << ": element "
                      << (is - field.memory.begin()) / field.element_bytes << " of "
                      << field.has_value.size() << " is wrong after\n"
                      << listing();
}

void Twin::limit_windows(int n_items) {
    queue_->window_items = n_items;
}

/** An internal one. */
void Twin::make_anew(Field &field) {
    polytile_array_destroy(field.array);
    make_array(field);
    std::fill(field.expected.begin(), field.expected.end(), 0);
    std::fill(field.has_value.begin(), field.has_value.end(), 0);
}

void Twin::discard(int number) {
    Field &field = field_of(number);
    EXPECT_EQ(polytile_queue_discard(queue_, 1, &field.array), POLYTILE_OK) << error();
    if (field.is_internal)
        return make_anew(field);
    EXPECT_EQ(polytile_queue_detach(queue_, 1, &field.array), POLYTILE_OK) << error();
    EXPECT_FALSE(polytile_array_is_complete(field.array));
    for (size_t k = 0; k < field.memory.size(); k++)
        field.memory[k] = field.expected[k] = static_cast<unsigned char>(random_->number(0, 255));
    polytile_array_destroy(field.array);
    make_array(field);
    attach(field);
}

void Twin::renew(int number) {
    Field &field = field_of(number);
    if (field.is_internal)
        return make_anew(field);
    detach(field);
    for (size_t k = 0; k < field.memory.size(); k += 3)
        field.memory[k] = field.expected[k] = static_cast<unsigned char>(random_->number(0, 255));
    attach(field);
}

void Twin::drop(int number) {
    Field &field = field_of(number);
    polytile_array_destroy(field.array);
    field.is_gone = true;
}

/** Copy an internal field to where it can be seen. */
void Twin::reveal(int number) {
    const int copied = add_field(field_of(number).extents, field_of(number).element_bytes);
    const GenericSection all = point(field_of(number).extents.size());
    const int copy = add_kernel(static_cast<int>(all.size()),
                                {{POLYTILE_IN, number, {all}}, {POLYTILE_OUT, copied, {all}}});
    EXPECT_EQ(launch(copy), POLYTILE_OK) << error();
}

void Twin::finish() {
    for (int number = n_fields() - 1; number >= 0; number--)
        if (field_of(number).is_internal && !field_of(number).is_gone)
            reveal(number);
    for (Field &field : fields_)
        if (!field.is_internal)
            detach(field);
    wait();
}

void Twin::finish_at_once() {
    std::vector<polytile_array *> arrays;
    for (const Field &field : fields_)
        if (!field.is_internal)
            arrays.push_back(field.array);
    if (arrays.empty())
        return wait();
    EXPECT_EQ(polytile_queue_detach(queue_, static_cast<int>(arrays.size()), arrays.data()),
              POLYTILE_OK)
        << error();
    for (const Field &field : fields_)
        if (!field.is_internal)
            expect_same(field);
}

int Twin::add_kernel(int n_indices, const std::vector<Use> &uses,
                     const std::vector<GenericParameter> &parameters, int64_t n_scratch) {
    std::vector<GenericAccess> accesses;
    std::vector<int> fields;
    for (const Use &use : uses) {
        const Field &field = field_of(use.field);
        accesses.push_back(
            {use.role, use.is_fresh, field.extents, field.element_bytes, use.sections});
        fields.push_back(use.field);
    }
    kernels_.push_back({GenericKernel(n_indices, accesses, parameters), fields, nullptr, {}});
    Kernel &made = kernels_.back();
    if (n_scratch > 0)
        made.generic.add_scratch(n_scratch);
    polytile_implementation implementation = made.generic.implementation();
    place_.prepare(&implementation);
    EXPECT_EQ(polytile_kernel_create(ctx_, made.generic.declaration().c_str(), &implementation,
                                     &made.kernel),
              POLYTILE_OK)
        << error();
    return static_cast<int>(kernels_.size()) - 1;
}

std::vector<polytile_array *> Twin::arrays_of(const Kernel &of) const {
    std::vector<polytile_array *> arrays;
    for (const int field : of.fields)
        arrays.push_back(fields_[static_cast<size_t>(field)].array);
    return arrays;
}

/** As many as the same launch read before, although elements may have got values since then. */
int64_t Twin::find_read_bytes(int kernel, const polytile_domain &threads) const {
    const Kernel &of = kernels_[static_cast<size_t>(kernel)];
    const GenericKernel::Values shifts = of.generic.shifts_of(bits_of(of.values));
    for (const Launched &launched : launched_)
        if (launched.kernel == kernel && is_same(launched.threads, threads) &&
            of.generic.shifts_of(bits_of(launched.values)) == shifts)
            return launched.read_bytes;
    return count_read_bytes(of, threads);
}

int64_t Twin::count_read_bytes(const Kernel &of, const polytile_domain &threads) const {
    std::vector<std::vector<char>> has_come(fields_.size());
    int64_t n_bytes = 0;
    const auto count = [&](int access, int64_t position) {
        const size_t field = static_cast<size_t>(of.fields[static_cast<size_t>(access)]);
        const size_t at = static_cast<size_t>(position);
        has_come[field].resize(fields_[field].has_value.size());
        if (!has_come[field][at] && fields_[field].has_value[at])
            n_bytes += fields_[field].element_bytes;
        has_come[field][at] = 1;
    };
    of.generic.for_each_read(threads, count, bits_of(of.values));
    return n_bytes;
}

/** What is written has a value from then on; what happens to stay as it was does not count. */
void Twin::run_plainly(const Kernel &of, const polytile_domain &threads) {
    std::vector<unsigned char *> memory;
    for (const int field : of.fields)
        memory.push_back(field_of(field).expected.data());
    std::vector<std::vector<unsigned char>> before;
    for (const int field : of.fields)
        before.push_back(field_of(field).expected);
    of.generic.run_plainly(threads, memory, bits_of(of.values));
    for (size_t a = 0; a < of.fields.size(); a++) {
        Field &field = field_of(of.fields[a]);
        for (size_t k = 0; k < field.expected.size(); k++)
            if (field.expected[k] != before[a][k])
                field.has_value[k / static_cast<size_t>(field.element_bytes)] = 1;
    }
}

polytile_status Twin::launch(int kernel, const polytile_domain &threads,
                             const polytile_launch_options *options) {
    Kernel &of = kernels_[static_cast<size_t>(kernel)];
    const std::vector<polytile_array *> arrays = arrays_of(of);
    draw_values(of.generic.parameters(), random_, &of.values);
    const polytile_status status = queue_launch(of, threads, arrays, options);
    if (status != POLYTILE_OK)
        return status;
    launched_.push_back({kernel, threads, arrays, of.values, given_of(of.values, random_),
                         find_read_bytes(kernel, threads)});
    run_plainly(of, threads);
    return POLYTILE_OK;
}

polytile_status Twin::queue_launch(const Kernel &of, const polytile_domain &threads,
                                   const std::vector<polytile_array *> &arrays,
                                   const polytile_launch_options *options) {
    const GivenValues given(of.values, random_);
    polytile_launch_options with = options == nullptr ? polytile_launch_options{} : *options;
    given.give(&with);
    return polytile_queue_launch(queue_, of.kernel, &threads, static_cast<int>(arrays.size()),
                                 arrays.data(), &with);
}

void Twin::wait() {
    EXPECT_EQ(polytile_queue_wait(queue_), POLYTILE_OK) << error();
}

void Twin::wait_for(int field) {
    EXPECT_EQ(polytile_queue_wait_for(queue_, field_of(field).array), POLYTILE_OK) << error();
}

polytile_report Twin::report() const {
    polytile_report told;
    polytile_queue_get_report(queue_, false, &told);
    return told;
}

int64_t Twin::field_bytes(int field) const {
    return static_cast<int64_t>(fields_[static_cast<size_t>(field)].expected.size());
}

int64_t Twin::least_upload_bytes(int64_t memory_bytes) const {
    int64_t sum = 0;
    for (const Launched &launched : launched_)
        sum += std::max<int64_t>(0, launched.read_bytes - memory_bytes);
    return sum;
}

Twin::Cuts Twin::cuts() const {
    Cuts cuts;
    for (const pti_prepared *slot : queue_->prepared)
        for (const pti_prepared *of = slot; of != nullptr; of = of->next)
            cuts.insert(text_of(*of->instance, of->partition));
    return cuts;
}

Twin::Planned Twin::plan(const polytile_plan_options &options, Cuts *cuts) const {
    std::vector<polytile_chain_launch> launches;
    for (const Launched &launched : launched_) {
        launches.push_back(chain_launch(kernels_[static_cast<size_t>(launched.kernel)].kernel,
                                        launched.threads, launched.arrays.data()));
        launches.back().n_parameters = static_cast<int>(launched.given.size());
        launches.back().parameters = launched.given.data();
    }
    std::vector<polytile_array *> scratch;
    for (const Field &field : fields_)
        if (field.is_internal)
            scratch.push_back(field.array);
    polytile_plan *plan = nullptr;
    Planned planned;
    const polytile_status status = polytile_plan_create_chain(
        static_cast<int>(launches.size()), launches.data(), static_cast<int>(scratch.size()),
        scratch.data(), &options, &plan);
    int64_t held_bytes = 0;
    for (const Field &field : fields_)
        held_bytes += static_cast<int64_t>(field.memory.size() + 255) / 256 * 256;
    planned.is_refused = status == POLYTILE_NO_FIT && held_bytes <= options.limit_bytes;
    EXPECT_TRUE(status == POLYTILE_OK || planned.is_refused) << error();
    polytile_plan_get_summary(plan, &planned.summary);
    polytile_plan_get_chain_summary(plan, &planned.chain);
    for (int k = 0; cuts != nullptr && plan != nullptr && k < plan->chain->launches.n_kinds; k++) {
        const pti_launch_kind &kind = plan->chain->launches.of_kind[k];
        if (kind.partition.n_superblocks > 0)
            cuts->insert(text_of(*kind.instance, kind.partition));
    }
    polytile_plan_destroy(plan);
    return planned;
}

std::string Twin::listing() const {
    std::string text;
    for (const Launched &launched : launched_) {
        const Kernel &kernel = kernels_[static_cast<size_t>(launched.kernel)];
        text += kernel.generic.declaration() + " on fields";
        for (const int field : kernel.fields)
            text += " " + std::to_string(field);
        for (int d = 0; d < launched.threads.n_dims; d++)
            text += (d == 0 ? " over " : ",") + std::to_string(launched.threads.range[d].lo) + ":" +
                    std::to_string(launched.threads.range[d].hi);
        text += text_of(launched.values) + "\n";
    }
    return text;
}
