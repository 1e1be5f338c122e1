#include "distribute/joint_program.h"

#include "support/box_memory.h"

#include <algorithm>

extern "C" {
#include "distribute/exchange/interior.h"
}

namespace {

/** How many members each process has. */
int draw_local(int n_members, Random *random) {
    const bool has_levels = random->chance(40);
    int n_local = random->chance(60) ? n_members : 1;
    if (has_levels)
        do
            n_local = static_cast<int>(random->number(1, n_members));
        while (n_members % n_local != 0);
    return n_local;
}

} // namespace

JointProgram::JointProgram(const SharedProgram &program, int n_members, Random *random)
    : program_(program), n_members_(n_members), n_local_(draw_local(n_members, random)),
      is_within_(n_local_ > 1 || (n_members == 1 && random->chance(50))),
      keeps_(is_within_ && random->chance(40)), launches_(program.launches()) {
    make_arrays();
    for (size_t a = 0; a < names_.size(); a++) {
        is_shared_[a] = is_within_ && random->chance(80);
        is_lent_[a] = is_within_ && random->chance(50);
    }
    for (int member = 0; member < n_members && random->chance(40); member++)
        for (size_t a = 0; a < names_.size(); a++)
            draw_copies(static_cast<int>(a), member, random);
    find_what_runs_once();
}

JointProgram::JointProgram(const SharedProgram &program, int n_members, int n_local)
    : program_(program), n_members_(n_members), n_local_(n_local), is_within_(true), keeps_(false),
      launches_(program.launches()) {
    make_arrays();
    std::fill_n(is_shared_.get(), names_.size(), true);
    find_what_runs_once();
}

void JointProgram::make_arrays() {
    const size_t n_arrays = program_.ownerships().size();
    pti_copies_create(static_cast<int>(n_arrays), n_members_, &copies_);
    is_shared_.reset(new bool[n_arrays]());
    is_lent_.reset(new bool[n_arrays]());
    for (size_t a = 0; a < n_arrays; a++)
        names_.push_back(std::string(1, static_cast<char>('A' + a)));
}

void JointProgram::find_what_runs_once() {
    for (pti_shared_launch &launch : launches_) {
        launch.runs_once = false;
        for (int o = 0; o < launch.call.instance->n_operands && !keeps_; o++)
            launch.runs_once |= launch.call.instance->operand[o].writes &&
                                is_shared_[static_cast<size_t>(launch.call.array[o])];
    }
}

void JointProgram::draw_copies(int array, int member, Random *random) {
    const pti_ownership &ownership = program_.ownerships()[static_cast<size_t>(array)];
    if (ownership.domain.n_dims == 0 || random->chance(50))
        return;
    pti_boxes *copies = pti_copies_get(&copies_, array, member);
    pti_boxes owned = {};
    polytile_domain box = random_box_in(*random, ownership.domain);
    box = pti_box_without_steps(&box);
    pti_boxes_assign(copies, &box);
    for (int q = member - member % n_local_; q < member - member % n_local_ + n_local_; q++) {
        pti_ownership_boxes(&ownership, q, &owned);
        pti_boxes_subtract_all(copies, &owned);
    }
    pti_boxes_free(&owned);
}

std::string JointProgram::text() const {
    std::string text = std::to_string(n_ranks()) + " ranks of ";
    text += is_within_ ? keeps_ ? "keeping members, shared" : "members, shared" : "a member";
    for (size_t a = 0; a < names_.size(); a++)
        text += is_shared_[a] ? " " + names_[a] : "";
    return text + "\n" + program_.text();
}

/** What a rank lends is taken as lent on all. */
void JointProgram::lend(const pti_joint_request &request) {
    const size_t n_arrays = names_.size();
    std::vector<bool> any(n_arrays);
    for (int rank = 0; rank < n_ranks(); rank++) {
        std::unique_ptr<bool[]> lent(new bool[n_arrays]);
        std::copy_n(is_lent_.get(), n_arrays, lent.get());
        pti_joint_lend(&request, rank * n_local_, n_local_, lent.get());
        for (size_t a = 0; a < n_arrays; a++)
            any[a] = any[a] || lent[a];
    }
    std::copy(any.begin(), any.end(), is_lent_.get());
}

JointSchedule JointProgram::Next(Random *random) {
    if (first_ == launches_.size())
        return nullptr;
    pti_superstep superstep = {
        static_cast<int>(launches_.size() - first_), launches_.data() + first_,
        static_cast<int>(program_.ownerships().size()), program_.ownerships().data(), n_members_};
    const int longest = pti_superstep_longest(&superstep);
    superstep.n_launches = is_within_ && !keeps_ ? 1
                           : random->chance(50)  ? longest
                                                 : static_cast<int>(random->number(1, longest));
    pti_copies after = {};
    pti_superstep_parts parts = {};
    pti_copies_create(copies_.n_arrays, n_members_, &after);
    pti_copies_assign(&after, &copies_);
    pti_superstep_cut(&superstep, 0, n_members_, &after, &parts);
    std::vector<polytile_domain> inner(static_cast<size_t>(n_members_));
    for (int q = 0; q < n_members_; q += n_local_)
        pti_interiors_find(&superstep, &parts, is_shared_.get(), q, n_local_,
                           &inner[static_cast<size_t>(q)]);
    std::vector<const char *> names;
    for (const std::string &name : names_)
        names.push_back(name.c_str());
    pti_joint_request request = {};
    request.superstep = &superstep;
    request.parts = &parts;
    request.inner = random->chance(80) ? inner.data() : nullptr;
    request.is_shared = is_shared_.get();
    request.n_local = n_local_;
    request.shares_memory = is_within_;
    request.keeps = keeps_;
    request.pulls = keeps_ && random->chance(60);
    request.meets = pti_joint_meets(&request);
    request.is_lent = is_lent_.get();
    request.name = names.data();
    pti_joint_drop_ghosts(&request, &after);
    JointSchedule schedule(pti_joint_plan(&request, n_local_, &copies_, &after));
    lend(request);
    pti_copies_assign(&copies_, &after);
    pti_copies_free(&after);
    pti_superstep_parts_free(&parts);
    first_ += static_cast<size_t>(superstep.n_launches);
    return schedule;
}
