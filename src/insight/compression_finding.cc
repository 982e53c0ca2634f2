#include "insight/compression_finding.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace headrace {
namespace {

// Seconds to inflate a byte as zstd, level 3: 1.1 to 1.4 ns for most of the data of docs/benchmarks.md, "Compression", less where
// they hardly shrink. Where the format that is there takes no more, nothing is promised.
constexpr double kZstdSeconds = 1.3e-9;
// Seconds to get a byte more from the page cache.
constexpr double kReadSeconds = 0.3e-9;
// Less is not worth writing the data anew, and a shorter run tells nothing.
constexpr double kWorthShare = 0.25;
constexpr double kWorthSeconds = 0.5;

std::string percent(double part) { return std::to_string(std::lround(100 * part)) + " %"; }

std::string times(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", factor);
  return text;
}

std::string advice(const InflateReport& inflate) {
  std::string text = "compression: inflating " + inflate.compression + " takes " + percent(inflate.share) +
                     " of the busy time of all stages. ";
  if (inflate.gain_zstd > 0.05) {
    text +=
        "The same data as zstd would take about " + percent(inflate.gain_zstd) + " less time in all; uncompressed, ";
  } else {
    text += "Uncompressed, ";
  }
  const double growth =
      static_cast<double>(inflate.bytes) / static_cast<double>(std::max<std::int64_t>(1, inflate.file_bytes));
  return text + "about " + percent(inflate.gain_none) + " less, with files " + times(growth) +
         " times as large (headrace repair --compression writes a copy)";
}

}  // namespace

void find_compression(Report* report) {
  double busy_seconds = 0;
  for (const StageReport& stage : report->stages) busy_seconds += stage.busy_seconds;
  if (busy_seconds <= 0) return;
  for (InflateReport& inflate : report->inflate) {
    inflate.share = std::min(1.0, inflate.busy_seconds / busy_seconds);
    if (inflate.compression != "zstd") {
      const double zstd_seconds = static_cast<double>(inflate.bytes) * kZstdSeconds;
      inflate.gain_zstd = std::max(0.0, inflate.share - zstd_seconds / busy_seconds);
    }
    const double more_seconds =
        static_cast<double>(std::max<std::int64_t>(0, inflate.bytes - inflate.file_bytes)) * kReadSeconds;
    inflate.gain_none = std::max(0.0, inflate.share - more_seconds / busy_seconds);
    const bool is_worth = inflate.share >= kWorthShare && inflate.busy_seconds >= kWorthSeconds;
    if (is_worth) report->warnings.push_back(advice(inflate));
  }
}

}  // namespace headrace
