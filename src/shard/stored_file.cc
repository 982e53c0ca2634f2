#include "shard/stored_file.h"

#include <utility>

#include "shard/file.h"

namespace headrace {
namespace {

class LocalFile : public StoredFile {
 public:
  explicit LocalFile(File file) : file_(std::move(file)) {}
  Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) override {
    return file_.read_at(data, size, offset);
  }
  std::optional<Result<std::size_t>> try_read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) override {
    return file_.try_read_at(data, size, offset);
  }
  std::uint64_t size() const override { return file_.size(); }
  const std::string& path() const override { return file_.path(); }

 private:
  const File file_;
};

}  // namespace

Result<std::unique_ptr<StoredFile>> open_stored_file(const ShardFile& file) {
  if (file.origin != nullptr) return file.origin->open();
  HEADRACE_ASSIGN_OR_RETURN(File local, File::open(file.path, file.bytes));
  return std::unique_ptr<StoredFile>(std::make_unique<LocalFile>(std::move(local)));
}

}  // namespace headrace
