#include "command.h"
#include "help.h"
#include "request.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

static int print_json(const arguments *args, const polytile_kernel *kernel) {
    json_t *proof = json_pack("{s:s, s:b}", "kernel", polytile_kernel_get_name(kernel), "ok", 1);
    if (proof == NULL)
        return library_error(args->subcommand, NULL, POLYTILE_NO_MEMORY);
    json_dumpf(proof, stdout, 0);
    json_decref(proof);
    puts("");
    return finish_results(args->subcommand);
}

static int print_text(const arguments *args, const polytile_chain_launch *launch) {
    const polytile_domain *domain = &launch->domain;
    printf("ok: %s over [", polytile_kernel_get_name(launch->kernel));
    for (int d = 0; d < domain->n_dims; d++)
        printf("%s%" PRId64 ":%" PRId64, d == 0 ? "" : ", ", domain->range[d].lo,
               domain->range[d].hi);
    puts("]: every section meets its array, no two threads write one element unless they combine "
         "into it, and none reads what another writes");
    return finish_results(args->subcommand);
}

static int check_request(const arguments *args, const request *made) {
    const polytile_chain_launch *launch = &made->launch[0];
    polytile_status status =
        polytile_check(launch->kernel, &launch->domain, launch->arrays, &made->options);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    return args->json ? print_json(args, launch->kernel) : print_text(args, launch);
}

/** Several launches need no proof: a plan keeps the order of those that depend on each other. */
static int refuse_chain(const arguments *args) {
    const char *option = arguments_chain_option(args);
    if (option == NULL)
        return EXIT_DONE;
    return usage_error(args->subcommand,
                       "%s is of plan; check proves one launch: check each kernel by itself",
                       option);
}

int check_command(int argc, char **argv) {
    arguments args;
    request made = {0};
    int exit_code = arguments_parse(argc, argv, &args);
    if (exit_code == EXIT_DONE && args.help) {
        exit_code = write_result(args.subcommand, help_check);
    } else if (exit_code == EXIT_DONE) {
        exit_code = refuse_chain(&args);
        if (exit_code == EXIT_DONE)
            exit_code = request_create(&args, &made);
        if (exit_code == EXIT_DONE)
            exit_code = check_request(&args, &made);
    }
    request_free(&made);
    arguments_free(&args);
    return exit_code;
}
