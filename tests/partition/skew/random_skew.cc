#include "partition/skew/random_skew.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace {

polytile_type unsigned_of(int64_t element_bytes) {
    return element_bytes == 1   ? POLYTILE_U8
           : element_bytes == 2 ? POLYTILE_U16
           : element_bytes == 4 ? POLYTILE_U32
                                : POLYTILE_U64;
}

polytile_domain domain_of(const RandomChain::Field &field) {
    return polytile_domain_from_extents(static_cast<int>(field.extents.size()),
                                        field.extents.data());
}

std::string text_of(const std::vector<int64_t> &extents) {
    std::string text;
    for (const int64_t extent : extents)
        text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
}

std::string threads_text(const polytile_domain &threads) {
    std::string text;
    for (int d = 0; d < threads.n_dims; d++)
        text += (d == 0 ? "" : ",") + std::to_string(threads.range[d].lo) + ":" +
                std::to_string(threads.range[d].hi);
    return text;
}

bool is_same(const RandomChain::Launch &one, const RandomChain::Launch &other) {
    return one.kernel == other.kernel && pti_box_equals(&one.threads, &other.threads);
}

int64_t number_of(const polytile_domain &domain, const int64_t *element) {
    int64_t number = 0;
    for (int d = 0; d < domain.n_dims; d++)
        number = number * pti_range_count(domain.range[d]) + element[d];
    return number;
}

} // namespace

/* A device. */

std::string ChainMemory::Run(const pti_schedule &schedule,
                             const std::vector<const GenericKernel *> &kernels, Bytes *host,
                             Random *random) {
    schedule_ = &schedule;
    host_ = host;
    const bool is_run = run_streams(schedule, random, [&](const pti_op &op) {
        if (op.kind == PTI_LAUNCH)
            Launch(op, *kernels[static_cast<size_t>(op.launch)]);
        else
            Move(op);
    });
    return is_run ? wrong_ : "no stream can go on";
}

unsigned char *ChainMemory::HostAddress(int array, const int64_t *element) {
    const pti_operand &operand = schedule_->instance->operand[array];
    return &(*host_)[static_cast<size_t>(array)][static_cast<size_t>(
        number_of(operand.domain, element) * operand.element_bytes)];
}

unsigned char *ChainMemory::Address(int64_t placement, const int64_t *element) {
    static unsigned char nowhere[8];
    if (placement < 0) {
        wrong_ = "a launch touches an array that it has no placement for";
        return nowhere;
    }
    const pti_placement &at = schedule_->placement[placement];
    if (schedule_->in_place)
        return HostAddress(at.operand, element);
    for (int d = 0; d < at.layout.hull.n_dims; d++)
        if (!pti_range_has(at.layout.hull.range[d], element[d]))
            wrong_ = "an element lies outside its placement";
    const int64_t offset = at.offset_bytes + pti_memory_layout_offset(&at.layout, element);
    const int64_t n_bytes = schedule_->instance->operand[at.operand].element_bytes;
    if (offset < 0 || offset + n_bytes > static_cast<int64_t>(arena_.size()))
        wrong_ = "a placement lies outside the arena";
    return wrong_.empty() ? &arena_[static_cast<size_t>(offset)] : nowhere;
}

/** All elements are read before any is written. */
void ChainMemory::Move(const pti_op &op) {
    const int array = schedule_->placement[op.placement].operand;
    const size_t n_bytes = static_cast<size_t>(schedule_->instance->operand[array].element_bytes);
    const int64_t from_placement = op.kind == PTI_COPY ? op.source_placement : op.placement;
    std::vector<unsigned char> held;
    for_each_point(op.box, [&](const Point &at) {
        const unsigned char *from = op.kind == PTI_UPLOAD ? HostAddress(array, at.data())
                                                          : Address(from_placement, at.data());
        held.insert(held.end(), from, from + n_bytes);
    });
    if (op.kind == PTI_FILL)
        std::fill(held.begin(), held.end(), 0);
    const unsigned char *next = held.data();
    for_each_point(op.box, [&](const Point &at) {
        unsigned char *to = op.kind == PTI_DOWNLOAD ? HostAddress(array, at.data())
                                                    : Address(op.placement, at.data());
        std::copy(next, next + n_bytes, to);
        next += n_bytes;
    });
}

void ChainMemory::Launch(const pti_op &op, const GenericKernel &kernel) {
    const int64_t *placements = pti_schedule_placements(schedule_, op.launch, op.superblock);
    kernel.run(op.box, [&](int access, const int64_t *element) -> void * {
        return Address(placements[access], element);
    });
}

