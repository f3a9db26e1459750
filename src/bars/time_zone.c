/* Files of RFC 8536 (TZif), version 2 and later: of each the 64-bit part is read. Nothing in it is believed that its size
 * does not bear out. */
#include "bars/time_zone.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

enum { FILE_SIZE_MAX = 1 << 16, HEADER_SIZE = 44, TYPE_SIZE = 6 };

typedef struct counts {
    uint32_t is_utc, is_standard, leap, changes, types, letters;
} counts;

static uint64_t big_endian(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

static bool take_header(const unsigned char *bytes, size_t size, counts *c)
{
    if (size < HEADER_SIZE || memcmp(bytes, "TZif", 4) != 0 || bytes[4] < '2') {
        return false;
    }
    uint32_t *const fields[] = {&c->is_utc, &c->is_standard, &c->leap, &c->changes, &c->types, &c->letters};
    for (size_t i = 0; i < 6; i++) {
        *fields[i] = (uint32_t)big_endian(bytes + 20 + 4 * i, 4);
        if (*fields[i] > FILE_SIZE_MAX) {
            return false;
        }
    }
    return true;
}

static size_t body_size(const counts *c, size_t time_size)
{
    return c->changes * (time_size + 1) + (size_t)c->types * TYPE_SIZE + c->letters + c->leap * (time_size + 4) +
           c->is_standard + c->is_utc;
}

/* The 64-bit part behind its header. */
static bool take_body(const unsigned char *at, const unsigned char *end, const counts *c, swp__zone *zone)
{
    size_t size = body_size(c, 8);
    if ((size_t)(end - at) < size || c->changes > SWP__ZONE_CHANGES_MAX || c->types == 0) {
        return false;
    }
    const unsigned char *indices = at + 8 * (size_t)c->changes, *types = indices + c->changes;
    zone->before = (int32_t)big_endian(types, 4);
    zone->changes_count = c->changes;
    for (size_t i = 0; i < c->changes; i++) {
        zone->changes[i] = (int64_t)big_endian(at + 8 * i, 8);
        if (indices[i] >= c->types || (i > 0 && zone->changes[i] <= zone->changes[i - 1])) {
            return false;
        }
        zone->offsets[i] = (int32_t)big_endian(types + TYPE_SIZE * (size_t)indices[i], 4);
    }
    const unsigned char *rule = at + size; /* "\nEST5EDT,M3.2.0,M11.1.0\n": a comma says that clocks go on changing */
    bool goes_on = memchr(rule, ',', (size_t)(end - rule)) != NULL;
    zone->known_until = !goes_on || c->changes == 0 ? INT64_MAX : zone->changes[c->changes - 1];
    return true;
}

static bool parse_file(const unsigned char *bytes, size_t size, swp__zone *zone)
{
    counts c;
    if (!take_header(bytes, size, &c)) {
        return false;
    }
    size_t second = HEADER_SIZE + body_size(&c, 4);
    if (second > size || !take_header(bytes + second, size - second, &c)) {
        return false;
    }
    return take_body(bytes + second + HEADER_SIZE, bytes + size, &c, zone);
}

/* Names stay below the folder of zones. */
static bool is_name(const char *name)
{
    return *name != '\0' && *name != '/' && strstr(name, "..") == NULL && strlen(name) < 64;
}

static bool read_file(const char *name, swp__zone *zone)
{
    char path[128];
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    FILE *file = fopen(path, "rbe");
    unsigned char *bytes = file != NULL ? malloc(FILE_SIZE_MAX) : NULL;
    size_t size = bytes != NULL ? fread(bytes, 1, FILE_SIZE_MAX, file) : 0;
    bool read = parse_file(bytes, size, zone);
    free(bytes);
    if (file != NULL) {
        fclose(file);
    }
    return read;
}

static bool digits(const char *text, int *value)
{
    *value = (text[0] - '0') * 10 + (text[1] - '0');
    return text[0] >= '0' && text[0] <= '9' && text[1] >= '0' && text[1] <= '9';
}

/* +02:00, +0200, +02 */
static bool parse_offset(const char *name, int64_t *seconds)
{
    int hours = 0, minutes = 0;
    size_t size = strlen(name);
    if ((size != 3 && size != 5 && size != 6) || (name[0] != '+' && name[0] != '-') || !digits(name + 1, &hours) ||
        (size == 6 && name[3] != ':') || (size > 3 && !digits(name + size - 2, &minutes)) || hours > 15 || minutes > 59) {
        return false;
    }
    *seconds = (name[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

swp_status swp__zone_find(const char *name, swp__zone *zone, swp_error *error)
{
    zone->before = 0;
    zone->changes_count = 0;
    zone->known_until = INT64_MAX;
    if (strcmp(name, "UTC") == 0 || strcmp(name, "Z") == 0 || parse_offset(name, &zone->before) ||
        (is_name(name) && read_file(name, zone))) {
        return SWP_OK;
    }
    return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE,
                     "time zone \"%.60s\" is not known here; expected UTC, +02:00 or a name such as Europe/Paris", name);
}

const char *swp__zone_to_utc(const swp__zone *zone, int64_t local, int64_t *utc)
{
    /* The offset that holds a day earlier, and those that come within two days: the first that gives the local time back. */
    size_t low = 0, high = zone->changes_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->changes[middle] <= local - 86400) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (;; low++) {
        int64_t offset = low == 0 ? zone->before : zone->offsets[low - 1];
        int64_t from = low == 0 ? INT64_MIN : zone->changes[low - 1];
        int64_t until = low < zone->changes_count ? zone->changes[low] : INT64_MAX;
        if (local - offset >= from && local - offset < until) {
            *utc = local - offset;
            return *utc > zone->known_until ? "is beyond the years that the file of the time zone covers" : NULL;
        }
        if (low == zone->changes_count || from > local + 86400) {
            return "is skipped by the clocks of the time zone";
        }
    }
}
