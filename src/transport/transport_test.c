/* One suite stamped over the doors: whatever goes in at one end comes out at the other, whole, in order. */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/host.h"
#include "transport/poller.h"
#include "transport/transport.h"

/* ---- addresses ---- */

static void assert_parses(const char *url, const char *again)
{
    swp__address address;
    char text[SWP__ADDRESS_TEXT_SIZE];
    assert_int_equal(swp__address_parse(url, &address, NULL), SWP_OK);
    swp__address_print(&address, text);
    assert_string_equal(text, again);
}

static void assert_refuses(const char *url, const char *says)
{
    swp__address address;
    swp_error error;
    assert_int_equal(swp__address_parse(url, &address, &error), SWP_BAD_PARAM);
    if (strstr(error.message, says) == NULL) {
        fail_msg("\"%s\": \"%s\" does not say \"%s\"", url, error.message, says);
    }
}

TEST(address_text_is_taken_apart_and_printed_again)
{
    assert_parses("unix:/run/sweepd.sock", "unix:/run/sweepd.sock");
    assert_parses("unix:", "unix:");
    assert_parses("shm:a b", "shm:a b");
    assert_parses("tcp:localhost:7000", "tcp:127.0.0.1:7000");
    assert_parses("tcp:127.0.3.4:0", "tcp:127.0.3.4:0");
    assert_parses("tcp:[::1]:65535", "tcp:[::1]:65535");
    assert_parses("stdio:", "stdio:");
    assert_parses("spawn:", "spawn:");
    assert_parses("spawn:/usr/bin/sweepd", "spawn:/usr/bin/sweepd");
    assert_parses("inproc:", "inproc:");
}

TEST(address_refuses_what_is_not_one_and_says_what_was_expected)
{
    assert_refuses("", "expected unix:PATH");
    assert_refuses("/run/sweepd.sock", "expected unix:PATH");
    assert_refuses("tcp:7000", "expected tcp:HOST:PORT");
    assert_refuses("tcp:0.0.0.0:7000", "SSH or TLS tunnel");
    assert_refuses("tcp:192.168.1.1:7000", "SSH or TLS tunnel");
    assert_refuses("tcp:example.org:7000", "SSH or TLS tunnel");
    assert_refuses("tcp::7000", "expected localhost");
    assert_refuses("tcp:localhost:", "expected 0..65535");
    assert_refuses("tcp:localhost:65536", "expected 0..65535");
    assert_refuses("tcp:localhost:-1", "expected 0..65535");
    assert_refuses("tcp:localhost:80x", "expected 0..65535");
    assert_refuses("stdio:x", "nothing may follow");
    char path[SWP__SOCKET_PATH_SIZE + 6] = "unix:";
    memset(path + 5, 'x', SWP__SOCKET_PATH_SIZE);
    assert_refuses(path, "108 bytes, at most 107");
    path[5 + SWP__SOCKET_PATH_SIZE - 1] = '\0';
    assert_parses(path, path);
}

/* ---- a folder of its own for each test ---- */

