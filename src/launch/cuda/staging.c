#include "launch/cuda/staging.h"
polytile_status pti_staging_create(pti_cuda_device *cuda, pti_staging **staging) { (void)cuda; *staging = NULL; return POLYTILE_OK; }
void pti_staging_destroy(pti_staging *staging) { (void)staging; }
polytile_status pti_staging_begin(pti_staging *staging, pti_execution *execution) { (void)staging; (void)execution; return POLYTILE_OK; }
polytile_status pti_staging_upload(pti_staging *staging, const pti_command *command) { (void)staging; (void)command; return POLYTILE_OK; }
polytile_status pti_staging_download(pti_staging *staging, const pti_command *command) { (void)staging; (void)command; return POLYTILE_OK; }
polytile_status pti_staging_settle(pti_staging *staging, const pti_command *command) { (void)staging; (void)command; return POLYTILE_OK; }
polytile_status pti_staging_finish(pti_staging *staging, bool succeeded) { (void)staging; (void)succeeded; return POLYTILE_OK; }
