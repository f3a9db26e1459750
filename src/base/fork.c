#include "base/fork.h"

#include <pthread.h>

static uint32_t count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_fork(void)
{
    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

static void watch(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

uint32_t swp__fork_count(void)
{
    pthread_once(&once, watch);
    return __atomic_load_n(&count, __ATOMIC_RELAXED);
}
