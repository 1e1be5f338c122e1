#include "distribute/joint_program.h"

JointProgram::JointProgram(const SharedProgram &program, int n_members, Random *random)
    : program_(program), n_members_(n_members), is_within_(random->chance(60)),
      keeps_(is_within_ && random->chance(40)), launches_(program.launches()) {
    const int n_arrays = static_cast<int>(program.ownerships().size());
    pti_copies_create(n_arrays, n_members, &copies_);
    is_shared_.reset(new bool[static_cast<size_t>(n_arrays)]);
    is_lent_.reset(new bool[static_cast<size_t>(n_arrays)]);
    for (int a = 0; a < n_arrays; a++) {
        is_shared_[static_cast<size_t>(a)] = is_within_ && random->chance(80);
        is_lent_[static_cast<size_t>(a)] = is_within_ && random->chance(50);
        names_.push_back(std::string(1, static_cast<char>('A' + a)));
    }
    for (pti_shared_launch &launch : launches_) {
        launch.runs_once = false;
        for (int o = 0; o < launch.call.instance->n_operands && !keeps_; o++)
            launch.runs_once |= launch.call.instance->operand[o].writes &&
                                is_shared_[static_cast<size_t>(launch.call.array[o])];
    }
}

std::string JointProgram::text() const {
    std::string text =
        is_within_ ? keeps_ ? "keeping members, shared" : "members, shared" : "ranks";
    for (size_t a = 0; a < names_.size(); a++)
        text += is_shared_[a] ? " " + names_[a] : "";
    return text + "\n" + program_.text();
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
    pti_superstep_deal(&superstep, 0, n_members_, &after, &parts);
    const int n_local = is_within_ ? n_members_ : 1;
    std::vector<polytile_domain> inner(static_cast<size_t>(n_members_));
    for (int q = 0; q < n_members_; q += n_local)
        pti_interiors_find(&superstep, &parts, q, n_local, &inner[static_cast<size_t>(q)]);
    std::vector<const char *> names;
    for (const std::string &name : names_)
        names.push_back(name.c_str());
    pti_joint_request request = {};
    request.superstep = &superstep;
    request.parts = &parts;
    request.inner = random->chance(80) ? inner.data() : nullptr;
    request.is_shared = is_shared_.get();
    request.shares_memory = is_within_;
    request.keeps = keeps_;
    request.meets = pti_joint_meets(&request);
    request.is_lent = is_lent_.get();
    request.name = names.data();
    pti_joint_drop_halos(&request, &after);
    JointSchedule schedule(pti_joint_plan(&request, n_local, &copies_, &after));
    pti_joint_lend(&request, 0, n_members_, is_lent_.get());
    pti_copies_assign(&copies_, &after);
    pti_copies_free(&after);
    pti_superstep_parts_free(&parts);
    first_ += static_cast<size_t>(superstep.n_launches);
    return schedule;
}