static char *new_folder(void)
{
    static char folder[64];
    strcpy(folder, "/tmp/swp-transport-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return folder;
}

static void remove_folder(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static swp__address unix_address(const char *folder)
{
    swp__address address = {.scheme = SWP__SCHEME_UNIX};
    snprintf(address.path, sizeof address.path, "%s/s", folder);
    return address;
}

static uint64_t soon(void)
{
    return swp__now_ns(&swp__system_clock) + UINT64_C(10000000000);
}

/* ---- both ends of each door ---- */

typedef struct ends {
    swp__acceptor acceptor;
    swp__stream a, b;
    char *folder;
} ends;

static void open_listening(ends *e, const swp__address *address)
{
    swp__peer peer;
    assert_int_equal(swp__listen(address, NULL, &e->acceptor, NULL), SWP_OK);
    assert_int_equal(swp__accept(&e->acceptor, &e->b, &peer), -EAGAIN);
    assert_int_equal(swp__connect(&e->acceptor.address, soon(), &e->a, NULL), SWP_OK);
    struct pollfd waiting = {.fd = e->acceptor.fd, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, 10000), 1);
    assert_int_equal(swp__accept(&e->acceptor, &e->b, &peer), 0);
    assert_int_equal(peer.known, address->scheme == SWP__SCHEME_UNIX);
    assert_true(!peer.known || (peer.uid == geteuid() && peer.pid == getpid()));
}

static void open_unix(ends *e)
{
    e->folder = new_folder();
    swp__address address = unix_address(e->folder);
    open_listening(e, &address);
}

static void open_tcp(ends *e)
{
    swp__address address;
    assert_int_equal(swp__address_parse("tcp:localhost:0", &address, NULL), SWP_OK);
    open_listening(e, &address);
}

static void open_pipes(ends *e)
{
    int there[2], back[2];
    assert_int_equal(pipe2(there, O_CLOEXEC), 0);
    assert_int_equal(pipe2(back, O_CLOEXEC), 0);
    assert_int_equal(swp__stream_from_pipes(back[0], there[1], &e->a, NULL), SWP_OK);
    assert_int_equal(swp__stream_from_pipes(there[0], back[1], &e->b, NULL), SWP_OK);
}

static void close_ends(ends *e)
{
    swp__stream_close(&e->a);
    swp__stream_close(&e->b);
    swp__acceptor_close(&e->acceptor);
    if (e->folder != NULL) {
        remove_folder(e->folder);
    }
}

/* Sends 1 MiB in pieces while receiving it into pieces of other sizes; both ends take what they can get. */
static void check_bytes_arrive(ends *e)
{
    enum { SIZE = 1 << 20 };
    static uint8_t out[SIZE], in[SIZE];
    for (size_t i = 0; i < SIZE; i++) {
        out[i] = (uint8_t)(i * 31 + (i >> 8));
    }
    memset(in, 0, SIZE);
    size_t sent = 0, got = 0;
    while (got < SIZE) {
        if (sent < SIZE) {
            size_t half = (SIZE - sent + 1) / 2;
            struct iovec pieces[2] = {{out + sent, half}, {out + sent + half, SIZE - sent - half}};
            ssize_t n = swp__stream_send(&e->a, pieces, 2, NULL);
            assert_true(n > 0 || n == -EAGAIN);
            sent += n > 0 ? (size_t)n : 0;
        }
        size_t first = SIZE - got < 777 ? SIZE - got : 777;
        struct iovec pieces[2] = {{in + got, first}, {in + got + first, SIZE - got - first}};
        ssize_t n = swp__stream_recv(&e->b, pieces, 2);
        assert_true(n > 0 || n == -EAGAIN);
        got += n > 0 ? (size_t)n : 0;
        if (n == -EAGAIN) {
            assert_true(swp__stream_wait(&e->b, true, false, soon()) == 1);
        }
    }
    assert_memory_equal(out, in, SIZE);
}

static void check_end_is_seen_after_the_bytes(ends *e)
{
    char byte = 'x', in[8];
    assert_int_equal(swp__stream_send(&e->a, &(struct iovec){&byte, 1}, 1, NULL), 1);
    swp__stream_shut_output(&e->a);
    assert_int_equal(swp__stream_wait(&e->b, true, false, soon()), 1);
    assert_int_equal(swp__stream_recv(&e->b, &(struct iovec){in, sizeof in}, 1), 1);
    assert_int_equal(swp__stream_wait(&e->b, true, false, soon()), 1);
    assert_int_equal(swp__stream_recv(&e->b, &(struct iovec){in, sizeof in}, 1), 0);
    assert_int_equal(swp__stream_send(&e->b, &(struct iovec){&byte, 1}, 1, NULL), 1); /* the other way is still open */
    assert_int_equal(swp__stream_wait(&e->a, true, false, soon()), 1);
    assert_int_equal(swp__stream_recv(&e->a, &(struct iovec){in, sizeof in}, 1), 1);
}

static void check_wait_ends_at_its_deadline(ends *e)
{
    uint64_t now = swp__now_ns(&swp__system_clock);
    assert_int_equal(swp__stream_wait(&e->b, true, false, now), 0);
    assert_int_equal(swp__stream_wait(&e->b, true, false, now + 3000000), 0);
    assert_true(swp__now_ns(&swp__system_clock) >= now + 3000000);
    assert_int_equal(swp__stream_wait(&e->b, true, true, now), 2);
}

static void check_poller_reports_edges_and_wakes(ends *e)
{
    swp__poller poller;
    swp__event events[4];
    char byte = 'x';
    assert_int_equal(swp__poller_open(&poller, NULL), SWP_OK);
    assert_int_equal(swp__poller_add_stream(&poller, &e->b, e), 0);
    assert_int_equal(swp__poller_wait(&poller, events, 4, 0), 0);
    swp__poller_want_output(&poller, &e->b, e, true);
    int count = swp__poller_wait(&poller, events, 4, 0);
    assert_true(count == 1 && events[0].tag == e && events[0].what == SWP__WRITABLE);
    assert_int_equal(swp__poller_wait(&poller, events, 4, 0), 0); /* an edge is told once */
    swp__poller_want_output(&poller, &e->b, e, false);
    assert_int_equal(swp__stream_send(&e->a, &(struct iovec){&byte, 1}, 1, NULL), 1);
    count = swp__poller_wait(&poller, events, 4, 1000000000);
    assert_true(count == 1 && (events[0].what & SWP__READABLE) != 0 && (events[0].what & SWP__ENDED) == 0);
    for (int i = 0; i < 3; i++) {
        swp__poller_wake(&poller);
        assert_int_equal(swp__poller_wait(&poller, events, 4, -1), 0);
    }
    swp__stream_close(&e->a);
    count = swp__poller_wait(&poller, events, 4, -1);
    assert_true(count >= 1 && (events[0].what & SWP__READABLE) != 0);
    swp__poller_remove_stream(&poller, &e->b, e);
    swp__poller_close(&poller);
}

#define TRANSPORT_TESTS(door)                                                                                                  \
    static void with_##door(void (*check)(ends * e))                                                                           \
    {                                                                                                                          \
        ends e = {0};                                                                                                          \
        open_##door(&e);                                                                                                       \
        check(&e);                                                                                                             \
        close_ends(&e);                                                                                                        \
    }                                                                                                                          \
    TEST(door##_bytes_arrive_whole_and_in_order)                                                                               \
    {                                                                                                                          \
        with_##door(check_bytes_arrive);                                                                                       \
    }                                                                                                                          \
    TEST(door##_end_is_seen_after_the_bytes)                                                                                   \
    {                                                                                                                          \
        with_##door(check_end_is_seen_after_the_bytes);                                                                        \
    }                                                                                                                          \
    TEST(door##_wait_ends_at_its_deadline)                                                                                     \
    {                                                                                                                          \
        with_##door(check_wait_ends_at_its_deadline);                                                                          \
    }                                                                                                                          \
    TEST(door##_poller_reports_edges_and_wakes)                                                                                \
    {                                                                                                                          \
        with_##door(check_poller_reports_edges_and_wakes);                                                                     \
    }

TRANSPORT_TESTS(unix)
TRANSPORT_TESTS(tcp)
TRANSPORT_TESTS(pipes)

/* ---- descriptors ---- */

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

static void send_fds(const swp__stream *stream, size_t count)
{
    int fds[16];
    char byte = 'x';
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof fds)];
    } control = {0};
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (size_t i = 0; i < count; i++) {
        fds[i] = STDERR_FILENO;
    }
    memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    assert_int_equal(sendmsg(stream->out, &message, 0), 1);
}

TEST(unix_descriptor_rides_on_the_first_byte_and_is_close_on_exec)
{
    ends e = {0};
    char in[8];
    open_unix(&e);
    int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    assert_int_equal(swp__stream_send(&e.a, &(struct iovec){"ab", 2}, 1, &file), 2);
    assert_int_equal(swp__stream_recv(&e.b, &(struct iovec){in, sizeof in}, 1), 2);
    int got = swp__stream_take_fd(&e.b);
    assert_true(got >= 0 && got != file);
    assert_int_equal(fcntl(got, F_GETFD), FD_CLOEXEC);
    assert_int_equal(swp__stream_take_fd(&e.b), -1);
    assert_int_equal(read(got, in, 1), 1);
    close(got);
    close(file);
    close_ends(&e);
}

TEST(unix_surplus_descriptors_are_closed)
{
    ends e = {0};
    char in[8];
    open_unix(&e);
    int before = open_files();
    send_fds(&e.a, SWP__FDS_MAX);
    send_fds(&e.a, 1);
    send_fds(&e.a, 16);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(swp__stream_recv(&e.b, &(struct iovec){in, 1}, 1), 1);
        assert_int_equal(e.b.fds_cut, i > 0);
    }
    assert_int_equal(open_files(), before + SWP__FDS_MAX);
    swp__stream_drop_fds(&e.b);
    assert_int_equal(open_files(), before);
    send_fds(&e.a, 2);
    assert_int_equal(swp__stream_recv(&e.b, &(struct iovec){in, 1}, 1), 1);
    close_ends(&e);
    assert_int_equal(open_files(), before - 4);
}

TEST(pipes_carry_no_descriptors)
{
    ends e = {0};
    int file = STDERR_FILENO;
    open_pipes(&e);
    assert_int_equal(swp__stream_send(&e.a, &(struct iovec){"a", 1}, 1, &file), -EOPNOTSUPP);
    close_ends(&e);
}

/* ---- whose socket file it is ---- */

static void assert_listen_refused(const swp__address *address, const char *says)
{
    swp__acceptor acceptor;
    swp_error error;
    assert_int_equal(swp__listen(address, NULL, &acceptor, &error), SWP_REFUSED);
    if (strstr(error.message, says) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, says);
    }
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode;
}

