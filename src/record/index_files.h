// Putting an index where it belongs. include/headrace/index.h has what is public.
#pragma once

#include <string>

#include "headrace/index.h"

namespace headrace {

/// Writes the index of the file `path` to its place, atomically; the path of the index.
Result<std::string> store_index(const RecordIndex& index, const std::string& path, IndexPlace place);

}  // namespace headrace
