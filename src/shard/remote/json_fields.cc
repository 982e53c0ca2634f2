#include "shard/remote/json_fields.h"

#include <algorithm>
#include <ctime>

namespace headrace {
namespace {

constexpr std::time_t kLastTime = 7258118400;  // 2200-01-01

}  // namespace

std::optional<std::chrono::system_clock::time_point> parse_time(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::nullopt;
  // A clock of nanoseconds ends in 2262; what lasts that long lasts.
  return std::chrono::system_clock::from_time_t(std::clamp<std::time_t>(::timegm(&parts), 0, kLastTime));
}

}  // namespace headrace
