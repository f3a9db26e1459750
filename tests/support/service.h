/* A server of a test's own, on a thread of this process, or in a process of its own: whatever the door needs. */
#ifndef SWP_TESTS_SUPPORT_SERVICE_H
#define SWP_TESTS_SUPPORT_SERVICE_H

#include <stdint.h>

typedef struct service service;

/* Listens at "unix:", "shm:" or "tcp:" (places of its own); nothing to do for spawn: and inproc:. `threads` and `max_frame` (0: the
 * standard) are the server's. */
service *service_start(const char *scheme, uint32_t threads, uint64_t max_frame);

/* What swp_client_open takes. */
const char *service_url(const service *service);

/* Ends it and starts another one at the same address, which holds nothing; of spawn: it kills the process. */
void service_restart(service *service);

/* Drains it and waits for its end. */
void service_stop(service *service);

#endif
