#include "record/record_loader.h"

#include <algorithm>

#include "base/wire.h"
#include "record/framing.h"

namespace headrace {
namespace {

// A shuffle over a cycle of 16 shards holds records of about twice as many.
constexpr std::size_t kOpenShards = 64;

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
    const auto found =
        std::find_if(open_.rbegin(), open_.rend(), [shard](const OpenShard& open) { return open.shard == shard; });
    if (found != open_.rend()) return found->file;
  }
  HEADRACE_ASSIGN_OR_RETURN(File file, File::open(shards_->files[shard].path));
  if (jumps_) file.will_jump();
  auto shared = std::make_shared<const File>(std::move(file));
  MutexLock lock(mutex_);
  if (open_.size() == kOpenShards) open_.pop_front();
  open_.push_back({shard, shared});
  return shared;
}

}  // namespace headrace
