#include "distribute/members/prepared_superstep.h"
#include "distribute/members/state.h"

pti_joint_request pti_group_joint_request(const pti_group *group, const pti_superstep *superstep,
                                          const pti_superstep_parts *parts, bool runs_once,
                                          bool pulls) {
    return (pti_joint_request){.superstep = superstep,
                               .parts = parts,
                               .is_shared = group->is_shared,
                               .n_local = group->transport->n_local,
                               .shares_memory = group->transport->shares_memory,
                               .keeps = group->transport->shares_memory && !runs_once,
                               .pulls = pulls,
                               .is_lent = group->is_lent};
}
