#include "server/notify.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void swp__notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof name.sun_path) {
        return;
    }
    size_t length = strlen(path);
    memcpy(name.sun_path, path, length);
    if (path[0] == '@') {
        name.sun_path[0] = '\0'; /* the abstract name space */
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
        (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&name, size);
        close(fd);
    }
}

static long long number_from(const char *variable)
{
    const char *text = getenv(variable);
    char *end;
    long long value = text != NULL ? strtoll(text, &end, 10) : -1;
    return text != NULL && *text != '\0' && *end == '\0' ? value : -1;
}

uint64_t swp__notify_watchdog_ns(void)
{
    long long us = number_from("WATCHDOG_USEC");
    long long pid = number_from("WATCHDOG_PID");
    return us > 0 && (pid < 0 || pid == getpid()) ? (uint64_t)us * 1000 : 0;
}

int swp__notify_sockets_count(void)
{
    long long count = number_from("LISTEN_FDS");
    bool ours = number_from("LISTEN_PID") == getpid();
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDNAMES");
    return ours && count > 0 && count < 1000 ? (int)count : 0;
}
