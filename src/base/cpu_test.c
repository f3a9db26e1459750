#include "base/cpu.h"

#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include "support/temp.h"
#include "support/test.h"

static void write_text(const char *name, const char *text)
{
    temp_write(name, text, strlen(text));
}

/* A system of its own: this process in the group /a/b of version 2. */
static const char *make_root(void)
{
    static char root[4096];
    const char *folders[] = {"r",
                             "r/proc",
                             "r/proc/self",
                             "r/sys",
                             "r/sys/fs",
                             "r/sys/fs/cgroup",
                             "r/sys/fs/cgroup/cpu",
                             "r/sys/fs/cgroup/a",
                             "r/sys/fs/cgroup/a/b"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        mkdir(temp_path(folders[i]), 0700);
    }
    write_text("r/proc/self/cgroup", "12:memory:/elsewhere\n0::/a/b\n");
    write_text("r/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    write_text("r/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    write_text("r/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    write_text("r/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    strcpy(root, temp_path("r"));
    return root;
}

TEST(cpu_quota_is_the_tightest_of_all_levels_rounded_up)
{
    const char *root = make_root();
    assert_int_equal(swp__cpu_quota_count(root), 0);
    write_text("r/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    assert_int_equal(swp__cpu_quota_count(root), 4);
    write_text("r/sys/fs/cgroup/a/cpu.max", "250000 100000\n"); /* of a group above */
    assert_int_equal(swp__cpu_quota_count(root), 3);
    write_text("r/sys/fs/cgroup/cpu.max", "1 100000\n"); /* of the root that a container sees */
    assert_int_equal(swp__cpu_quota_count(root), 1);
}

TEST(cpu_quota_of_version_1)
{
    const char *root = make_root();
    write_text("r/sys/fs/cgroup/cpu.max", "max 100000\n");
    write_text("r/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
    assert_int_equal(swp__cpu_quota_count(root), 2);
}

TEST(cpu_quota_that_makes_no_sense_is_none)
{
    const char *root = make_root();
    const char *texts[] = {"", "0 100000\n", "-5 100000\n", "100000 0\n", "100000\n", "much\n"};
    write_text("r/sys/fs/cgroup/cpu.max", "max 100000\n");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        write_text("r/sys/fs/cgroup/a/b/cpu.max", texts[i]);
        assert_int_equal(swp__cpu_quota_count(root), 0);
    }
    assert_int_equal(swp__cpu_quota_count("/nowhere"), 0);
}

TEST(cpus_are_those_of_the_affinity_mask)
{
    cpu_set_t former, one;
    assert_int_equal(sched_getaffinity(0, sizeof former, &former), 0);
    size_t cpu = 0;
    while (!CPU_ISSET(cpu, &former)) {
        cpu++;
    }
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(swp__cpu_usable_count(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof former, &former), 0);
    assert_true(swp__cpu_usable_count() >= 1);
    assert_true(swp__cpu_usable_count() <= (uint32_t)CPU_COUNT(&former));
}

TEST(cpu_step_aside_leaves_the_affinity_as_it_was)
{
    cpu_set_t before, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2) {
        SKIP("this process may use one CPU only");
    }
    for (int i = 0; i < 100; i++) {
        swp__cpu_step_aside();
        assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
        assert_true(CPU_EQUAL(&before, &after));
    }
}

TEST(cpu_step_aside_stays_where_there_is_one_cpu)
{
    cpu_set_t before, one, after;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int here = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET((size_t)here, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    swp__cpu_step_aside();
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&one, &after));
    assert_int_equal(sched_getcpu(), here);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}
