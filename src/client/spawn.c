/* An engine in a process of our own, which speaks the protocol on its standard input and output. Both are one end of a pair of
 * sockets rather than pipes: one descriptor, no SIGPIPE, and a wait that ends in time costs no further system call. It ends at
 * the end of its input, which comes even when we are killed. */
#include "client/internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/error.h"

enum { REAP_MS = 2000 }; /* for an end of its own accord */

extern char **environ;

/* A group of its own: Ctrl+C at our terminal is ours to deal with. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, standard;
    sigemptyset(&none);
    sigemptyset(&standard);
    sigaddset(&standard, SIGINT);
    sigaddset(&standard, SIGTERM);
    sigaddset(&standard, SIGPIPE);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &standard);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

/* 0 or an errno. */
static int start(const char *program, uint32_t threads, int socket_fd, pid_t *process)
{
    char count[16];
    snprintf(count, sizeof count, "%u", threads);
    char *const words[] = {(char *)(uintptr_t)program,
                           (char *)"serve",
                           (char *)"--listen",
                           (char *)"stdio:",
                           (char *)"--log-level",
                           (char *)"warning",
                           (char *)"--threads",
                           count,
                           NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket_fd, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket_fd, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes);
    int failure = posix_spawnp(process, program, &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

swp_status swp__spawn(const char *program, uint32_t threads, swp__stream *stream, pid_t *process, swp_error *error)
{
    int ends[2];
    const char *name = program[0] != '\0' ? program : "sweepd";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "spawn:%.100s: no sockets: %s", program, strerror(errno));
    }
    int failure = start(name, threads, ends[1], process);
    close(ends[1]);
    if (failure != 0) {
        close(ends[0]);
        return swp__fail(error, SWP_REFUSED, SWP_AT_NONE, "spawn:%.100s: cannot start %.100s: %s", program, name,
                         strerror(failure));
    }
    *stream = swp__stream_from_socket(ends[0]);
    return SWP_OK;
}

void swp__spawn_reap(pid_t process)
{
    int fd = (int)syscall(SYS_pidfd_open, process, 0);
    struct pollfd end = {.fd = fd, .events = POLLIN};
    if (fd < 0 || poll(&end, 1, REAP_MS) <= 0) {
        kill(process, SIGKILL);
    }
    if (fd >= 0) {
        close(fd);
    }
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR) {
    }
}
