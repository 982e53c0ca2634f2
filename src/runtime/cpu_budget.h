// How many CPUs this process may use: ceil(min(affinity, cgroup quota)), shared by the worker processes of this host.
#pragma once

namespace headrace {

/// >= 1. Read anew at each call; the affinity is that of the main thread, whichever asks.
int cpu_budget();

}  // namespace headrace
