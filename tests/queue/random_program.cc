#include "queue/random_program.h"

#include "support/links.h"

extern "C" {
#include "access/set/box.h"
}

#include <algorithm>
#include <gtest/gtest.h>

namespace {

constexpr int64_t padding_bytes = 256; /* arrays begin at multiples of it */

RandomChainShape shape_of_programs() {
    RandomChainShape shape;
    shape.most_along[0] = 300;
    shape.most_along[1] = 16;
    shape.most_along[2] = 8;
    shape.times_longer = 6;
    shape.parameter_percent = 40;
    return shape;
}

/** A cache of a part of the data, so fast that slabs pay wherever everything fits. */
polytile_link cached_link(int64_t cache_bytes) {
    polytile_link link = polytile_link_default;
    link.cache_bytes = static_cast<double>(cache_bytes);
    link.cache_bytes_per_s = 100 * link.kernel_bytes_per_s;
    link.kernel_accesses_per_s = 0;
    link.launch_latency_s = 1e-12;
    return link;
}

} // namespace

RandomProgram::RandomProgram(Random *random)
    : random_(random), chain_(random, shape_of_programs()),
      most_per_pass_(random->chance(20) ? random->number(1, 6) : 0),
      link_(cached_link(chain_.data_bytes() / random->number(2, 8))),
      has_link_(random->chance(25)) {}

int64_t RandomProgram::padded_bytes() const {
    return chain_.data_bytes() + padding_bytes * chain_.n_used();
}

/** Room for a piece or two of each field, however small. */
int64_t RandomProgram::least_bytes() const {
    return random_->number(2, 4) * padding_bytes * std::max<int64_t>(3, chain_.n_used());
}

int64_t RandomProgram::some_memory() const {
    const int64_t share = has_link_ ? 1 : random_->one_of({1, 2, 2, 3, 3, 4, 5, 6, 8, 12});
    return std::max(least_bytes(), share == 1 ? padded_bytes() : chain_.data_bytes() / share);
}

RandomProgram::Told RandomProgram::run(const std::string &device, int64_t memory_bytes,
                                       const TwinPlace &place) {
    Twin twin(device, random_, place);
    if (random_->chance(30))
        twin.limit_windows(static_cast<int>(random_->number(2, 9)));
    for (const RandomChain::Field &field : chain_.fields())
        field.is_internal ? twin.add_internal(field.extents, field.element_bytes)
                          : twin.add_field(field.extents, field.element_bytes);
    for (const RandomChain::Kernel &kernel : chain_.kernels())
        twin.add_kernel(kernel.n_indices, kernel.uses, kernel.generic.parameters(),
                        random_->chance(8) ? random_->number(1, 3) : 0);
    for (int64_t n = random_->number(0, 2); n > 0; n--)
        launch(&twin, chain_.first());
    for (int64_t part = random_->number(1, 3); part > 0; part--) {
        loop(&twin, part == 1);
        visit(&twin);
    }
    twin.finish();
    const polytile_report told = twin.report();
    return {twin.n_launched(), n_refused_, told.peak_device_bytes, told.h2d_bytes,
            twin.least_upload_bytes(memory_bytes)};
}

/** A kernel that no thread can have, as the fields are too short for it, is not launched. */
void RandomProgram::launch(Twin *twin, const RandomChain::Launch &which) {
    if (pti_box_is_empty(&which.threads))
        return;
    const int64_t block[] = {random_->one_of({1, 2}), random_->one_of({1, 4}), 1};
    polytile_launch_options options = {};
    if (random_->chance(90))
        options.plan.block = block;
    if (random_->chance(20))
        options.plan.strategy = "min-traffic";
    const polytile_link uneven = uneven_link(random_);
    if (has_link_)
        options.plan.link = &link_;
    else if (random_->chance(30))
        options.plan.link = &uneven;
    options.plan.launches_per_pass = random_->chance(1) ? random_->number(1, 6) : most_per_pass_;
    const polytile_status status = twin->launch(which.kernel, which.threads, &options);
    n_refused_ += status == POLYTILE_NO_FIT;
    EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_NO_FIT) << chain_.text_of(which) << "\n"
                                                                    << twin->error();
}

/** The same step several times, seldom disturbed. After the last loop internal fields may go. */
void RandomProgram::loop(Twin *twin, bool is_last) {
    const std::vector<RandomChain::Launch> step = chain_.step();
    if (random_->chance(85))
        twin->pause();
    for (int64_t n = random_->number(2, 9); n > 0; n--) {
        for (const RandomChain::Launch &which : step)
            launch(twin, which);
        if (random_->chance(10))
            visit(twin);
    }
    for (int field = 0; is_last && field < twin->n_fields(); field++)
        if (twin->is_internal(field) && random_->chance(40))
            twin->renew(field);
    twin->resume();
}

void RandomProgram::visit(Twin *twin) {
    const int field = static_cast<int>(random_->number(0, twin->n_fields() - 1));
    const int64_t what = random_->number(0, 6);
    if (what == 0)
        twin->wait();
    else if (what == 1)
        twin->wait_for(field);
    else if (what == 2)
        twin->renew(field);
    else if (what == 3)
        launch(twin, chain_.any());
    else if (what == 4)
        twin->pause();
    else if (what == 5)
        twin->discard(field);
    else
        twin->resume();
}
