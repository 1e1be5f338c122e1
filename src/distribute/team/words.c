#include "distribute/team/words.h"

#include "access/declare/access_text.h"

static void write_declaration(pti_text *words, const polytile_declaration *declaration) {
    pti_text_add(words, "%s:", declaration->name);
    for (int a = 0; a < declaration->n_accesses; a++) {
        pti_text_add(words, a == 0 ? " " : "; ");
        pti_access_write_declared(words, declaration, &declaration->access[a]);
    }
}

static void write_operands(pti_text *words, const pti_prepared *prepared) {
    for (int a = 0; a < prepared->n_arrays; a++) {
        const pti_operand *operand = &prepared->instance->operand[a];
        pti_text_add(words, "%s %s (array %d, %lld bytes) ", a == 0 ? " with" : ",", operand->name,
                     prepared->position[a], (long long)operand->element_bytes);
        pti_domain_write(words, &operand->domain);
    }
}

/** Write the values of parameters that sections need, and all that the body gets. */
static void write_parameters(pti_text *words, const pti_recorded *recorded) {
    const polytile_declaration *declaration = recorded->kernel->declaration;
    for (int p = 0; p < declaration->n_parameters; p++) {
        if (declaration->is_in_subscripts[p])
            pti_text_add(words, ", %s = %lld", declaration->parameter_name[p],
                         (long long)recorded->prepared->instance->parameter[p]);
    }
    for (int v = 0; v < recorded->prepared->body.n_values; v++)
        pti_value_write(words, recorded->kernel, v, &recorded->values[v]);
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
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *words != '\0'; words++)
        hash = (hash ^ (unsigned char)*words) * UINT64_C(0x100000001b3);
    return hash == 0 ? 1 : hash;
}
