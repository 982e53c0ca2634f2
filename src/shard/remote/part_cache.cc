#include "shard/remote/part_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <vector>

#include "base/checksum.h"
#include "base/wire.h"
#include "shard/file.h"

namespace headrace {
namespace {

constexpr const char* kSuffix = ".part";
constexpr const char* kTemporary = ".tmp";
constexpr std::size_t kFooterBytes = 4;
// One part in so many of the limit may be written between two looks at the folder; two are free after one, so that two processes
// may do so at once.
constexpr std::int64_t kSlack = 16;
constexpr std::int64_t kTemporaryLastsSeconds = 3600;

// Closes what it holds; -1 is nothing.
class OpenedDescriptor {
 public:
  explicit OpenedDescriptor(int number) : number_(number) {}
  ~OpenedDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  OpenedDescriptor(const OpenedDescriptor&) = delete;
  OpenedDescriptor& operator=(const OpenedDescriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

struct Entry {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t used_ns = 0;
};

std::vector<Entry> entries_in(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (auto place = std::filesystem::directory_iterator(folder, error);
       !error && place != std::filesystem::directory_iterator(); place.increment(error)) {
    const std::string path = place->path().string();
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) continue;  // another process removed it
    const std::int64_t used = info.st_mtim.tv_sec * std::int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
    if (path.ends_with(kSuffix)) {
      entries.push_back({path, info.st_size, used});
    } else if (path.ends_with(kTemporary) && ::time(nullptr) - info.st_mtim.tv_sec > kTemporaryLastsSeconds) {
      ::unlink(path.c_str());  // of a process that was killed
    }
  }
  return entries;
}

Status write_all(int descriptor, const std::string& path, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      return file_failure("cannot write", path, errno);
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<PartCache>> PartCache::open(const std::string& folder, std::int64_t limit_bytes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return file_failure("cannot create the cache folder", folder, error.value());
  std::unique_ptr<PartCache> cache(new PartCache(folder, limit_bytes));
  {
    MutexLock lock(cache->mutex_);
    HEADRACE_RETURN_IF_ERROR(cache->trim(0));
  }
  return cache;
}

bool PartCache::read(const std::string& name, std::span<std::uint8_t> bytes) const {
  const std::string path = folder_ + "/" + name + kSuffix;
  const Result<File> file = File::open(path);
  if (!file.ok()) return false;
  std::uint8_t footer[kFooterBytes];
  const auto n = file->read_at(bytes.data(), bytes.size(), 0);
  const auto m = file->read_at(footer, kFooterBytes, bytes.size());
  const bool is_whole = file->size() == bytes.size() + kFooterBytes && n.ok() && *n == bytes.size() && m.ok() &&
                        *m == kFooterBytes && load_u32(footer) == crc32c(bytes.data(), bytes.size());
  if (is_whole) {
    (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used just now; only a hint
  } else {
    ::unlink(path.c_str());
  }
  return is_whole;
}

Status PartCache::write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  static std::atomic<unsigned> number{0};
  const std::string temporary = path + "." + std::to_string(::getpid()) + "-" + std::to_string(number++) + kTemporary;
  constexpr mode_t kMode = 0666;  // cut down by the umask
  Status written;
  {
    const OpenedDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (file.number() < 0) return file_failure("cannot create", temporary, errno);
    const std::uint32_t checksum = crc32c(bytes.data(), bytes.size());
    std::uint8_t footer[kFooterBytes];
    for (std::size_t i = 0; i < kFooterBytes; ++i) footer[i] = static_cast<std::uint8_t>(checksum >> (8 * i));
    written = write_all(file.number(), temporary, bytes);
    if (written.ok()) written = write_all(file.number(), temporary, footer);
  }
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = file_failure("cannot rename", temporary, errno);
  }
  if (!written.ok()) ::unlink(temporary.c_str());
  return written;
}

Status PartCache::write(const std::string& name, std::span<const std::uint8_t> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size() + kFooterBytes);
  MutexLock lock(mutex_);
  if (is_off_ || size > limit_) return {};
  Status status;
  written_ += size;
  if (written_ > limit_ / kSlack) status = trim(size);
  if (status.ok()) status = write_file(folder_ + "/" + name + kSuffix, bytes);
  is_off_ = !status.ok();
  return status;
}

Status PartCache::trim(std::int64_t room) {
  const std::string name = folder_ + "/lock";
  constexpr mode_t kMode = 0666;
  const OpenedDescriptor lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (lock.number() < 0) return file_failure("cannot write to the cache folder", name, errno);
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return {};  // somebody is at it
  written_ = room;
  std::vector<Entry> entries = entries_in(folder_);
  std::int64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  const std::int64_t wanted = limit_ - 2 * (limit_ / kSlack) - room;
  if (bytes <= wanted) return {};
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used_ns < b.used_ns; });
  for (const Entry& entry : entries) {
    if (bytes <= wanted) break;
    if (::unlink(entry.path.c_str()) == 0) bytes -= entry.bytes;
  }
  return {};
}

}  // namespace headrace
