/* The service manager's protocol, spoken directly: two environment variables and a datagram (sd_notify(3),
 * sd_listen_fds(3)). Without them every call is a no-op. */
#ifndef SWP_SERVER_NOTIFY_H
#define SWP_SERVER_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1": to $NOTIFY_SOCKET. */
void swp__notify(const char *state);

/* Within how many ns WATCHDOG=1 must come again: $WATCHDOG_USEC; 0: no watchdog. */
uint64_t swp__notify_watchdog_ns(void);

enum { SWP__INHERITED_FIRST = 3 }; /* the first descriptor that was passed */

/* How many listening sockets were passed; the variables are removed, so that no child takes them for its own. */
int swp__notify_sockets_count(void);

#endif
