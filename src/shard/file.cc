#include "shard/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace headrace {
namespace {

// f_type of statfs(2): ext2/3/4, XFS, Btrfs, F2FS, ZFS, tmpfs, overlay.
constexpr std::uint64_t kLocalFileSystems[] = {0xEF53,     0x58465342, 0x9123683E, 0xF2F52010,
                                               0x2FC12FC1, 0x01021994, 0x794C7630};
constexpr std::size_t kLargestRead = std::size_t{1} << 30;  // Linux moves at most 2 GiB a call

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

File::File(int descriptor, std::uint64_t size, std::string path)
    : descriptor_(descriptor), size_(size), path_(std::move(path)) {}

File::File(File&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), path_(std::move(other.path_)) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<File> File::open(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must fail below, not wait for a writer. It means nothing for regular files.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return file_failure("cannot open", path, errno);
  File file(descriptor, 0, path);
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return file_failure("cannot stat", path, errno);
  if (S_ISDIR(info.st_mode)) return file_failure("cannot read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) return Status(StatusCode::kIo, "cannot read: not a regular file", {.path = path});
  file.size_ = static_cast<std::uint64_t>(info.st_size);
  (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL);  // only a hint
  return file;
}

bool File::is_local() const {
  struct statfs info {};
  if (::fstatfs(descriptor_, &info) != 0) return false;
  const auto type = static_cast<std::uint64_t>(info.f_type);
  return std::find(std::begin(kLocalFileSystems), std::end(kLocalFileSystems), type) != std::end(kLocalFileSystems);
}

void File::will_need(std::uint64_t offset, std::uint64_t size) const {
  (void)::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

void File::will_jump() const { (void)::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_RANDOM); }

Result<std::size_t> File::read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(descriptor_, data + done, std::min(size - done, kLargestRead), static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      return file_failure("cannot read", path_, errno);
    }
  }
  return done;
}

std::optional<Result<std::size_t>> File::try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const {
  const iovec part{data, std::min(size, kLargestRead)};
  for (;;) {
    const ssize_t n = ::preadv2(descriptor_, &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (n >= 0) return Result<std::size_t>(static_cast<std::size_t>(n));
    if (errno == EINTR) continue;
    // Some file systems cannot say; then every read counts as one that waits.
    if (errno == EAGAIN || errno == EOPNOTSUPP || errno == ENOSYS) return std::nullopt;
    return Result<std::size_t>(file_failure("cannot read", path_, errno));
  }
}

}  // namespace headrace