/* Launches. */

RandomSkew::RandomSkew(Random *random, const RandomChainShape &shape)
    : random_(random), made_(random, shape) {
    MakeArrays();
    const int64_t n_before = random->chance(60) ? random->number(1, 3) : 0;
    for (int64_t k = 0; k < n_before; k++)
        Add(made_.first());
    const std::vector<RandomChain::Launch> step = made_.step();
    for (int64_t n = random->number(2, 5); n > 0; n--) {
        for (const RandomChain::Launch &launch : step)
            Add(launch);
        if (random->chance(8))
            Add(made_.any());
    }
    Begin(static_cast<size_t>(n_before));
    for (size_t l = first_; l < launches_.size(); l++)
        cut_.push_back({{launches_[l]->made->instance(), launches_[l]->array.data()}, 0, 0});
    pti_text ignored = {};
    EXPECT_EQ(
        pti_chain_find(&arrays_, static_cast<int>(cut_.size()), cut_.data(), &chain_, &ignored),
        POLYTILE_OK);
    pti_text_free(&ignored);
}

RandomSkew::~RandomSkew() {
    pti_chain_free(&chain_);
    for (pti_boxes &set : unwritten_)
        pti_boxes_free(&set);
}

void RandomSkew::MakeArrays() {
    static char kernel[] = "arrays";
    for (size_t f = 0; f < made_.fields().size(); f++)
        names_.push_back("field" + std::to_string(f));
    for (size_t f = 0; f < made_.fields().size(); f++) {
        const RandomChain::Field &field = made_.fields()[f];
        pti_operand operand = {};
        operand.name = &names_[f][0];
        operand.type = unsigned_of(field.element_bytes);
        operand.element_bytes = field.element_bytes;
        operand.domain = domain_of(field);
        operands_.push_back(operand);
        dropped_.push_back(field.is_internal && random_->chance(50));
    }
    arrays_.kernel_name = kernel;
    arrays_.n_operands = static_cast<int>(operands_.size());
    arrays_.operand = operands_.data();
}

const RandomSkew::Instance &RandomSkew::InstanceOf(const RandomChain::Launch &launch) {
    for (const Instance &instance : instances_)
        if (is_same(instance.launch, launch))
            return instance;
    const RandomChain::Kernel &kernel = made_.kernels()[static_cast<size_t>(launch.kernel)];
    std::map<std::string, std::string> arrays;
    ::Launch::Options options;
    Instance instance = {launch, nullptr, {}};
    for (size_t a = 0; a < kernel.uses.size(); a++) {
        const RandomChain::Field &field = made_.fields()[static_cast<size_t>(kernel.uses[a].field)];
        const std::string name(1, static_cast<char>('a' + a));
        arrays[name] = text_of(field.extents);
        options.types[name] = unsigned_of(field.element_bytes);
        instance.array.push_back(kernel.uses[a].field);
    }
    instance.made = std::make_unique<::Launch>(kernel.generic.declaration(),
                                               threads_text(launch.threads), arrays, options);
    EXPECT_EQ(instance.made->status(), POLYTILE_OK) << made_.text_of(launch) << "\n"
                                                    << instance.made->error();
    instances_.push_back(std::move(instance));
    return instances_.back();
}

void RandomSkew::Add(const RandomChain::Launch &launch) {
    launches_.push_back(&InstanceOf(launch));
}

void RandomSkew::RunPlainly(const RandomChain::Launch &launch, Bytes *on) const {
    const RandomChain::Kernel &kernel = made_.kernels()[static_cast<size_t>(launch.kernel)];
    std::vector<unsigned char *> memory;
    for (const FieldUse &use : kernel.uses)
        memory.push_back((*on)[static_cast<size_t>(use.field)].data());
    kernel.generic.run_plainly(launch.threads, memory);
}

void RandomSkew::NoteWritten(const Instance &of, std::vector<Elements> *written) const {
    const pti_instance &instance = *of.made->instance();
    for (int s = 0; s < instance.n_sections; s++)
        if (instance.section[s].role != POLYTILE_IN)
            add_touched(instance.section[s], instance.threads,
                        &(*written)[static_cast<size_t>(
                            of.array[static_cast<size_t>(instance.section[s].operand)])]);
}

