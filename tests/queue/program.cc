#include "queue/program.h"

#include "support/elements.h"

extern "C" {
#include "queue/calls/calls.h"
#include "queue/member.h"
}

#include <algorithm>
#include <gtest/gtest.h>

Program::Options Program::Options::draw(Random *random, int most_steps) {
    Options options;
    options.n = random->one_of({5, 16, 24});
    options.n_steps = static_cast<int>(random->one_of({5, 30, most_steps}));
    return options;
}

Program::Program(const std::string &device, const Options &options, Random *random)
    : options_(options), random_(random), values_(program_kernels().size()) {
    EXPECT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
    EXPECT_EQ(options.create_queue(ctx_, device.c_str(), &queue_), POLYTILE_OK) << error();
    const std::vector<ProgramKernel> &kernels = program_kernels();
    for (size_t k = 0; k < kernels.size(); k++) {
        const polytile_implementation *implementation = options.implementations == nullptr
                                                            ? kernels[k].implementation
                                                            : &(*options.implementations)[k];
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, kernels[k].declaration, implementation, &kernel),
                  POLYTILE_OK)
            << error();
        kernels_.push_back(kernel);
    }
    for (int n_dims = 1; n_dims <= 2; n_dims++) {
        for (int f = 0; f < 3; f++)
            make_field(n_dims, false);
        for (int f = 0; options.has_internal && f < 2; f++)
            make_field(n_dims, true);
    }
}

Program::~Program() {
    polytile_context_destroy(ctx_);
}

void Program::make_field(int n_dims, bool is_internal) {
    const size_t n_elements =
        static_cast<size_t>(n_dims == 1 ? options_.n : options_.n * options_.n);
    fields_.push_back(std::make_unique<Field>(Field{n_dims, is_internal, false, nullptr,
                                                    std::vector<uint32_t>(n_elements),
                                                    std::vector<uint32_t>(n_elements)}));
    Field &field = *fields_.back();
    for (size_t k = 0; !is_internal && k < n_elements; k++)
        field.memory[k] = field.expected[k] = static_cast<uint32_t>(random_->number(0, 1 << 20));
    make_array(field);
    if (!is_internal)
        attach(field);
}

void Program::make_array(Field &field) {
    const int64_t extents[] = {options_.n, options_.n};
    const polytile_status status =
        field.is_internal ? polytile_queue_create_array(queue_, "internal", POLYTILE_U32,
                                                        field.n_dims, extents, &field.array)
                          : polytile_array_wrap(ctx_, "field", POLYTILE_U32, field.n_dims, extents,
                                                field.memory.data(), &field.array);
    EXPECT_EQ(status, POLYTILE_OK) << error();
}

void Program::attach(Field &field) {
    EXPECT_EQ(options_.exchanges_percent > 0 ? pti_queue_attach_shared(queue_, field.array)
                                             : polytile_queue_attach(queue_, 1, &field.array),
              POLYTILE_OK)
        << error();
    field.is_attached = true;
}

void Program::detach(Field &field) {
    EXPECT_EQ(polytile_queue_detach(queue_, 1, &field.array), POLYTILE_OK) << error();
    field.is_attached = false;
    expect_same(field);
}

void Program::expect_same(const Field &field) const {
    for (size_t k = 0; k < field.memory.size(); k++) {
        if (field.memory[k] != field.expected[k]) {
            ADD_FAILURE() << "element " << k << " of a field of " << field.n_dims
                          << " dimensions is " << field.memory[k] << ", not " << field.expected[k];
            return;
        }
    }
}

/** An attached field that the program changes meanwhile, or an internal one made anew. */
void Program::renew(Field &field) {
    if (field.is_internal) {
        polytile_array_destroy(field.array);
        make_array(field);
        std::fill(field.expected.begin(), field.expected.end(), 0U);
        return;
    }
    detach(field);
    for (size_t k = 0; k < field.memory.size(); k += 3)
        field.memory[k] = field.expected[k] = static_cast<uint32_t>(random_->number(0, 1 << 20));
    attach(field);
}

/** A few boxes of a field, which may be one. */
void Program::fill_boxes(const Field &field, pti_boxes *boxes) {
    for (int64_t n = random_->number(1, 3); n > 0; n--) {
        polytile_domain box = {};
        box.n_dims = field.n_dims;
        for (int d = 0; d < box.n_dims; d++) {
            const int64_t lo = random_->number(0, options_.n - 1);
            box.range[d] = {lo, random_->number(lo, options_.n - 1), 1};
        }
        pti_boxes_add(boxes, &box);
    }
}

/** Let the host's memory get other elements, of which the queue has nothing newer; or not, with
 * what was fetched. */
void Program::receive(Field &field, const pti_boxes &boxes, bool changes) {
    auto *memory = static_cast<uint32_t *>(
        field.is_internal ? pti_queue_get_spill(queue_, field.array) : field.memory.data());
    ASSERT_NE(memory, nullptr) << error();
    for (int k = 0; k < boxes.n_boxes; k++)
        for_each_point(boxes.box[k], [&](const Point &point) {
            const int64_t at = field.n_dims == 1 ? point[0] : point[0] * options_.n + point[1];
            uint32_t &expected = field.expected[static_cast<size_t>(at)];
            if (changes)
                memory[at] = expected = static_cast<uint32_t>(random_->number(0, 1 << 20));
            ASSERT_EQ(memory[at], expected) << "element " << at << " was fetched";
        });
    EXPECT_EQ(pti_queue_invalidate(queue_, field.array, &boxes), POLYTILE_OK) << error();
}

