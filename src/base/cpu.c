#include "base/cpu.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"

enum { PATH_SIZE = 4096 };

static uint32_t affinity_count(void)
{
    for (size_t cpus = 1024; cpus <= 1u << 20; cpus *= 2) { /* the mask must be at least as long as the kernel's own */
        size_t size = CPU_ALLOC_SIZE(cpus);
        cpu_set_t *set = malloc(size);
        if (set == NULL) {
            return 1;
        }
        int result = sched_getaffinity(0, size, set);
        int count = result == 0 ? CPU_COUNT_S(size, set) : 0;
        free(set);
        if (result == 0) {
            return count > 0 ? (uint32_t)count : 1;
        }
    }
    return 1;
}

static uint32_t divide_up(long long quota, long long period)
{
    return (uint32_t)((quota + period - 1) / period);
}

/* "200000 100000" -> 2, "max 100000" or anything else -> 0: no limit. */
static uint32_t read_cpu_max(const char *root, const char *group)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s/cpu.max", root, group);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    long long quota = 0, period = 0;
    int fields = fscanf(file, "%lld %lld", &quota, &period);
    fclose(file);
    return fields == 2 && quota > 0 && period > 0 ? divide_up(quota, period) : 0;
}

static long long read_v1_number(const char *root, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/cpu/%s", root, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    long long value = 0;
    int fields = fscanf(file, "%lld", &value);
    fclose(file);
    return fields == 1 ? value : 0;
}

static uint32_t read_v1_quota(const char *root)
{
    long long quota = read_v1_number(root, "cpu.cfs_quota_us"), period = read_v1_number(root, "cpu.cfs_period_us");
    return quota > 0 && period > 0 ? divide_up(quota, period) : 0;
}

/* The path of this process in the v2 hierarchy ("/user.slice/..."), or false. */
static bool read_v2_path(const char *root, char *path, size_t size)
{
    char list[PATH_SIZE];
    snprintf(list, sizeof list, "%s/proc/self/cgroup", root);
    FILE *file = fopen(list, "re");
    if (file == NULL) {
        return false;
    }
    bool found = false;
    char line[1024];
    while (!found && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            found = (size_t)snprintf(path, size, "%s", line + 3) < size;
        }
    }
    fclose(file);
    return found;
}

uint32_t swp__cpu_quota_count(const char *root)
{
    uint32_t tightest = read_v1_quota(root);
    char group[1024];
    if (!read_v2_path(root, group, sizeof group)) {
        return tightest;
    }
    for (;;) {
        uint32_t count = read_cpu_max(root, group);
        if (count != 0 && (tightest == 0 || count < tightest)) {
            tightest = count;
        }
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            return tightest;
        }
        *slash = '\0';
    }
}

void swp__cpu_step_aside(void)
{
    cpu_set_t all, others;
    int here = sched_getcpu();
    if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof all, &all) != 0) {
        return; /* more CPUs than the set has: it stays */
    }
    others = all;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0) {
        sched_setaffinity(0, sizeof all, &all);
    }
}

uint32_t swp__cpu_usable_count(void)
{
    uint32_t count = affinity_count();
    uint32_t quota = swp__cpu_quota_count("");
    return quota != 0 && quota < count ? quota : count;
}

swp__isa swp__cpu_isa(void)
{
#if defined(__x86_64__)
    /* The compiler's own tests include the operating system's state saving (XGETBV). */
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                  __builtin_cpu_supports("avx512vbmi2");
    if (avx2) {
        return avx512 ? SWP__ISA_AVX512 : SWP__ISA_AVX2;
    }
#endif
    return SWP__ISA_C;
}

static const char *const isa_names[] = {"c", "avx2", "avx512"};
enum { ISA_COUNT = sizeof isa_names / sizeof isa_names[0] };

const char *swp__isa_name(swp__isa isa)
{
    return isa_names[isa];
}

/* The set SWP_ISA names, ISA_COUNT for no such name, or the best where it is not set. */
static int wanted_isa(void)
{
    const char *name = getenv("SWP_ISA");
    if (name == NULL || name[0] == '\0') {
        return (int)swp__cpu_isa();
    }
    int isa = 0;
    while (isa < ISA_COUNT && strcmp(name, isa_names[isa]) != 0) {
        isa++;
    }
    return isa;
}

static int chosen = -1; /* not looked up yet */

static int chosen_isa(void)
{
    int isa = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (isa < 0) {
        isa = wanted_isa();
        __atomic_store_n(&chosen, isa, __ATOMIC_RELAXED); /* whoever else looks finds the same */
    }
    return isa;
}

void swp__isa_use(swp__isa isa)
{
    __atomic_store_n(&chosen, (int)isa, __ATOMIC_RELAXED);
}

swp__isa swp__isa_in_use(void)
{
    int isa = chosen_isa();
    return isa <= (int)swp__cpu_isa() ? (swp__isa)isa : swp__cpu_isa();
}

swp_status swp__isa_check(swp_error *error)
{
    int isa = chosen_isa();
    if (isa == ISA_COUNT) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "SWP_ISA names no instruction set; expected c, avx2 or avx512");
    }
    if (isa > (int)swp__cpu_isa()) {
        return swp__fail(error, SWP_BAD_PARAM, SWP_AT_NONE, "SWP_ISA is %s, which this machine lacks; its best is %s",
                         isa_names[isa], isa_names[swp__cpu_isa()]);
    }
    return SWP_OK;
}
