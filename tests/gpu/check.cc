// Delivery on a real GPU, with the CUDA driver alone: is what arrives right, and does the device ever wait for it?
//
// check [--device N] [--batches N] [--slice-bytes N] [--no-goals]
//
// Exit: 0 all goals are met; 1 one is not, or something failed; 77 there is no GPU. --no-goals shows the times and judges only
// what is right or wrong, for drivers whose times mean nothing. HEADRACE_CUDA_LIBRARY names another driver.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "device/cuda_driver.h"
#include "gpu/checks.h"

namespace headrace::gpu_check {
namespace {

constexpr int kSkip = 77;
constexpr int kFeeds = 4;
constexpr int kDistinctSlices = 6;
constexpr double kLeastBandwidth = 0.95;
constexpr double kMostIdle = 0.001;

struct Arguments {
  int device = 0;
  int batches = 400;
  int slice_bytes = 16 << 20;
  bool has_goals = true;
};

bool parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    int* number = nullptr;
    if (name == "--no-goals") {
      arguments->has_goals = false;
      continue;
    }
    if (name == "--device") number = &arguments->device;
    if (name == "--batches") number = &arguments->batches;
    if (name == "--slice-bytes") number = &arguments->slice_bytes;
    if (number == nullptr || ++i == argc) return false;
    const char* const end = argv[i] + std::strlen(argv[i]);
    if (std::from_chars(argv[i], end, *number).ptr != end || *number < 0) return false;
  }
  return arguments->batches > 0 && arguments->slice_bytes >= 8 && arguments->slice_bytes % 8 == 0;
}

// Prints one line a figure and remembers whether all goals were met.
class Verdict {
 public:
  explicit Verdict(bool has_goals) : has_goals_(has_goals) {}
  void must(const char* what, bool is_met, const std::string& figure) {
    std::printf("%-44s %-28s %s\n", what, figure.c_str(), is_met ? "ok" : "WRONG");
    all_met_ = all_met_ && is_met;
  }
  void goal(const char* what, bool is_met, const std::string& figure) {
    std::printf("%-44s %-28s %s\n", what, figure.c_str(), !has_goals_ ? "not judged" : is_met ? "ok" : "MISSED");
    all_met_ = all_met_ && (is_met || !has_goals_);
  }
  bool all_met() const { return all_met_; }

 private:
  const bool has_goals_;
  bool all_met_ = true;
};

std::string text(const char* format, double a, double b = 0) {
  char line[80];
  std::snprintf(line, sizeof(line), format, a, b);
  return line;
}

Status run_checks(const Bench& bench, Verdict* verdict) {
  for (const bool names_stream : {true, false}) {
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t wrong, count_wrong(bench, kFeeds, names_stream));
    verdict->must(names_stream ? "4 feeds on one device, a named stream" : "4 feeds on one device, any stream",
                  wrong == 0, text("%.0f of %.0f slices wrong", static_cast<double>(wrong), kFeeds * bench.batches));
  }
  HEADRACE_ASSIGN_OR_RETURN(const Bandwidth bandwidth, measure_bandwidth(bench));
  verdict->goal("copies through a feed, against bare ones", bandwidth.fed >= kLeastBandwidth * bandwidth.plain,
                text("%.2f of %.2f GB/s", bandwidth.fed / 1e9, bandwidth.plain / 1e9));
  HEADRACE_ASSIGN_OR_RETURN(const Idle idle, measure_idle(bench, bandwidth.plain));
  verdict->goal("device idle, supply 1.25 x demand", idle.gap <= kMostIdle, text("%.3f %%", 100 * idle.gap));
  verdict->goal("copies hidden behind kernels", idle.copies_hidden >= 0.99, text("%.1f %%", 100 * idle.copies_hidden));
  return {};
}

int run(const Arguments& arguments) {
  const std::string library = environment_cuda_library();
  const auto driver = CudaDriver::load(library);
  if (!driver.ok()) {
    std::printf("no GPU to check: %s\n", driver.status().to_string().c_str());
    return kSkip;
  }
  Verdict verdict(arguments.has_goals);
  const auto all = [&]() -> Status {
    const Device device{DeviceKind::kCuda, arguments.device, "/GPU:" + std::to_string(arguments.device)};
    HEADRACE_ASSIGN_OR_RETURN(const auto context, CudaContext::open(*driver, device));
    HEADRACE_ASSIGN_OR_RETURN(const auto kernels, Kernels::load(context, library));
    const HostSlices slices(context, kDistinctSlices, static_cast<std::size_t>(arguments.slice_bytes));
    std::printf("%s: %s, batches of %d bytes\n", device.name.c_str(), kernels->device_name().c_str(),
                arguments.slice_bytes);
    verdict.must("staging memory is pinned", slices.unpinned().empty(),
                 slices.unpinned().empty() ? "yes" : slices.unpinned());
    return run_checks({context, library, *kernels, slices, arguments.batches}, &verdict);
  };
  const Status done = all();
  if (!done.ok()) std::printf("failed: %s\n", done.to_string().c_str());
  return done.ok() && verdict.all_met() ? 0 : 1;
}

}  // namespace
}  // namespace headrace::gpu_check

int main(int argc, char** argv) {
  headrace::gpu_check::Arguments arguments;
  if (!headrace::gpu_check::parse(argc, argv, &arguments)) {
    std::printf("usage: check [--device N] [--batches N] [--slice-bytes N] [--no-goals]\n");
    return 1;
  }
  return headrace::gpu_check::run(arguments);
}