TEST(unix_socket_is_0600_whatever_the_umask_and_0660_for_a_group)
{
    char *folder = new_folder();
    swp__address address = unix_address(folder);
    swp__acceptor acceptor;
    mode_t former = umask(0);
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    assert_int_equal(mode_of(address.path), S_IFSOCK | 0600);
    swp__acceptor_close(&acceptor);
    umask(077);
    assert_int_equal(swp__listen(&address, &(swp__listen_options){true, getegid()}, &acceptor, NULL), SWP_OK);
    assert_int_equal(mode_of(address.path), S_IFSOCK | 0660);
    swp__acceptor_close(&acceptor);
    umask(former);
    remove_folder(folder);
}

TEST(unix_closing_leaves_nothing_behind)
{
    char *folder = new_folder();
    swp__address address = unix_address(folder);
    swp__acceptor acceptor;
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    swp__acceptor_close(&acceptor);
    assert_int_equal(rmdir(folder), 0);
}

TEST(unix_path_of_a_live_server_is_already_running)
{
    char *folder = new_folder();
    swp__address address = unix_address(folder);
    swp__acceptor acceptor;
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    assert_listen_refused(&address, "already running");
    swp__stream stream;
    assert_int_equal(swp__connect(&address, soon(), &stream, NULL), SWP_OK); /* the first one is unharmed */
    swp__stream_close(&stream);
    swp__acceptor_close(&acceptor);
    remove_folder(folder);
}

