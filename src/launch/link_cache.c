#include "launch/link_cache.h"
bool pti_link_cache_read(polytile_context *ctx, const char *key, polytile_link *link) {
    (void)ctx;
    (void)key;
    (void)link;
    return false;
}
void pti_link_cache_write(polytile_context *ctx, const char *key, const polytile_link *link) {
    (void)ctx;
    (void)key;
    (void)link;
}
