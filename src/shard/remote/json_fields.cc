#include "shard/remote/json_fields.h"

#include <ctime>

namespace headrace {

std::optional<std::chrono::system_clock::time_point> parse_time(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

}  // namespace headrace
