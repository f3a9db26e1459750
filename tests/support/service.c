#include "support/service.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "engine/store.h"
#include "server/server.h"
#include "support/temp.h"
#include "support/test.h"
#include "transport/transport.h"

struct service {
    char url[SWP__ADDRESS_TEXT_SIZE];
    bool listens;
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

static void listen_at(service *s, const char *scheme)
{
    static int count;
    char name[32], text[SWP__ADDRESS_TEXT_SIZE];
    swp__address address;
    swp__acceptor acceptor;
    snprintf(name, sizeof name, "service%d", count++);
    if (strcmp(scheme, "unix:") == 0) {
        snprintf(text, sizeof text, "unix:%s", temp_path(name));
    } else {
        snprintf(text, sizeof text, "tcp:127.0.0.1:0");
    }
    assert_int_equal(swp__address_parse(text, &address, NULL), SWP_OK);
    assert_int_equal(swp__listen(&address, NULL, &acceptor, NULL), SWP_OK);
    swp__address_print(&acceptor.address, text);
    snprintf(s->url, sizeof s->url, "%s", text);
    assert_int_equal(swp__server_add_acceptor(s->server, &acceptor, NULL), SWP_OK);
}

service *service_start(const char *scheme, uint32_t threads, uint64_t max_frame)
{
    service *s = calloc(1, sizeof *s);
    s->listens = strcmp(scheme, "unix:") == 0 || strcmp(scheme, "tcp:") == 0;
    if (!s->listens) {
        snprintf(s->url, sizeof s->url, "%s%s", scheme, strcmp(scheme, "spawn:") == 0 ? SWP_PROGRAM : "");
        return s;
    }
    swp_engine_options engine_options = {.threads = threads};
    swp__limits limits = swp__limits_standard();
    assert_int_equal(swp__engine_new(&engine_options, &limits, false, &s->engine, NULL), SWP_OK);
    assert_int_equal(swp__store_new(s->engine, 1, &s->store, NULL), SWP_OK);
    assert_int_equal(swp__poller_open(&s->poller, NULL), SWP_OK);
    s->log = (swp__log){.fd = -1};
    swp__server_options options = {.engine = s->engine,
                                   .store = s->store,
                                   .poller = &s->poller,
                                   .log = &s->log,
                                   .limits = swp__server_limits_standard(),
                                   .may_run_inline = true};
    options.limits.max_frame = max_frame != 0 ? max_frame : options.limits.max_frame;
    assert_int_equal(swp__server_new(&options, &s->server, NULL), SWP_OK);
    listen_at(s, scheme);
    assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
    return s;
}

const char *service_url(const service *s)
{
    return s->url;
}

void service_stop(service *s)
{
    if (s->listens) {
        swp__server_stop(s->server);
        pthread_join(s->thread, NULL);
        swp__server_free(s->server);
        swp__store_free(s->store);
        swp_engine_free(s->engine);
        swp__poller_close(&s->poller);
    }
    free(s);
}