/** Run some launches. The host has anything where nobody wrote. */
void RandomSkew::Begin(size_t n_before) {
    std::vector<Elements> written;
    for (const RandomChain::Field &field : made_.fields()) {
        const polytile_domain domain = domain_of(field);
        written.emplace_back(domain);
        should_.emplace_back(static_cast<size_t>(pti_box_count(&domain) * field.element_bytes));
        if (field.is_internal)
            continue;
        written.back().add(domain);
        for (unsigned char &byte : should_.back())
            byte = static_cast<unsigned char>(random_->number(0, 255));
    }
    for (; first_ < n_before; first_++) {
        RunPlainly(launches_[first_]->launch, &should_);
        NoteWritten(*launches_[first_], &written);
    }
    before_ = should_;
    for (size_t f = 0; f < written.size(); f++) {
        pti_boxes set = {};
        const int64_t n_bytes = made_.fields()[f].element_bytes;
        for_each_point(written[f].domain(), [&](const Point &at) {
            if (written[f].has(at))
                return;
            const polytile_domain one =
                polytile_domain_from_bounds(written[f].domain().n_dims, at.data(), at.data());
            pti_boxes_append(&set, &one);
            const int64_t number = number_of(written[f].domain(), at.data());
            for (int64_t k = number * n_bytes; k < (number + 1) * n_bytes; k++)
                before_[f][static_cast<size_t>(k)] = 0xa7;
        });
        pti_boxes_merge(&set);
        unwritten_.push_back(set);
    }
}

std::string RandomSkew::text() const {
    std::string text;
    for (size_t l = 0; l < launches_.size() && l < first_ + static_cast<size_t>(chain_.n_launches);
         l++)
        text +=
            std::string(l < first_ ? "before: " : "") + made_.text_of(launches_[l]->launch) + "\n";
    for (size_t f = 0; f < made_.fields().size(); f++)
        text += std::to_string(f) + ": " + text_of(made_.fields()[f].extents) + " of " +
                std::to_string(made_.fields()[f].element_bytes) +
                (made_.fields()[f].is_internal ? " internal" : "") +
                (dropped_[f] ? " dropped" : "") + "\n";
    return text;
}

pti_skew_request RandomSkew::Request(int64_t arena_bytes) {
    pti_skew_request request = {};
    request.chain = &chain_;
    request.unwritten = unwritten_.data();
    request.dropped = reinterpret_cast<const bool *>(dropped_.data());
    request.arena_bytes = arena_bytes;
    request.link = &polytile_link_default;
    return request;
}

Bytes RandomSkew::RunChain() const {
    Bytes right = should_;
    for (size_t l = 0; l < static_cast<size_t>(chain_.n_launches); l++)
        RunPlainly(launches_[first_ + l]->launch, &right);
    return right;
}

/** Of what nobody wrote before, only what came to the host counts. */
std::string RandomSkew::Compare(const pti_schedule &schedule, const Bytes &is,
                                const Bytes &right) const {
    std::vector<Elements> nowhere;
    for (size_t f = 0; f < is.size(); f++) {
        nowhere.emplace_back(operands_[f].domain);
        nowhere.back().add(unwritten_[f]);
    }
    for (int64_t k = 0; k < schedule.n_ops; k++)
        if (schedule.op[k].kind == PTI_DOWNLOAD)
            nowhere[static_cast<size_t>(schedule.placement[schedule.op[k].placement].operand)]
                .remove(schedule.op[k].box);
    std::string wrong;
    for (size_t f = 0; f < is.size(); f++)
        for_each_point(operands_[f].domain, [&](const Point &at) {
            const size_t n_bytes = static_cast<size_t>(operands_[f].element_bytes);
            const size_t k =
                static_cast<size_t>(number_of(operands_[f].domain, at.data())) * n_bytes;
            for (size_t b = k; b < k + n_bytes && wrong.empty() && !dropped_[f]; b++)
                if (nowhere[f].has(at) ? right[f][b] != 0 : is[f][b] != right[f][b])
                    wrong = names_[f] + " is wrong at element " + std::to_string(k / n_bytes);
        });
    return wrong;
}

std::string RandomSkew::Try(const pti_schedule &schedule, Random *random) const {
    std::vector<const GenericKernel *> kernels;
    for (size_t l = 0; l < static_cast<size_t>(chain_.n_launches); l++)
        kernels.push_back(
            &made_.kernels()[static_cast<size_t>(launches_[first_ + l]->launch.kernel)].generic);
    Bytes host = schedule.in_place ? should_ : before_;
    ChainMemory memory(schedule.arena_bytes);
    const std::string wrong = memory.Run(schedule, kernels, &host, random);
    if (!wrong.empty())
        return wrong;
    const Bytes right = RunChain();
    if (schedule.in_place)
        return host == right ? "" : "an array is wrong in place";
    return Compare(schedule, host, right);
}
