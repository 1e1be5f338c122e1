#include "base/text.h"
#include "command.h"
#include "help.h"
#include "partition/plan_words.h"
#include "request.h"

#include <jansson.h>
#include <stdlib.h>

static int print_json(const arguments *args, const polytile_kernel *kernel) {
    json_t *proof = json_pack("{s:s, s:b}", "kernel", polytile_kernel_get_name(kernel), "ok", 1);
    char *line = proof == NULL ? NULL : json_dumps(proof, 0);
    pti_text out = {0};
    pti_text_add(&out, "%s\n", line == NULL ? "" : line);
    int exit_code = line == NULL || out.failed
                        ? library_error(args->subcommand, NULL, POLYTILE_NO_MEMORY)
                        : write_result(args->subcommand, out.data);
    pti_text_free(&out);
    free(line);
    json_decref(proof);
    return exit_code;
}

static int print_text(const arguments *args, const polytile_kernel *kernel) {
    pti_text out = {0};
    pti_text_add(&out, "ok: %s over ", polytile_kernel_get_name(kernel));
    pti_words_box(&out, &args->domain);
    pti_text_add(&out, ": every section meets its array, no two threads write one element unless "
                       "they combine into it, and none reads what another writes\n");
    int exit_code = out.failed ? library_error(args->subcommand, NULL, POLYTILE_NO_MEMORY)
                               : write_result(args->subcommand, out.data);
    pti_text_free(&out);
    return exit_code;
}

static int check_request(const arguments *args, const request *made) {
    polytile_status status =
        polytile_check(made->kernel, &args->domain, made->array, &made->options);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    return args->json ? print_json(args, made->kernel) : print_text(args, made->kernel);
}

int check_command(int argc, char **argv) {
    arguments args;
    request made = {0};
    int exit_code = arguments_parse(argc, argv, &args);
    if (exit_code == EXIT_DONE && args.help) {
        exit_code = write_result(args.subcommand, help_check);
    } else if (exit_code == EXIT_DONE) {
        exit_code = request_create(&args, &made);
        if (exit_code == EXIT_DONE)
            exit_code = check_request(&args, &made);
    }
    request_free(&made);
    arguments_free(&args);
    return exit_code;
}