TEST(unix_stale_socket_is_replaced_and_one_somebody_listens_on_is_not)
{
    char *folder = new_folder();
    swp__address address = unix_address(folder);
    swp__acceptor acceptor;
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    close(acceptor.fd); /* as SIGKILL leaves it: the file stays, the lock goes */
    close(acceptor.lock_fd);
    assert_int_equal(swp__connect(&address, soon(), &(swp__stream){0}, NULL), SWP_REFUSED);
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    assert_int_equal(flock(acceptor.lock_fd, LOCK_UN), 0); /* a server that knows nothing of locks */
    assert_listen_refused(&address, "already running");
    close(acceptor.fd);
    close(acceptor.lock_fd);
    remove_folder(folder);
}

TEST(unix_path_of_another_file_is_left_as_it_is)
{
    char *folder = new_folder();
    swp__address address = unix_address(folder);
    int fd = open(address.path, O_CREAT | O_WRONLY, 0644);
    assert_int_equal(write(fd, "mine", 4), 4);
    close(fd);
    assert_listen_refused(&address, "not a socket; it was left as it is");
    struct stat info;
    assert_int_equal(lstat(address.path, &info), 0);
    assert_true(S_ISREG(info.st_mode) && info.st_size == 4);
    remove_folder(folder);
}

