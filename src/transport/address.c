/* Addresses as text, and the default socket's place. */
#include "transport/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"

static const struct {
    const char *prefix;
    swp__scheme scheme;
} schemes[] = {
    {"unix:", SWP__SCHEME_UNIX},   {"shm:", SWP__SCHEME_SHM},     {"tcp:", SWP__SCHEME_TCP},
    {"stdio:", SWP__SCHEME_STDIO}, {"spawn:", SWP__SCHEME_SPAWN}, {"inproc:", SWP__SCHEME_INPROC},
};

static swp_status parse_port(const char *url, const char *text, uint16_t *port, swp_error *error)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value > UINT16_MAX) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "address \"%.100s\": port is \"%.20s\", expected 0..65535", url, text);
    }
    *port = (uint16_t)value;
    return SWP_OK;
}

static bool parse_host(const char *host, swp__address *address)
{
    struct in_addr v4;
    if (strcmp(host, "[::1]") == 0) {
        address->ipv6 = true;
        return true;
    }
    if (strcmp(host, "localhost") == 0) {
        address->ipv4 = INADDR_LOOPBACK;
        return true;
    }
    if (inet_pton(AF_INET, host, &v4) != 1 || ntohl(v4.s_addr) >> 24 != 127) {
        return false;
    }
    address->ipv4 = ntohl(v4.s_addr);
    return true;
}

static swp_status parse_tcp(const char *url, const char *rest, swp__address *address, swp_error *error)
{
    char host[64];
    const char *colon = strrchr(rest, ':');
    if (colon == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "address \"%.100s\": expected tcp:HOST:PORT", url);
    }
    size_t length = (size_t)(colon - rest);
    if (length >= sizeof host) {
        length = sizeof host - 1;
    }
    memcpy(host, rest, length);
    host[length] = '\0';
    if (!parse_host(host, address)) {
        return swp__fail(error, SWP_BAD_PARAM, 1,
                         "address \"%.100s\": host is \"%s\", expected localhost, 127.x.y.z or [::1]; for other "
                         "machines use an SSH or TLS tunnel",
                         url, host);
    }
    return parse_port(url, colon + 1, &address->port, error);
}

static swp_status parse_path(const char *url, const char *rest, size_t size, swp__address *address, swp_error *error)
{
    size_t length = strlen(rest);
    if (length >= size) {
        return swp__fail(error, SWP_BAD_PARAM, 1, "address \"%.100s\": the path has %zu bytes, at most %zu are possible", url,
                         length, size - 1);
    }
    memcpy(address->path, rest, length + 1);
    return SWP_OK;
}

swp_status swp__address_parse(const char *url, swp__address *address, swp_error *error)
{
    swp__address parsed = {0};
    const char *rest = NULL;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes && rest == NULL; i++) {
        if (strncmp(url, schemes[i].prefix, strlen(schemes[i].prefix)) == 0) {
            parsed.scheme = schemes[i].scheme;
            rest = url + strlen(schemes[i].prefix);
        }
    }
    if (rest == NULL) {
        return swp__fail(error, SWP_BAD_PARAM, 1,
                         "address \"%.100s\": expected unix:PATH, tcp:HOST:PORT, stdio:, shm:PATH, spawn: or inproc:", url);
    }
    swp_status status = SWP_OK;
    switch (parsed.scheme) {
    case SWP__SCHEME_UNIX:
    case SWP__SCHEME_SHM:
        status = parse_path(url, rest, SWP__SOCKET_PATH_SIZE, &parsed, error);
        break;
    case SWP__SCHEME_SPAWN:
        status = parse_path(url, rest, sizeof parsed.path, &parsed, error);
        break;
    case SWP__SCHEME_TCP:
        status = parse_tcp(url, rest, &parsed, error);
        break;
    case SWP__SCHEME_STDIO:
    case SWP__SCHEME_INPROC:
        if (*rest != '\0') {
            status = swp__fail(error, SWP_BAD_PARAM, 1, "address \"%.100s\": nothing may follow the colon", url);
        }
        break;
    }
    if (status == SWP_OK) {
        *address = parsed;
    }
    return status;
}

void swp__address_print(const swp__address *address, char text[SWP__ADDRESS_TEXT_SIZE])
{
    const char *prefix = "";
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        prefix = schemes[i].scheme == address->scheme ? schemes[i].prefix : prefix;
    }
    if (address->scheme != SWP__SCHEME_TCP) {
        snprintf(text, SWP__ADDRESS_TEXT_SIZE, "%s%s", prefix, address->path);
    } else if (address->ipv6) {
        snprintf(text, SWP__ADDRESS_TEXT_SIZE, "tcp:[::1]:%u", (unsigned)address->port);
    } else {
        uint32_t ip = address->ipv4;
        snprintf(text, SWP__ADDRESS_TEXT_SIZE, "tcp:%u.%u.%u.%u:%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255,
                 (unsigned)address->port);
    }
}

/* A directory that only we can write into. */
static swp_status check_directory(const char *directory, swp_error *error)
{
    struct stat info;
    if (lstat(directory, &info) != 0) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "nobody listens: the default socket's directory %s: %s", directory,
                         strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "%s, of the default socket, is not a directory", directory);
    }
    if (info.st_uid != geteuid()) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE,
                         "directory %s of the default socket belongs to uid %u, not to us (%u): name a socket of your "
                         "own",
                         directory, (unsigned)info.st_uid, (unsigned)geteuid());
    }
    if ((info.st_mode & 022) != 0) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE,
                         "directory %s of the default socket has mode %04o: others can write into it; chmod it to 0700",
                         directory, (unsigned)(info.st_mode & 07777));
    }
    return SWP_OK;
}

static const char *temporary_directory(void)
{
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] == '/' ? named : P_tmpdir;
}

swp_status swp__default_socket_path(bool create, char path[SWP__SOCKET_PATH_SIZE], swp_error *error)
{
    char directory[SWP__SOCKET_PATH_SIZE];
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    bool own = runtime == NULL || runtime[0] != '/';
    int length = own ? snprintf(directory, sizeof directory, "%s/sweepd-%u", temporary_directory(), (unsigned)geteuid())
                     : snprintf(directory, sizeof directory, "%s", runtime);
    if (length < 0 || (size_t)length + sizeof "/sweepd.sock" > SWP__SOCKET_PATH_SIZE) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE,
                         "the default socket's path would have more than %d bytes: name one with unix:PATH",
                         SWP__SOCKET_PATH_SIZE - 1);
    }
    if (own && create && mkdir(directory, 0700) != 0 && errno != EEXIST) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "cannot make %s: %s", directory, strerror(errno));
    }
    swp_status status = check_directory(directory, error);
    if (status == SWP_OK) {
        memcpy(path, directory, (size_t)length);
        memcpy(path + length, "/sweepd.sock", sizeof "/sweepd.sock");
    }
    return status;
}
