#include "shard/plain_source.h"

#include <algorithm>

namespace headrace {

Result<std::size_t> PlainSource::read(std::uint8_t* data, std::size_t size) {
  Result<std::size_t> n = file_->read_at(data, size, position_);
  if (n.ok()) position_ += *n;
  return n;
}

std::optional<Result<std::size_t>> PlainSource::try_read(std::uint8_t* data, std::size_t size) {
  std::optional<Result<std::size_t>> n = file_->try_read_at(data, size, position_);
  if (n && n->ok()) position_ += **n;
  return n;
}

Status PlainSource::seek(std::uint64_t offset) {
  if (offset > file_->size()) {
    return data_loss("offset " + std::to_string(offset) + " lies behind the end of the file (" +
                         std::to_string(file_->size()) + " bytes)",
                     {.path = file_->path()});
  }
  position_ = offset;
  return {};
}

std::optional<std::uint64_t> PlainSource::remaining() const {
  return file_->size() - std::min(position_, file_->size());
}

}  // namespace headrace
