#include "distribute/team/words.h"

#include <stdio.h>

static uint64_t hash_all(const pti_team *team) {
    uint64_t hash = (uint64_t)team->n_recorded + 1;
    for (int k = 0; k < team->n_recorded; k++)
        hash = (hash ^ team->recorded[k].words) * UINT64_C(0x100000001b3);
    return hash;
}

static polytile_status compare_launch(pti_team *team, const pti_recorded *recorded) {
    pti_text words = {0};
    pti_words_of_launch(recorded, &words);
    polytile_status status = team->transport->functions->compare(
        team->transport, recorded->words, words.failed ? "a launch" : words.data);
    pti_text_free(&words);
    return status;
}

static polytile_status compare_number(pti_team *team) {
    char words[64];
    snprintf(words, sizeof words, "%d launches", team->n_recorded);
    return team->transport->functions->compare(team->transport, (uint64_t)team->n_recorded + 1,
                                               words);
}

polytile_status pti_team_compare(pti_team *team) {
    pti_transport *transport = team->transport;
    polytile_status status =
        transport->functions->compare(transport, hash_all(team), "other launches");
    if (status != POLYTILE_INVALID)
        return status;
    PTI_TRY(compare_number(team));
    for (int k = 0; k < team->n_recorded; k++)
        PTI_TRY(compare_launch(team, &team->recorded[k]));
    status = POLYTILE_INVALID;
done:
    return status;
}
