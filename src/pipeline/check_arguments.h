// What the steps ask of their arguments.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/status.h"

namespace headrace {

inline Status at_least(const char* op, const char* name, std::int64_t value, std::int64_t minimum) {
  if (value >= minimum) return {};
  return invalid_argument(std::string(op) + "(): " + name + "=" + std::to_string(value) +
                          " must be >= " + std::to_string(minimum));
}

}  // namespace headrace
