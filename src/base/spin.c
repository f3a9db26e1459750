#include "base/spin.h"

#include "base/cpu.h"

swp__spin swp__spin_new(uint64_t most_ns)
{
    return (swp__spin){.most_ns = most_ns > 0 && swp__cpu_usable_count() >= 2 ? most_ns : 0};
}

uint64_t swp__spin_begin(swp__spin *spin)
{
    if (spin->most_ns == 0) {
        return 0;
    }
    if (spin->waits < spin->pause) {
        spin->waits++;
        return 0;
    }
    return spin->found >= SWP__SPIN_SURE ? spin->most_ns : spin->most_ns * SWP__SPIN_UNSURE;
}

uint64_t swp__spin_nap(const swp__spin *spin, uint64_t *look_ns)
{
    if (spin->usual_ns < 2 * SWP__SPIN_EARLY_NS || spin->usual_ns > SWP__SPIN_FAR_NS) {
        return 0;
    }
    *look_ns = spin->most_ns * SWP__SPIN_UNSURE;
    return spin->usual_ns - SWP__SPIN_EARLY_NS;
}

void swp__spin_learn(swp__spin *spin, uint64_t waited_ns)
{
    bool is_quicker = spin->usual_ns == 0 || waited_ns < spin->usual_ns;
    spin->usual_ns = is_quicker ? waited_ns : spin->usual_ns + (waited_ns - spin->usual_ns) / 8;
}

void swp__spin_end(swp__spin *spin, bool found)
{
    uint32_t longer = spin->pause == 0 ? 1 : spin->pause * 2;
    spin->pause = found ? 0 : longer < SWP__SPIN_PAUSE_MAX ? longer : SWP__SPIN_PAUSE_MAX;
    spin->waits = 0;
    spin->found = !found ? 0 : spin->found < SWP__SPIN_SURE ? spin->found + 1 : spin->found;
}
