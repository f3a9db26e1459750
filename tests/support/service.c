#include "support/service.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "engine/store.h"
#include "server/server.h"
#include "support/temp.h"
#include "support/test.h"
#include "transport/transport.h"

struct service {
    char url[SWP__ADDRESS_TEXT_SIZE];        /* what clients take */
    char listens_at[SWP__ADDRESS_TEXT_SIZE]; /* of shm: its socket */
    bool listens;
    uint32_t threads;
    uint64_t max_frame;
    swp_engine *engine;
    swp__store *store;
    swp__poller poller;
    swp__log log;
    swp__server *server;
    pthread_t thread;
};

static void *serve(void *context)
{
    service *s = context;
    while (swp__server_step(s->server, -1)) {
    }
    return NULL;
}

/* s->url then is the address as bound. */
static void listen_at_url(service *s)
{
    swp__address address;
    swp__acceptor acceptor;
    assert_int_equal(swp__address_parse(s->listens_at, &address, NULL), SWP_OK);
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    swp__address_print(&acceptor.address, s->listens_at);
    if (strncmp(s->url, "shm:", 4) != 0) {
        memcpy(s->url, s->listens_at, sizeof s->url);
    }
    assert_int_equal(swp__server_add_acceptor(s->server, &acceptor, NULL), SWP_OK);
}

static void start(service *s)
{
    static uint32_t epoch;
    swp_engine_options engine_options = {.threads = s->threads};
    swp__limits limits = swp__limits_standard();
    assert_int_equal(swp__engine_new(&engine_options, &limits, false, &s->engine, NULL), SWP_OK);
    assert_int_equal(swp__store_new(s->engine, ++epoch, &s->store, NULL), SWP_OK);
    assert_int_equal(swp__poller_open(&s->poller, NULL), SWP_OK);
    s->log = (swp__log){.fd = -1};
    swp__server_options options = {.engine = s->engine,
                                   .store = s->store,
                                   .poller = &s->poller,
                                   .log = &s->log,
                                   .limits = swp__server_limits_standard(),
                                   .may_run_inline = true};
    options.limits.max_frame = s->max_frame != 0 ? s->max_frame : options.limits.max_frame;
    assert_int_equal(swp__server_new(&options, &s->server, NULL), SWP_OK);
    listen_at_url(s);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(service *s, int times)
{
    for (int i = 0; i < times; i++) {
        swp__server_stop(s->server);
    }
    pthread_join(s->thread, NULL);
    swp__server_free(s->server);
    swp__store_free(s->store);
    swp_engine_free(s->engine);
    swp__poller_close(&s->poller);
}

service *service_start(const char *scheme, uint32_t threads, uint64_t max_frame)
{
    static int count;
    char name[32];
    service *s = calloc(1, sizeof *s);
    *s = (service){.listens = true, .threads = threads, .max_frame = max_frame};
    snprintf(name, sizeof name, "service%d", count++);
    if (strcmp(scheme, "unix:") == 0) {
        snprintf(s->listens_at, sizeof s->listens_at, "unix:%.500s", temp_path(name));
    } else if (strcmp(scheme, "shm:") == 0) {
        snprintf(s->listens_at, sizeof s->listens_at, "unix:%.500s", temp_path(name));
        snprintf(s->url, sizeof s->url, "shm:%.500s", temp_path(name));
    } else if (strcmp(scheme, "tcp:") == 0) {
        snprintf(s->listens_at, sizeof s->listens_at, "tcp:127.0.0.1:0");
    } else {
        snprintf(s->url, sizeof s->url, "%s%s", scheme, strcmp(scheme, "spawn:") == 0 ? SWP_PROGRAM : "");
        s->listens = false;
    }
    if (s->listens) {
        start(s);
    }
    return s;
}

static void kill_children(void)
{
    FILE *children = popen("cat /proc/$PPID/task/$PPID/children", "r");
    for (int child; children != NULL && fscanf(children, "%d", &child) == 1;) {
        kill(child, SIGKILL); /* the shell that tells them has ended, or soon will */
    }
    if (children != NULL) {
        pclose(children);
    }
}

void service_restart(service *s)
{
    if (s->listens) {
        stop(s, 2); /* at once */
        start(s);
    } else {
        kill_children();
    }
}

const char *service_url(const service *s)
{
    return s->url;
}

void service_stop(service *s)
{
    if (s->listens) {
        stop(s, 1);
    }
    free(s);
}
