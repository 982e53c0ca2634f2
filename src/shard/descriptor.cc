#include "shard/descriptor.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "runtime/mutex.h"
#include "shard/file_failure.h"

namespace headrace {
namespace {

// How many Descriptors may be open: the rest is for sockets, other readers and the caller's own files.
std::size_t share_of_limit() {
  constexpr rlim_t kFewest = 8;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFewest;
  return std::max(kFewest, limit.rlim_cur / 2);
}

bool lacks_descriptors(int error) { return error == EMFILE || error == ENFILE; }

}  // namespace

// The Descriptors of this process that are open, the oldest first.
class OpenDescriptors {
 public:
  static OpenDescriptors& of_process() {
    static OpenDescriptors* const kOnly = make();  // never destroyed: files may outlive static objects
    return *kOnly;
  }

  /// Opens `path` for one Descriptor more, closing others where that is needed; -1 and errno when the system refuses.
  int open(const std::string& path) HEADRACE_EXCLUDES(mutex_) {
    make_room();
    // O_NONBLOCK: opening a FIFO must not wait for a writer. A file that is leased or migrated may say EAGAIN for it.
    constexpr int kFlags = O_RDONLY | O_CLOEXEC;
    int flags = kFlags | O_NONBLOCK;
    for (;;) {
      const int number = ::open(path.c_str(), flags);
      if (number >= 0) return number;
      if (errno == EINTR) continue;
      if (lacks_descriptors(errno) && close_one()) continue;
      struct stat info {};
      if (errno != EAGAIN || flags == kFlags || ::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return -1;
      flags = kFlags;
    }
  }

  /// `number` is that of `descriptor` from now on, which gets its first user. Closes it where another was faster.
  void add(const Descriptor& descriptor, int number) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (descriptor.users_.load(std::memory_order_relaxed) >= 0) {
      descriptor.users_.fetch_add(1, std::memory_order_acquire);
      ::close(number);
      return;
    }
    try {
      descriptor.place_ = open_.insert(open_.end(), &descriptor);
    } catch (const std::bad_alloc&) {
      ::close(number);
      throw;
    }
    descriptor.number_ = number;
    descriptor.users_.fetch_add(1 - Descriptor::kClosed, std::memory_order_release);
  }

  /// Nobody uses `descriptor` any more.
  void remove(const Descriptor& descriptor) HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (descriptor.users_.load(std::memory_order_acquire) >= 0) close(descriptor);
  }

  std::size_t count() HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return open_.size();
  }

 private:
  // A child of fork() finds the list whole and its mutex free.
  static OpenDescriptors* make() {
    pthread_atfork(lock_for_fork, unlock_after_fork, unlock_after_fork);
    return new OpenDescriptors;
  }
  static void lock_for_fork() HEADRACE_ATTRIBUTE(no_thread_safety_analysis) { of_process().mutex_.lock(); }
  static void unlock_after_fork() HEADRACE_ATTRIBUTE(no_thread_safety_analysis) { of_process().mutex_.unlock(); }

  void make_room() HEADRACE_EXCLUDES(mutex_) {
    const std::size_t most = share_of_limit();
    while (count() >= most && close_one()) {
    }
  }

  bool close_one() HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (const Descriptor* descriptor : open_) {
      std::int64_t users = 0;
      if (!descriptor->users_.compare_exchange_strong(users, Descriptor::kClosed, std::memory_order_acquire)) continue;
      close(*descriptor);
      return true;
    }
    return false;
  }

  void close(const Descriptor& descriptor) HEADRACE_REQUIRES(mutex_) {
    ::close(std::exchange(descriptor.number_, -1));
    open_.erase(descriptor.place_);
  }

  Mutex mutex_;
  std::list<const Descriptor*> open_ HEADRACE_GUARDED_BY(mutex_);
};

Result<std::unique_ptr<Descriptor>> Descriptor::open(const std::string& path) {
  std::unique_ptr<Descriptor> descriptor(new Descriptor(path));
  const int number = OpenDescriptors::of_process().open(path);
  if (number < 0) return file_failure("cannot open", path, errno);
  OpenDescriptors::of_process().add(*descriptor, number);
  const Use use(descriptor.get());
  struct stat info {};
  if (::fstat(number, &info) != 0) return file_failure("cannot stat", path, errno);
  if (S_ISDIR(info.st_mode)) return file_failure("cannot read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) return Status(StatusCode::kIo, "cannot read: not a regular file", {.path = path});
  (void)::fcntl(number, F_SETFL, O_RDONLY);  // reads of a regular file are to wait, wherever it comes from
  descriptor->device_ = info.st_dev;
  descriptor->inode_ = info.st_ino;
  descriptor->size_ = static_cast<std::uint64_t>(info.st_size);
  return descriptor;
}

Descriptor::~Descriptor() { OpenDescriptors::of_process().remove(*this); }

std::size_t Descriptor::open_count() { return OpenDescriptors::of_process().count(); }

Result<Descriptor::Use> Descriptor::use() const {
  if (users_.fetch_add(1, std::memory_order_acquire) >= 0) return Use(this);
  users_.fetch_sub(1, std::memory_order_relaxed);
  return open_again();
}

Result<Descriptor::Use> Descriptor::open_again() const {
  const int number = OpenDescriptors::of_process().open(path_);
  if (number < 0) return file_failure("cannot open again", path_, errno);
  struct stat info {};
  const bool is_same = ::fstat(number, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
  if (!is_same) {
    ::close(number);
    return data_loss("another file has this name since it was opened", {.path = path_});
  }
  (void)::fcntl(number, F_SETFL, O_RDONLY);
  OpenDescriptors::of_process().add(*this, number);
  return Use(this);
}

}  // namespace headrace
