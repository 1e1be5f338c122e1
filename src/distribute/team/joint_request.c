#include "distribute/team/state.h"

pti_joint_request pti_team_joint_request(const pti_team *team, const pti_superstep *superstep,
                                         const pti_superstep_parts *parts, bool runs_once) {
    return (pti_joint_request){.superstep = superstep,
                               .parts = parts,
                               .is_shared = team->is_shared,
                               .n_local = team->transport->n_local,
                               .shares_memory = team->transport->shares_memory,
                               .keeps = team->transport->shares_memory && !runs_once,
                               .is_lent = team->is_lent};
}
