#include "launch/cuda/worlds.h"

#include <cstring>
#include <gtest/gtest.h>

CudaCases::CudaCases(AddKernels add) {
    for (const Case &of : all_cases()) {
        const std::string name(of.declaration, std::strcspn(of.declaration, "["));
        auto own = std::make_unique<polytile_implementation>(*of.implementation);
        add(name, own.get());
        Case with_kernel = of;
        with_kernel.implementation = own.get();
        implementations_.push_back(std::move(own));
        cases_.push_back(with_kernel);
    }
}

const Case &CudaCases::of(const std::string &declaration) const {
    for (const Case &of : cases_) {
        if (std::string(of.declaration).compare(0, declaration.size(), declaration) == 0)
            return of;
    }
    ADD_FAILURE() << "there is no case " << declaration;
    return cases_[0];
}

const CudaCases &FakeWorld::cases() {
    static const CudaCases cases([](const std::string &, polytile_implementation *to) {
        to->cuda = reinterpret_cast<const void *>(to->host);
        to->cuda_pieces = to->views;
        to->cuda_contiguous = reinterpret_cast<const char *>(to->views) + 1;
        to->cuda_coarse = to->n_indices > 1 ? reinterpret_cast<const char *>(to->views) + 2 : NULL;
        to->n_coarse = to->n_indices > 1 ? 3 : 0;
    });
    return cases;
}

FakeWorld::FakeWorld(uint64_t seed, const FakeCuda::Options &options) : cuda(seed, options) {
    for (const Case &of : cases().all())
        cuda.add_kernel(of.implementation->cuda, *of.implementation);
}

void FakeWorld::expect_idle() const {
    EXPECT_EQ(cuda.n_pending(), 0);
    EXPECT_EQ(cuda.violations(), "");
}

void FakeWorld::expect_nothing_taken() const {
    EXPECT_EQ(cuda.leaks(), "");
}
