#include "distribute/group/words.h"

#include "access/declare/access_text.h"
#include "access/footprint/indirection.h"
#include "base/half.h"
#include "base/mix.h"

#include <string.h>

static void write_declaration(pti_text *words, const polytile_declaration *declaration) {
    pti_text_add(words, "%s:", declaration->name);
    for (int a = 0; a < declaration->n_accesses; a++) {
        pti_text_add(words, a == 0 ? " " : "; ");
        pti_access_write_declared(words, declaration, &declaration->access[a]);
    }
}

/** Write the hash of what subscripts look up, which has to be the same on all ranks. */
static void write_held(pti_text *words, const pti_inspection *inspection, int operand) {
    if (inspection != NULL && operand < inspection->n_operands &&
        inspection->array[operand] != NULL)
        pti_text_add(words, " holding %016llx",
                     (unsigned long long)inspection->array[operand]->hash);
}

static void write_operands(pti_text *words, const pti_prepared *prepared) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        const pti_operand *operand = &prepared->instance->operand[a];
        pti_text_add(words, "%s %s (array %d, %lld bytes) ", a == 0 ? " with" : ",", operand->name,
                     prepared->position[a], (long long)operand->element_bytes);
        pti_domain_write(words, &operand->domain);
        write_held(words, prepared->instance->inspection, a);
    }
}

static void write_value(pti_text *words, polytile_type type, const pti_value *value) {
    const int unused_bits = 64 - 8 * (int)polytile_type_get_bytes(type);
    uint64_t bits;
    double f64;
    float f32;
    memcpy(&bits, value->bytes, sizeof bits);
    memcpy(&f64, value->bytes, sizeof f64);
    memcpy(&f32, value->bytes, sizeof f32);
    if (type == POLYTILE_F64)
        pti_text_add(words, "%.17g", f64);
    else if (type == POLYTILE_F32)
        pti_text_add(words, "%.9g", (double)f32);
    else if (type == POLYTILE_F16)
        pti_text_add(words, "%.5g", (double)pti_half_to_float((uint16_t)bits));
    else if (type == POLYTILE_BF16)
        pti_text_add(words, "%.4g", (double)pti_brain_to_float((uint16_t)bits));
    else if (type <= POLYTILE_I64)
        pti_text_add(words, "%lld", (long long)((int64_t)(bits << unused_bits) >> unused_bits));
    else
        pti_text_add(words, "%llu", (unsigned long long)bits);
}

/** Write the values of parameters that the body gets or sections need, each once. */
static void write_parameters(pti_text *words, const pti_recorded *recorded) {
    const polytile_declaration *declaration = recorded->kernel->declaration;
    for (int p = 0; p < declaration->n_parameters; p++) {
        const int of_body = recorded->kernel->body_value[p];
        if (of_body < 0 && !declaration->is_in_subscripts[p])
            continue;
        pti_text_add(words, ", %s = ", declaration->parameter_name[p]);
        if (of_body >= 0)
            write_value(words, declaration->parameter_type[p], &recorded->values[of_body]);
        else
            pti_text_add(words, "%lld", (long long)recorded->prepared->instance->parameter[p]);
    }
}

static void write_options(pti_text *words, const polytile_plan_options *options) {
    if (options->launches_per_pass > 0)
        pti_text_add(words, ", %lld launches a pass", (long long)options->launches_per_pass);
}

void pti_words_of_launch(const pti_recorded *recorded, pti_text *words) {
    write_declaration(words, recorded->kernel->declaration);
    pti_text_add(words, " over ");
    pti_domain_write(words, &recorded->prepared->domain);
    write_operands(words, recorded->prepared);
    write_parameters(words, recorded);
    write_options(words, &recorded->prepared->options);
}

uint64_t pti_words_hash(const char *words) {
    const uint64_t hash = pti_mix_text(0, words);
    return hash == 0 ? 1 : hash;
}