TEST(unix_folder_that_does_not_exist_is_named)
{
    swp__address address = {.scheme = SWP__SCHEME_UNIX, .path = "/nonexistent/s"};
    assert_listen_refused(&address, "/nonexistent/s: No such file or directory");
    swp_error error;
    assert_int_equal(swp__connect(&address, soon(), &(swp__stream){0}, &error), SWP_REFUSED);
    assert_non_null(strstr(error.message, "nobody listens there"));
}

TEST(unix_default_folder_must_be_ours_and_closed_to_others)
{
    char *folder = new_folder();
    char path[SWP__SOCKET_PATH_SIZE], expected[128];
    swp_error error;
    assert_int_equal(setenv("XDG_RUNTIME_DIR", folder, 1), 0);
    assert_int_equal(swp__default_socket_path(true, path, NULL), SWP_OK);
    snprintf(expected, sizeof expected, "%s/sweepd.sock", folder);
    assert_string_equal(path, expected);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(swp__default_socket_path(true, path, &error), SWP_REFUSED);
    assert_non_null(strstr(error.message, "mode 0777"));

    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
    assert_int_equal(setenv("TMPDIR", folder, 1), 0);
    assert_int_equal(swp__default_socket_path(false, path, &error), SWP_REFUSED);
    assert_non_null(strstr(error.message, "nobody listens"));
    assert_int_equal(swp__default_socket_path(true, path, NULL), SWP_OK);
    snprintf(expected, sizeof expected, "%s/sweepd-%u/sweepd.sock", folder, (unsigned)geteuid());
    assert_string_equal(path, expected);
    *strrchr(path, '/') = '\0';
    assert_int_equal(mode_of(path), S_IFDIR | 0700);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
        assert_int_equal(swp__default_socket_path(true, path, &error), SWP_REFUSED);
        assert_non_null(strstr(error.message, "belongs to uid 12345"));
    }
    unsetenv("TMPDIR");
    remove_folder(folder);
}

TEST(tcp_port_in_use_is_already_running)
{
    swp__address address;
    swp__acceptor acceptor;
    assert_int_equal(swp__address_parse("tcp:[::1]:0", &address, NULL), SWP_OK);
    if (swp__listen(&address, NULL, &acceptor, NULL) != SWP_OK) {
        assert_int_equal(swp__address_parse("tcp:127.0.0.1:0", &address, NULL), SWP_OK);
        assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    }
    assert_true(acceptor.address.port != 0);
    assert_listen_refused(&acceptor.address, "already running");
    swp__address former = acceptor.address;
    swp__acceptor_close(&acceptor);
    swp_error error;
    assert_int_equal(swp__connect(&former, soon(), &(swp__stream){0}, &error), SWP_REFUSED);
    assert_non_null(strstr(error.message, "connection refused"));
}

TEST(inherited_sockets_keep_their_file_and_others_are_refused)
{
    ends e = {0};
    open_unix(&e);
    swp__acceptor adopted;
    int again = dup(e.acceptor.fd);
    assert_int_equal(swp__listen_inherited(again, NULL, &adopted, NULL), SWP_OK);
    assert_string_equal(adopted.address.path, e.acceptor.address.path);
    swp__acceptor_close(&adopted);
    assert_int_equal(mode_of(e.acceptor.address.path), S_IFSOCK | 0600);
    assert_int_equal(swp__listen_inherited(e.a.in, NULL, &adopted, NULL), SWP_BAD_PARAM);
    assert_int_equal(swp__listen_inherited(STDERR_FILENO, NULL, &adopted, NULL), SWP_BAD_PARAM);
    close_ends(&e);
}
