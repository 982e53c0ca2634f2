#include "fault/system_calls.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <mutex>
#include <optional>
#include <utility>

namespace headrace::testing {
namespace {

struct Active {
  std::string path;
  SystemCalls::Function function;
};
std::mutex mutex;
std::optional<Active> active;

std::string path_of(int descriptor) {
  std::array<char, 4096> path;
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t n = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
}

CallAnswer ask(const CallArguments& arguments) {
  static thread_local bool is_asking = false;  // what the function itself calls is the system's
  if (is_asking) return {};
  const std::lock_guard lock(mutex);
  if (!active || arguments.path.find(active->path) == std::string::npos) return {};
  is_asking = true;
  const CallAnswer answer = active->function(arguments);
  is_asking = false;
  return answer;
}

// The answer's error as a system call gives it, or what `system` gives.
template <class System>
long answered(const CallAnswer& answer, const System& system) {
  if (answer.error == 0) return system();
  errno = answer.error;
  return -1;
}

}  // namespace

SystemCalls::SystemCalls(std::string path, Function function) {
  const std::lock_guard lock(mutex);
  active = Active{std::move(path), std::move(function)};
}

SystemCalls::~SystemCalls() {
  const std::lock_guard lock(mutex);
  active.reset();
}

}  // namespace headrace::testing

using headrace::testing::answered;
using headrace::testing::ask;
using headrace::testing::CallAnswer;
using headrace::testing::path_of;
using headrace::testing::SystemCall;

extern "C" {

int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  const CallAnswer answer = ask({.call = SystemCall::kOpen, .path = path, .flags = flags});
  return static_cast<int>(answered(answer, [&] { return ::syscall(SYS_openat, AT_FDCWD, path, flags, mode); }));
}

ssize_t pread(int descriptor, void* data, size_t size, off_t offset) {
  const CallAnswer answer =
      ask({.call = SystemCall::kRead, .path = path_of(descriptor), .size = size, .offset = offset});
  const size_t asked = std::min(size, answer.at_most);
  return answered(answer, [&] { return ::syscall(SYS_pread64, descriptor, data, asked, offset); });
}

ssize_t preadv2(int descriptor, const iovec* parts, int count, off_t offset, int flags) {
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += parts[i].iov_len;
  const CallAnswer answer =
      ask({.call = SystemCall::kRead, .path = path_of(descriptor), .size = size, .offset = offset});
  iovec first = parts[0];
  first.iov_len = std::min(first.iov_len, answer.at_most);
  const bool is_cut = answer.at_most < size;
  return answered(answer, [&] {
    return ::syscall(SYS_preadv2, descriptor, is_cut ? &first : parts, is_cut ? 1 : count, offset, 0, flags);
  });
}

ssize_t write(int descriptor, const void* data, size_t size) {
  const CallAnswer answer = ask({.call = SystemCall::kWrite, .path = path_of(descriptor), .size = size});
  const size_t asked = std::min(size, answer.at_most);
  return answered(answer, [&] { return ::syscall(SYS_write, descriptor, data, asked); });
}

int fsync(int descriptor) {
  const CallAnswer answer = ask({.call = SystemCall::kSync, .path = path_of(descriptor)});
  return static_cast<int>(answered(answer, [&] { return ::syscall(SYS_fsync, descriptor); }));
}

int rename(const char* from, const char* to) noexcept {
  const CallAnswer answer = ask({.call = SystemCall::kRename, .path = to});
  return static_cast<int>(answered(answer, [&] { return ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0); }));
}

}  // extern "C"
