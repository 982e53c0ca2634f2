// SystemCalls: what the operating system says to reads and writes, decided by a test.
//
// A program that uses it has open(), pread(), preadv2(), write(), fsync() and rename() of its own, which do what the system does
// unless a SystemCalls lives and its function says otherwise. The function is called by any thread, one call at a time, and
// may do things to the file before the system sees the call.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

namespace headrace::testing {

enum class SystemCall : std::uint8_t { kOpen, kRead, kWrite, kSync, kRename };

struct CallArguments {
  SystemCall call;
  std::string path;      ///< of a rename: the new name
  int flags = 0;         ///< of an open
  std::size_t size = 0;  ///< of a read or a write
  std::int64_t offset = 0;
};

struct CallAnswer {
  int error = 0;                                                  ///< errno; 0: the system is asked
  std::size_t at_most = std::numeric_limits<std::size_t>::max();  ///< bytes that are read or written
};

class SystemCalls {
 public:
  using Function = std::function<CallAnswer(const CallArguments&)>;

  /// `function` is asked about paths that contain `path`. One object at a time.
  SystemCalls(std::string path, Function function);
  ~SystemCalls();
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;
};

}  // namespace headrace::testing
