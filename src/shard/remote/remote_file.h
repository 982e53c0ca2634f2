// RemoteFile: an object behind a URL as a StoredFile, read ahead in parts.
//
// The window of parts behind the reader's place grows while the file is read in order, up to the file's share of the session's
// memory, and begins small again after a jump.
#pragma once

#include <deque>
#include <memory>

#include "shard/remote/remote_part.h"
#include "shard/stored_file.h"

namespace headrace {

class RemoteFile : public StoredFile {
 public:
  RemoteFile(std::shared_ptr<RemoteSession> session, std::shared_ptr<const RemoteTarget> target);
  ~RemoteFile() override;
  RemoteFile(const RemoteFile&) = delete;
  RemoteFile& operator=(const RemoteFile&) = delete;

  /// Sends for its first parts; only before anything is read.
  void start();
  Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) override;
  std::optional<Result<std::size_t>> try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) override;
  std::uint64_t size() const override { return target_->size; }
  const std::string& path() const override { return target_->path; }

 private:
  /// The part that holds `offset`, which lies in the file; the parts behind it are on their way. Null: no memory.
  RemotePart* part_at(std::uint64_t offset);
  void drop_parts();
  void fetch_ahead(std::uint64_t offset);
  std::size_t part_bytes(std::size_t share) const;

  const std::shared_ptr<RemoteSession> session_;
  const std::shared_ptr<const RemoteTarget> target_;
  std::deque<std::shared_ptr<RemotePart>> parts_;  // one behind the other
  std::uint64_t next_ = 0;                         // where the part behind them begins
  std::size_t window_;
};

/// A RemoteTarget as a shard's origin.
std::shared_ptr<const ShardOrigin> make_remote_origin(std::shared_ptr<RemoteSession> session,
                                                      std::shared_ptr<const RemoteTarget> target);

}  // namespace headrace