void Program::exchange(Field &field) {
    pti_boxes boxes = {};
    fill_boxes(field, &boxes);
    const bool is_fetched = random_->chance(70);
    EXPECT_EQ(is_fetched ? pti_queue_fetch(queue_, field.array, &boxes)
                         : pti_queue_invalidate(queue_, field.array, &boxes),
              POLYTILE_OK)
        << error();
    if (!is_fetched || random_->chance(60)) {
        EXPECT_EQ(polytile_queue_wait_for(queue_, field.array), POLYTILE_OK) << error();
        receive(field, boxes, !is_fetched || random_->chance(80));
    }
    pti_boxes_free(&boxes);
}

Program::Field &Program::any_field() {
    return *fields_[static_cast<size_t>(
        random_->number(0, static_cast<int64_t>(fields_.size()) - 1))];
}

/** A field an operand; none is used twice if it is written. False if none was found. */
bool Program::choose(const ProgramKernel &kernel, std::vector<Field *> *fields) {
    fields->clear();
    for (size_t a = 0; a < kernel.dims.size(); a++) {
        const bool is_written = a + static_cast<size_t>(kernel.n_written) >= kernel.dims.size();
        Field *field = nullptr;
        for (int attempt = 0; attempt < 100 && field == nullptr; attempt++) {
            Field *tried = &any_field();
            const bool is_taken =
                is_written && std::count(fields->begin(), fields->end(), tried) > 0;
            if (tried->n_dims == kernel.dims[a] && !is_taken)
                field = tried;
        }
        if (field == nullptr)
            return false;
        fields->push_back(field);
    }
    return true;
}

polytile_domain Program::choose_threads(const ProgramKernel &kernel) {
    polytile_domain threads = {};
    const int64_t most = kernel.most(options_.n);
    const bool is_whole = random_->chance(50);
    threads.n_dims = kernel.n_indices;
    for (int d = 0; d < threads.n_dims; d++) {
        const int64_t lo = is_whole ? kernel.least : random_->number(kernel.least, most);
        threads.range[d] = {lo, is_whole ? most : random_->number(lo, most), 1};
    }
    return threads;
}

void Program::expect_launch(size_t kernel, const polytile_domain &threads,
                            const std::vector<Field *> &fields) const {
    std::vector<std::vector<uint32_t> *> expected;
    for (Field *field : fields)
        expected.push_back(&field->expected);
    run_plainly(program_kernels()[kernel], options_.n, threads, expected, values_[kernel]);
}

polytile_status Program::queue_launch(size_t kernel, const polytile_domain &threads,
                                      const std::vector<Field *> &fields) {
    const int64_t block[] = {random_->one_of({1, 4}), random_->one_of({1, 4}), 1};
    polytile_launch_options options = {};
    options.plan.link = options_.link;
    if (random_->chance(80))
        options.plan.block = block;
    if (random_->chance(20))
        options.plan.strategy = "min-traffic";
    std::vector<polytile_array *> arrays;
    for (const Field *field : fields)
        arrays.push_back(field->array);
    const GivenValues given(values_[kernel], random_);
    given.give(&options);
    return polytile_queue_launch(queue_, kernels_[kernel], &threads,
                                 static_cast<int>(arrays.size()), arrays.data(), &options);
}

void Program::launch(size_t kernel, const polytile_domain &threads,
                     const std::vector<Field *> &fields) {
    draw_values(program_kernels()[kernel].parameters, random_, &values_[kernel]);
    const polytile_status status = queue_launch(kernel, threads, fields);
    n_refused_ += status == POLYTILE_NO_FIT;
    if (status == POLYTILE_NO_FIT)
        return;
    ASSERT_EQ(status, POLYTILE_OK) << error();
    expect_launch(kernel, threads, fields);
    n_launched_++;
}

void Program::launch() {
    const std::vector<ProgramKernel> &kernels = program_kernels();
    const size_t kernel =
        static_cast<size_t>(random_->number(0, static_cast<int64_t>(kernels.size()) - 1));
    std::vector<Field *> fields;
    if (choose(kernels[kernel], &fields))
        launch(kernel, choose_threads(kernels[kernel]), fields);
}

void Program::launch_copy(Field &from, Field &to) {
    const int64_t extents[] = {options_.n, options_.n};
    launch(copying_kernel(from.n_dims), polytile_domain_from_extents(from.n_dims, extents),
           {&from, &to});
}

void Program::step() {
    if (options_.exchanges_percent > 0 && random_->chance(options_.exchanges_percent))
        return exchange(any_field());
    const int64_t what = random_->number(0, 99);
    if (what < 80)
        return launch();
    if (what < 84)
        EXPECT_EQ(polytile_queue_wait(queue_), POLYTILE_OK) << error();
    else if (what < 88)
        EXPECT_EQ(polytile_queue_wait_for(queue_, any_field().array), POLYTILE_OK) << error();
    else if (what < 91)
        polytile_queue_pause(queue_);
    else if (what < 94)
        polytile_queue_resume(queue_);
    else
        renew(any_field());
}

/** At the end what internal arrays hold is copied to where it can be seen. */
void Program::run() {
    for (int k = 0; k < options_.n_steps && !testing::Test::HasFailure(); k++)
        step();
    for (const auto &from : fields_) {
        if (!from->is_internal)
            continue;
        for (const auto &to : fields_) {
            if (to->is_internal || to->n_dims != from->n_dims)
                continue;
            launch_copy(*from, *to);
            renew(*to);
            break;
        }
    }
    for (const auto &field : fields_) {
        if (field->is_attached)
            detach(*field);
    }
    EXPECT_EQ(polytile_queue_wait(queue_), POLYTILE_OK) << error();
}
