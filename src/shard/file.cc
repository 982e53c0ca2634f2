#include "shard/file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace headrace {
namespace {

// f_type of statfs(2): ext2/3/4, XFS, Btrfs, F2FS, ZFS, tmpfs, overlay.
constexpr std::uint64_t kLocalFileSystems[] = {0xEF53,     0x58465342, 0x9123683E, 0xF2F52010,
                                               0x2FC12FC1, 0x01021994, 0x794C7630};
constexpr std::size_t kLargestRead = std::size_t{1} << 30;  // Linux moves at most 2 GiB a call

}  // namespace

Result<File> File::open(const std::string& path, std::uint64_t listed_bytes) {
  HEADRACE_ASSIGN_OR_RETURN(std::unique_ptr<Descriptor> descriptor, Descriptor::open(path));
  HEADRACE_ASSIGN_OR_RETURN(const Descriptor::Use use, descriptor->use());
  (void)::posix_fadvise(use.number(), 0, 0, POSIX_FADV_SEQUENTIAL);  // only a hint
  const std::uint64_t size = std::max(descriptor->size(), listed_bytes);
  return File(std::move(descriptor), size);
}

bool File::is_local() const {
  struct statfs info {};
  const Result<Descriptor::Use> use = descriptor_->use();
  if (!use.ok() || ::fstatfs(use->number(), &info) != 0) return false;
  const auto type = static_cast<std::uint64_t>(info.f_type);
  return std::find(std::begin(kLocalFileSystems), std::end(kLocalFileSystems), type) != std::end(kLocalFileSystems);
}

void File::will_need(std::uint64_t offset, std::uint64_t size) const {
  const Result<Descriptor::Use> use = descriptor_->use();
  if (!use.ok()) return;
  (void)::posix_fadvise(use->number(), static_cast<off_t>(offset), static_cast<off_t>(size), POSIX_FADV_WILLNEED);
}

void File::will_jump() const {
  const Result<Descriptor::Use> use = descriptor_->use();
  if (use.ok()) (void)::posix_fadvise(use->number(), 0, 0, POSIX_FADV_RANDOM);
}

Result<std::size_t> File::read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const {
  size = clipped(size, offset);
  if (size == 0) return std::size_t{0};
  HEADRACE_ASSIGN_OR_RETURN(const Descriptor::Use use, descriptor_->use());
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n =
        ::pread(use.number(), data + done, std::min(size - done, kLargestRead), static_cast<off_t>(offset + done));
    if (n > 0) {
      done += static_cast<std::size_t>(n);
    } else if (n == 0 || errno != EINTR) {
      if (done > 0) break;  // what there is comes first; the next call meets the same again
      if (n < 0) return file_failure("cannot read", path(), errno);
      return data_loss("the file has become shorter; it had " + std::to_string(size_) + " bytes", {.path = path()});
    }
  }
  return done;
}

std::optional<Result<std::size_t>> File::try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) const {
  size = clipped(size, offset);
  if (size == 0) return Result<std::size_t>(std::size_t{0});
  const Result<Descriptor::Use> use = descriptor_->use();
  if (!use.ok()) return std::nullopt;
  const iovec part{data, std::min(size, kLargestRead)};
  for (;;) {
    const ssize_t n = ::preadv2(use->number(), &part, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    if (n > 0) return Result<std::size_t>(static_cast<std::size_t>(n));
    // Some file systems, kernels and sandboxes lack the flag or the call, each with an error of its own; then every read
    // counts as one that waits.
    if (n == 0 || errno != EINTR) return std::nullopt;
  }
}

std::size_t File::clipped(std::size_t size, std::uint64_t offset) const {
  const std::uint64_t left = size_ - std::min(offset, size_);
  return static_cast<std::size_t>(std::min<std::uint64_t>(size, left));
}

}  // namespace headrace
