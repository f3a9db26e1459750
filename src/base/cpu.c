#include "base/cpu.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static uint32_t read_cpu_max(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    long long quota = 0, period = 0;
    int fields = fscanf(file, "%lld %lld", &quota, &period);
    fclose(file);
    return fields == 2 && quota > 0 && period > 0 ? divide_up(quota, period) : 0;
}

static long long read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    long long value = 0;
    int fields = fscanf(file, "%lld", &value);
    fclose(file);
    return fields == 1 ? value : 0;
}

static uint32_t read_v1_quota(void)
{
    long long quota = read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    long long period = read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    return quota > 0 && period > 0 ? divide_up(quota, period) : 0;
}

/* The path of this process in the v2 hierarchy ("/user.slice/..."), or false. */
static bool read_v2_path(char *path, size_t size)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
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

/* The tightest quota from this process's group up to the root; 0: none. */
static uint32_t quota_count(void)
{
    uint32_t tightest = read_v1_quota();
    char group[1024];
    if (!read_v2_path(group, sizeof group)) {
        return tightest;
    }
    for (;;) {
        char path[1200];
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
        uint32_t count = read_cpu_max(path);
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

uint32_t swp__cpu_usable_count(void)
{
    uint32_t count = affinity_count();
    uint32_t quota = quota_count();
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

const char *swp__isa_name(swp__isa isa)
{
    static const char *const names[] = {"c", "avx2", "avx512"};
    return names[isa];
}

static swp__isa find_isa_in_use(void)
{
    swp__isa best = swp__cpu_isa();
    const char *wanted = getenv("SWP_ISA");
    for (int isa = SWP__ISA_C; wanted != NULL && isa <= (int)best; isa++) {
        if (strcmp(wanted, swp__isa_name((swp__isa)isa)) == 0) {
            return (swp__isa)isa;
        }
    }
    return best;
}

swp__isa swp__isa_in_use(void)
{
    static int found; /* 0: not yet, else the set + 1; threads that come at once find the same */
    int isa = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (isa == 0) {
        isa = (int)find_isa_in_use() + 1;
        __atomic_store_n(&found, isa, __ATOMIC_RELAXED);
    }
    return (swp__isa)(isa - 1);
}
