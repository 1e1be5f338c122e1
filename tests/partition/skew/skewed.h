#ifndef POLYTILE_TESTS_PARTITION_SKEW_SKEWED_H
#define POLYTILE_TESTS_PARTITION_SKEW_SKEWED_H

#include "partition/memory/resident.h"

extern "C" {
#include "partition/memory/resident_image.h"
#include "partition/skew/pass.h"
#include "partition/skew/skew.h"
}

/* Chains of launches, and schedules of them. */

/** Launches over arrays of eight-byte elements, of which some may be interleaved. */
class Skewed {
  public:
    Skewed(const std::vector<std::string> &domains, const std::vector<Kernel> &kernels)
        : arrays_(1 << 20, domains), domains_(domains), dropped_(domains.size()) {
        for (const Kernel &kernel : kernels)
            distinct_.push_back(std::make_unique<CutLaunch>(kernel, domains));
        unwritten_.resize(domains.size());
    }
    ~Skewed() {
        pti_chain_free(&chain_);
        for (pti_boxes &set : unwritten_)
            pti_boxes_free(&set);
    }
    Skewed(const Skewed &) = delete;
    Skewed &operator=(const Skewed &) = delete;

    /** Queue a kernel, by its position. */
    void Add(int kernel) {
        const CutLaunch &launch = *distinct_[static_cast<size_t>(kernel)];
        order_.push_back(kernel);
        launches_.push_back({{&launch.instance(), launch.array.data()}, 0, 0});
    }

    /** An array that is internal, and dropped afterwards. */
    void MakeScratch(int array) {
        LeaveUnwritten(array);
        Drop(array);
    }
    void LeaveUnwritten(int array) {
        const polytile_domain domain = domain_of(domains_[static_cast<size_t>(array)]);
        pti_boxes_add(&unwritten_[static_cast<size_t>(array)], &domain);
    }
    void Drop(int array) { dropped_[static_cast<size_t>(array)] = 1; }
    bool IsScratch(int array) const { return dropped_[static_cast<size_t>(array)] != 0; }

    /** Find the chain; why it ends, "" if all launches are in it. */
    std::string Find() {
        pti_text why = {};
        pti_chain_free(&chain_);
        EXPECT_EQ(pti_chain_find(&arrays_.get()->instance, static_cast<int>(launches_.size()),
                                 launches_.data(), &chain_, &why),
                  POLYTILE_OK);
        std::string text = why.data == nullptr ? "" : why.data;
        pti_text_free(&why);
        return text;
    }

    pti_skew_request Request(int64_t arena_bytes) {
        pti_skew_request request = {};
        request.chain = &chain_;
        request.unwritten = unwritten_.data();
        request.dropped = reinterpret_cast<const bool *>(dropped_.data());
        request.arena_bytes = arena_bytes;
        request.link = &polytile_link_default;
        return request;
    }

    /** Run the chain's launches at once. */
    void RunAtOnce(std::vector<HostArray> *host) const {
        for (int l = 0; l < chain_.n_launches; l++) {
            const CutLaunch &launch =
                *distinct_[static_cast<size_t>(order_[static_cast<size_t>(l)])];
            run_at_once(launch.instance(), launch.array, host);
        }
    }

    const pti_chain &chain() const { return chain_; }
    const std::vector<std::string> &domains() const { return domains_; }

  private:
    Resident arrays_;
    std::vector<std::string> domains_;
    std::vector<char> dropped_;
    std::vector<pti_boxes> unwritten_;
    std::vector<std::unique_ptr<CutLaunch>> distinct_;
    std::vector<int> order_;
    std::vector<pti_cut_launch> launches_;
    pti_chain chain_ = {};
};

/** Whether the independent checker agrees, or why not. */
inline std::string Objection(const pti_schedule *schedule) {
    pti_text why = {};
    const bool holds = pti_schedule_check(schedule, &why);
    const std::string text = holds ? "" : why.data == nullptr ? "no reason" : why.data;
    pti_text_free(&why);
    return text;
}

#endif
