// What the operating system refuses, as Status values that carry the path. Pure functions.
#pragma once

#include <string>

#include "headrace/status.h"

namespace headrace {

/// `what` ("cannot open", …) with the system's words for `error`; the code is the one DESIGN's table names for it.
Status file_failure(const std::string& what, const std::string& path, int error);

}  // namespace headrace
