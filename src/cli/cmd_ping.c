/* sweepd ping: how long a crossing takes. Each round trip is an echo, timed by itself. */
#include "cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/host.h"
#include "base/text.h"
#include "cli/engine_url.h"
#include "cli/interrupt.h"

typedef struct ping {
    const swp__arguments *arguments;
    swp_client *client;
    uint8_t *sent, *got;
    uint64_t *ns;   /* of each round trip, sorted when all are done */
    uint64_t count; /* of them; fewer than asked for when interrupted */
} ping;

static swp_status prepare(ping *p, swp_error *error)
{
    const swp__arguments *a = p->arguments;
    p->sent = malloc(a->bytes + 1);
    p->got = malloc(a->bytes + 1);
    p->ns = malloc(a->count * sizeof *p->ns);
    if (p->sent == NULL || p->got == NULL || p->ns == NULL) {
        return swp__fail(error, SWP_NO_MEMORY, SWP_AT_NONE, "no memory for %" PRIu64 " bytes, %" PRIu64 " times", a->bytes,
                         a->count);
    }
    for (uint64_t i = 0; i < a->bytes; i++) {
        p->sent[i] = (uint8_t)(i * 31 + (i >> 8));
    }
    return swp__engine_connect(a, a->operand, &p->client, error);
}

static swp_status echo_once(ping *p, uint64_t *ns, swp_error *error)
{
    uint64_t bytes = p->arguments->bytes;
    memset(p->got, 0, bytes);
    uint64_t begun = swp__now_ns(&swp__system_clock);
    swp_status status = swp_client_echo(p->client, p->sent, bytes, p->got, 0, error);
    *ns = swp__now_ns(&swp__system_clock) - begun;
    if (status == SWP_OK && memcmp(p->sent, p->got, bytes) != 0) {
        return swp__fail(error, SWP_INTERNAL, SWP_AT_NONE, "%s: other bytes came back", p->arguments->operand);
    }
    return status;
}

static int compare_ns(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static swp_status measure(ping *p, const swp_cancel *cancel, swp_error *error)
{
    uint64_t warm_up;
    swp_status status = echo_once(p, &warm_up, error);
    while (status == SWP_OK && p->count < p->arguments->count && cancel->requested == 0) {
        status = echo_once(p, &p->ns[p->count], error);
        p->count += status == SWP_OK ? 1 : 0;
    }
    qsort(p->ns, p->count, sizeof *p->ns, compare_ns);
    return status;
}

/* The smallest of those that `share` of all are not above. */
static double percentile_us(const ping *p, double share)
{
    uint64_t index = (uint64_t)(share * (double)p->count);
    return (double)p->ns[index < p->count ? index : p->count - 1] * 1e-3;
}

static double mean_us(const ping *p)
{
    double sum = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        sum += (double)p->ns[i] * 1e-3;
    }
    return sum / (double)p->count;
}

static const struct {
    const char *name;
    double share;
} columns[] = {{"min", 0.0}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};
enum { COLUMNS_COUNT = sizeof columns / sizeof columns[0] };

static void print_table(const ping *p)
{
    swp_server_info info = swp_client_server(p->client);
    printf("%s: sweepd %s, %" PRIu32 " thread%s\n", p->arguments->operand, info.version, info.threads,
           info.threads == 1 ? "" : "s");
    printf("%" PRIu64 " round trips of %" PRIu64 " bytes, microseconds\n\n", p->count, p->arguments->bytes);
    for (size_t i = 0; i < COLUMNS_COUNT; i++) {
        printf("%10s", columns[i].name);
    }
    printf("%10s\n", "mean");
    for (size_t i = 0; i < COLUMNS_COUNT; i++) {
        printf("%10.2f", percentile_us(p, columns[i].share));
    }
    printf("%10.2f\n", mean_us(p));
}

static void print_json(const ping *p)
{
    char quoted[2048];
    swp__text url = {.at = quoted, .size = sizeof quoted};
    swp_server_info info = swp_client_server(p->client);
    swp__text_add_json(&url, p->arguments->operand, strlen(p->arguments->operand));
    printf("{\"url\":%.*s,\"version\":\"%s\",\"threads\":%" PRIu32 ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64
           ",\"round_trip_us\":{",
           (int)url.length, quoted, info.version, info.threads, p->count, p->arguments->bytes);
    for (size_t i = 0; i < COLUMNS_COUNT; i++) {
        printf("\"%s\":%.3f,", columns[i].name, percentile_us(p, columns[i].share));
    }
    printf("\"mean\":%.3f}}\n", mean_us(p));
}

int swp__ping_command(const swp__arguments *arguments)
{
    ping p = {.arguments = arguments};
    swp_error error;
    int signal_number = 0;
    swp_status status = prepare(&p, &error);
    if (status == SWP_OK) {
        const swp_cancel *cancel = swp__interrupt_begin();
        status = measure(&p, cancel, &error);
        signal_number = swp__interrupt_end();
    }
    if (p.count > 0) {
        (arguments->format == SWP__FORMAT_JSON ? print_json : print_table)(&p);
    }
    swp_client_close(p.client);
    free(p.sent);
    free(p.got);
    free(p.ns);
    return status != SWP_OK ? swp__exit_failed(&error) : signal_number != 0 ? SWP__EXIT_SIGNAL + signal_number : SWP__EXIT_OK;
}
