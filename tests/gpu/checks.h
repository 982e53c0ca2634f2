// The questions of the GPU check. Each gives its figures; main() compares them with the goals.
#pragma once

#include <memory>
#include <string>

#include "device/cuda_context.h"
#include "gpu/fed_device.h"
#include "gpu/kernels.h"

namespace headrace::gpu_check {

/// What all checks work with.
struct Bench {
  std::shared_ptr<const CudaContext> context;
  std::string library;
  const Kernels& kernels;
  const HostSlices& slices;
  int batches = 0;  ///< of each run
};

/// How many slices arrived other than they were sent, of `feeds` feeds on the device; kernels read them after they were given back.
/// `names_stream`: the feeds know which stream that is.
Result<std::int64_t> count_wrong(const Bench& bench, int feeds, bool names_stream);

struct Bandwidth {
  double plain = 0;  ///< bytes a second of bare copies from pinned memory, one behind the other
  double fed = 0;    ///< the same through one feed
};
Result<Bandwidth> measure_bandwidth(const Bench& bench);

struct Idle {
  double gap = 0;            ///< share of the time by which kernels over fresh batches take longer than over none
  double copies_hidden = 0;  ///< share of the time of the copies that passed while kernels ran
};
/// Kernels of 1.25 times what the copy of a batch takes at `bandwidth`.
Result<Idle> measure_idle(const Bench& bench, double bandwidth);

}  // namespace headrace::gpu_check
