// Environment: what headrace takes from environment variables, as it stands now. Any thread.
#pragma once

#include <string>
#include <vector>

#include "headrace/status.h"

namespace headrace {

struct Setting {
  std::string name;   ///< of the variable, such as "HEADRACE_THREADS"
  std::string value;  ///< in effect where no option of the pipeline says otherwise
  bool is_default = true;
};

/// Every variable that the library reads; kInvalidArgument naming variable and value when one cannot be used.
Result<std::vector<Setting>> environment();

}  // namespace headrace
