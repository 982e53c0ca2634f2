#include "record/record_loader.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/wire.h"
#include "record/framing.h"

namespace headrace {
namespace {

// A shuffle over a cycle of 16 shards holds records of about twice as many.
constexpr std::size_t kOpenShards = 64;
// Who jumps needs any shard at any time, but leaves most of the files that a process may open to others.
constexpr std::size_t kMostOpenShards = 1024;

std::size_t shards_to_keep_open(bool jumps) {
  rlimit limit{};
  if (!jumps || getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOpenShards;
  return std::clamp<std::size_t>(limit.rlim_cur / 4, kOpenShards, kMostOpenShards);
}

}  // namespace

std::size_t RecordLoader::room_for(std::uint32_t length) { return kFrameBytes + length + kBlockPadding; }

Result<std::span<const std::uint8_t>> RecordLoader::load(const File& file, const RecordBlock& block,
                                                         std::uint32_t index, std::uint8_t* memory) const {
  const std::uint32_t length = block.records[index].length;
  const std::uint64_t offset = block.header_offset(index);
  const std::size_t whole = kFrameBytes + length;
  HEADRACE_ASSIGN_OR_RETURN(const std::size_t got, file.read_at(memory, whole, offset));
  const auto at = [offset] { return " record at " + std::to_string(offset); };
  if (got < whole || load_u64(memory) != length || (verify_ != Verify::kOff && !header_holds(memory))) {
    return data_loss("changed" + at() + ": the file is not what it was when its records were located");
  }
  const std::uint8_t* payload = memory + kHeaderBytes;
  if (verify_ == Verify::kFull && !payload_holds(payload, length)) {
    return data_loss("corrupted" + at() + ": the checksum of its data does not match");
  }
  return std::span(payload, length);
}

Result<std::shared_ptr<const File>> RecordLoader::open(std::uint32_t shard) {
  {
    MutexLock lock(mutex_);
    const auto found = open_.find(shard);
    if (found != open_.end()) return found->second;
  }
  HEADRACE_ASSIGN_OR_RETURN(File file, File::open(shards_->files[shard].path));
  if (jumps_) file.will_jump();
  auto shared = std::make_shared<const File>(std::move(file));
  MutexLock lock(mutex_);
  const auto [place, is_new] = open_.try_emplace(shard, std::move(shared));  // another thread may have been faster
  if (!is_new) return place->second;
  std::shared_ptr<const File> opened = place->second;
  order_.push_back(shard);
  if (order_.size() > shards_to_keep_open(jumps_)) {
    open_.erase(order_.front());
    order_.pop_front();
  }
  return opened;
}

}  // namespace headrace
