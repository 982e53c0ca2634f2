#include "shard/file_failure.h"

#include <sys/resource.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace headrace {
namespace {

StatusCode code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
      return StatusCode::kPermissionDenied;
    case EMFILE:
    case ENFILE:
      return StatusCode::kResourceExhausted;
    default:
      return StatusCode::kIo;
  }
}

}  // namespace

Status file_failure(const std::string& what, const std::string& path, int error) {
  std::string text = what + ": " + std::generic_category().message(error);
  rlimit limit{};
  if (error == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    text += " (the limit of this process is " + std::to_string(limit.rlim_cur) + "; see ulimit -n)";
  }
  return {code_of(error), std::move(text), {.path = path}};
}

}  // namespace headrace
