// The bytes of an uncompressed shard.
#pragma once

#include "shard/byte_source.h"
#include "shard/stored_file.h"

namespace headrace {

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<StoredFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read(std::uint8_t* data, std::size_t size) override;
  std::optional<Result<std::size_t>> try_read(std::uint8_t* data, std::size_t size) override;
  Status seek(std::uint64_t offset) override;
  std::uint64_t position() const override { return position_; }
  std::uint64_t member_begin() const override { return 0; }
  Result<bool> member_holds() override { return true; }
  Result<bool> recover() override { return false; }
  std::optional<std::uint64_t> remaining() const override;
  std::uint64_t file_position() const override { return position_; }
  Compression compression() const override { return Compression::kNone; }
  InflateCost inflate_cost() const override { return {}; }

 private:
  const std::unique_ptr<StoredFile> file_;
  std::uint64_t position_ = 0;
};

}  // namespace headrace
