// Descriptor: a regular file opened for reading, whose descriptor is closed while nobody uses it and too many are open.
//
// A process has few descriptors (ulimit -n) and a cycle may have many shards. All Descriptors of the process together keep at
// most half of the limit, and give up more where the system refuses to open another; the oldest one that is not in use is
// closed, and opened again by its next use, which checks that the name still means the same file.
//
// Calls may be concurrent. A use costs two atomic additions; a lock is taken only where descriptors are opened and closed.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "headrace/status.h"

namespace headrace {

class Descriptor {
 public:
  /// Keeps the descriptor open while it lives.
  class Use {
   public:
    explicit Use(const Descriptor* descriptor) : descriptor_(descriptor) {}
    Use(Use&& other) noexcept : descriptor_(std::exchange(other.descriptor_, nullptr)) {}
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (descriptor_ != nullptr) descriptor_->users_.fetch_sub(1, std::memory_order_release);
    }
    int number() const { return descriptor_->number_; }

   private:
    const Descriptor* descriptor_;
  };

  /// Failures: as the system has them; a directory, or anything else that is no regular file.
  static Result<std::unique_ptr<Descriptor>> open(const std::string& path);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// Fails only where the file had to be opened again: it is gone, or is another one now.
  Result<Use> use() const;

  /// Bytes of the file when it was first opened.
  std::uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// How many of this process are open.
  static std::size_t open_count();

 private:
  friend class OpenDescriptors;
  // Added to the users of one that is closed; no more than this many use it at a time.
  static constexpr std::int64_t kClosed = std::int64_t{-1} << 40;

  explicit Descriptor(std::string path) : path_(std::move(path)) {}
  Result<Use> open_again() const;

  // constant after open()
  const std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t size_ = 0;

  // own synchronisation
  mutable std::atomic<std::int64_t> users_ = kClosed;

  // changed by OpenDescriptors, while users_ is below zero
  mutable int number_ = -1;
  mutable std::list<const Descriptor*>::iterator place_;
};

}  // namespace headrace
