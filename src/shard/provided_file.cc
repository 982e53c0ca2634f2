#include "shard/provided_file.h"

#include <utility>

namespace headrace {
namespace {

class Provided : public StoredFile {
 public:
  Provided(std::unique_ptr<ProvidedFile> file, std::string path, std::uint64_t size, std::stop_token stop)
      : file_(std::move(file)), path_(std::move(path)), size_(size), stop_(std::move(stop)) {}

  Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) override {
    std::size_t done = 0;
    while (done < size) {
      if (stop_.stop_requested()) return cancelled("closed while reading " + path_);
      const Result<std::size_t> n = file_->read_at(data + done, size - done, offset + done);
      if (!n.ok() && done > 0) break;  // the next call says what is wrong
      if (!n.ok()) return n.status().with({.path = path_});
      if (*n == 0) break;
      if (*n > size - done) return Status(StatusCode::kIo, "a read gave more than was asked for", {.path = path_});
      done += *n;
    }
    return done;
  }
  std::optional<Result<std::size_t>> try_read_at(std::uint8_t*, std::size_t, std::uint64_t) override {
    return std::nullopt;
  }
  std::uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

 private:
  const std::unique_ptr<ProvidedFile> file_;
  const std::string path_;
  const std::uint64_t size_;
  const std::stop_token stop_;
};

class ProvidedOrigin : public ShardOrigin {
 public:
  ProvidedOrigin(std::shared_ptr<const FileProvider> provider, FileProvider::Entry entry, std::stop_token stop)
      : provider_(std::move(provider)), entry_(std::move(entry)), stop_(std::move(stop)) {}

  Result<std::unique_ptr<StoredFile>> open() const override {
    if (stop_.stop_requested()) return cancelled("closed before opening " + entry_.path);
    Result<std::unique_ptr<ProvidedFile>> file = provider_->open(entry_.path);
    if (!file.ok()) return file.status().with({.path = entry_.path});
    return std::unique_ptr<StoredFile>(std::make_unique<Provided>(std::move(*file), entry_.path, entry_.bytes, stop_));
  }

 private:
  const std::shared_ptr<const FileProvider> provider_;
  const FileProvider::Entry entry_;
  const std::stop_token stop_;
};

}  // namespace

Result<std::vector<ShardFile>> find_provided(const std::shared_ptr<const FileProvider>& provider,
                                             const std::vector<std::string>& items, bool is_list,
                                             const std::stop_token& stop) {
  HEADRACE_ASSIGN_OR_RETURN(std::vector<FileProvider::Entry> entries, provider->find(items, is_list));
  if (entries.empty()) return Status(StatusCode::kNotFound, "no file was found", {.path = items.front()});
  std::vector<ShardFile> files;
  files.reserve(entries.size());
  for (FileProvider::Entry& entry : entries) {
    ShardFile file{.path = entry.path, .bytes = entry.bytes};
    file.origin = std::make_shared<ProvidedOrigin>(provider, std::move(entry), stop);
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace headrace
