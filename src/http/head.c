#include "http/head.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/error.h"

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Whether it names this machine, with or without a port. */
static bool host_is_ours(const char *host)
{
    char url[80];
    swp__address address;
    bool has_port = host != NULL && strchr(host, ':') != NULL && host[strlen(host) - 1] != ']';
    if (host == NULL || (size_t)snprintf(url, sizeof url, "tcp:%s%s", host, has_port ? "" : ":80") >= sizeof url) {
        return false;
    }
    return swp__address_parse(url, &address, NULL) == SWP_OK;
}

static bool token_is_right(const swp__token *token, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0) {
        return false;
    }
    const char *brought = authorization + sizeof scheme - 1;
    return swp__token_equal(brought, strlen(brought), token->bytes, token->size);
}

static bool type_is_json(const char *type)
{
    static const char json[] = "application/json";
    return type != NULL && strncasecmp(type, json, sizeof json - 1) == 0 && strchr("; ", type[sizeof json - 1]) != NULL;
}

static bool method_fits(const swp__head_rules *rules, const char *method)
{
    bool is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    return strcmp(rules->method, is_head ? MHD_HTTP_METHOD_GET : method) == 0;
}

/* Of a POST: what it brings. */
static unsigned judge_content(struct MHD_Connection *connection, uint64_t most, swp_error *error)
{
    const char *encoding = header_of(connection, MHD_HTTP_HEADER_CONTENT_ENCODING);
    if (!type_is_json(header_of(connection, MHD_HTTP_HEADER_CONTENT_TYPE)) ||
        (encoding != NULL && strcasecmp(encoding, "identity") != 0)) {
        swp__fail(error, SWP_UNKNOWN, SWP_AT_NONE, "expected Content-Type: application/json, and no Content-Encoding");
        return MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
    }
    const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t size = length != NULL ? strtoull(length, NULL, 10) : 0;
    if (size > most) {
        swp__fail_limit(error, most, size, "the body has %" PRIu64 " bytes, --max-body is %" PRIu64, size, most);
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    return 0;
}

unsigned swp__head_judge(struct MHD_Connection *connection, const char *method, const swp__head_rules *rules,
                         const swp__door_options *options, swp__header *extra, swp_error *error)
{
    if (!host_is_ours(header_of(connection, MHD_HTTP_HEADER_HOST))) {
        swp__fail(error, SWP_DENIED, SWP_AT_NONE,
                  "the Host header names no host of this machine: expected localhost, 127.x.y.z "
                  "or [::1], with or without a port");
        return MHD_HTTP_FORBIDDEN;
    }
    if (rules == NULL) {
        swp__fail(error, SWP_UNKNOWN, SWP_AT_NONE, "no such path; these are: GET /healthz, GET /metrics, POST /v1/sweep");
        return MHD_HTTP_NOT_FOUND;
    }
    if (!method_fits(rules, method)) {
        *extra = (swp__header){MHD_HTTP_HEADER_ALLOW, rules->method};
        swp__fail(error, SWP_UNKNOWN, SWP_AT_NONE, "%s takes %s only", rules->path, rules->method);
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (!rules->is_open && options->token->size > 0 &&
        !token_is_right(options->token, header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION))) {
        *extra = (swp__header){MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer"};
        swp__fail(error, SWP_DENIED, SWP_AT_NONE, "the engine asks for a token: send Authorization: Bearer TOKEN");
        return MHD_HTTP_UNAUTHORIZED;
    }
    bool is_post = strcmp(rules->method, MHD_HTTP_METHOD_POST) == 0;
    return is_post ? judge_content(connection, options->limits->max_body, error) : 0;
}
