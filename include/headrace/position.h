// Position: where a stream stands, as a value that can be saved and restored (docs/design/state_format.md).
#pragma once

#include <cstdint>
#include <string>

namespace headrace {

struct Position {
  int format = 1;  ///< version of `data`
  int stream_version = 1;
  std::string files;         ///< 32 hex digits: identity of the shards (base name and size of each, in order)
  std::string spec;          ///< canonical text of the ops that decide the order
  std::int64_t epoch = 0;    ///< epoch of the next record
  std::int64_t batches = 0;  ///< batches delivered so far
  std::string data;          ///< base64, the stages' state; empty before the first batch
};

}  // namespace headrace
