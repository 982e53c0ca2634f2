#include "shard/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "shard/file_failure.h"

namespace headrace {
namespace {

constexpr std::size_t kLargestStep = std::size_t{1} << 30;  // what one write() is asked for

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

template <class Call>
int again_if_interrupted(const Call& call) {
  int result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Hidden, so that a pattern or a folder never takes a half-written file for a shard.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> number{0};
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  // A name may have 255 bytes; the tail tells files of one name pattern apart.
  constexpr std::size_t kKeptBytes = 200;
  const std::string base = path.substr(name);
  const std::string kept = base.size() <= kKeptBytes ? base : base.substr(base.size() - kKeptBytes);
  return path.substr(0, name) + "." + kept + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

}  // namespace

ByteSink::ByteSink(std::string path, std::string temporary, int descriptor, std::unique_ptr<Compressor> compressor)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor),
      compressor_(std::move(compressor)) {}

ByteSink::~ByteSink() { abandon(); }

Result<std::unique_ptr<ByteSink>> ByteSink::create(const std::string& path, Compression compression,
                                                   std::optional<int> level) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Compressor> compressor, make_compressor(compression, level));
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return file_failure("cannot write", path, EISDIR);
  std::string temporary = temporary_name(path);
  constexpr mode_t kMode = 0666;  // cut down by the umask
  const int descriptor = again_if_interrupted(
      [&temporary] { return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode); });
  if (descriptor < 0) return file_failure("cannot create", path, errno);
  return std::unique_ptr<ByteSink>(new ByteSink(path, std::move(temporary), descriptor, std::move(compressor)));
}

Status ByteSink::write_file(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kLargestStep));
    if (n >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return file_failure("cannot write", path_, errno);
    }
  }
  return {};
}

Compressor::Write ByteSink::to_file() {
  return [this](std::span<const std::uint8_t> bytes) { return write_file(bytes); };
}

Status ByteSink::write(std::span<const std::uint8_t> bytes) {
  if (!status_.ok()) return status_;
  if (descriptor_ < 0) return invalid_argument("write() after close() of " + path_);
  status_ = compressor_ != nullptr ? compressor_->run(bytes, false, to_file()) : write_file(bytes);
  if (!status_.ok()) abandon();
  return status_;
}

Status ByteSink::commit() {
  if (compressor_ != nullptr) {
    HEADRACE_RETURN_IF_ERROR(compressor_->run({}, true, to_file()));
  }
  const int synced = again_if_interrupted([this] { return ::fsync(descriptor_); });
  if (synced != 0) return file_failure("cannot write", path_, errno);
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    return file_failure("cannot write", path_, error);
  }
  // The new name is on the disk when its folder is. Some file systems cannot sync one, which is no failure.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
  return {};
}

Status ByteSink::close() {
  if (!status_.ok() || descriptor_ < 0) return status_;
  status_ = commit();
  if (!status_.ok()) abandon();
  return status_;
}

void ByteSink::abandon() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  ::unlink(temporary_.c_str());
}

}  // namespace headrace
