#include "record/shard_indexes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "record/header_walk.h"
#include "record/index_files.h"
#include "record/index_identity.h"
#include "runtime/clock.h"
#include "shard/file.h"

namespace headrace {
namespace {

// Makes the missing indexes of one data set, as long as the time that is left is estimated to do.
class IndexMaker {
 public:
  IndexMaker(const ReadOptions& options, const IndexWish& wish, std::uint64_t all_bytes, std::size_t files)
      : options_(options), wish_(wish), all_bytes_(all_bytes), files_(files) {}

  Result<RecordIndex> make(const ShardFile& file) {
    if (wish_.most_seconds) {
      HEADRACE_ASSIGN_OR_RETURN(const File opened, File::open(file.path));
      if (!opened.is_local()) {
        return invalid_argument(wish_.needed_by + " needs an index of " + file.path +
                                ", which is on a file system of another machine; run once: headrace index FILES");
      }
    }
    Result<RecordIndex> index = walk_headers(
        file.path, options_, [this](std::uint64_t file_bytes) { return look_at_clock(done_bytes_ + file_bytes); });
    done_bytes_ += file.bytes;
    if (index.ok()) {
      HEADRACE_RETURN_IF_ERROR(look_at_clock(done_bytes_));
    } else if (index.status().code() == StatusCode::kDataLoss) {
      return Status(StatusCode::kDataLoss,
                    index.status().message() + "; " + wish_.needed_by +
                        " needs an index, and a damaged file has none (headrace repair makes one that can have it)",
                    index.status().where());
    }
    return index;
  }

 private:
  Status look_at_clock(std::uint64_t done_bytes) const {
    const double seconds = static_cast<double>(now_ns() - begin_ns_) * 1e-9;
    if (!wish_.most_seconds || seconds < wish_.measured_seconds || done_bytes == 0) return {};
    const double estimated = seconds * static_cast<double>(all_bytes_) / static_cast<double>(done_bytes);
    if (estimated <= *wish_.most_seconds) return {};
    return invalid_argument(wish_.needed_by + " needs an index of every file; making those of " +
                            std::to_string(files_) + " files would take about " +
                            std::to_string(static_cast<std::int64_t>(std::ceil(estimated))) +
                            " seconds here; run once: headrace index FILES");
  }

  const ReadOptions& options_;
  const IndexWish& wish_;
  const std::uint64_t all_bytes_;
  const std::size_t files_;
  const std::int64_t begin_ns_ = now_ns();
  std::uint64_t done_bytes_ = 0;
};

Result<std::optional<RecordIndex>> find(const std::string& path, const IndexMemory& memory) {
  HEADRACE_ASSIGN_OR_RETURN(std::optional<RecordIndex> index, find_index(path));
  if (index) return index;
  index = memory.find(path);
  if (!index) return index;
  HEADRACE_ASSIGN_OR_RETURN(const bool is_current, fits(*index, path));
  if (!is_current) index.reset();
  return index;
}

}  // namespace

std::optional<RecordIndex> IndexMemory::find(const std::string& path) const {
  MutexLock lock(mutex_);
  const auto found = indexes_.find(path);
  return found == indexes_.end() ? std::nullopt : std::optional<RecordIndex>(found->second);
}

void IndexMemory::keep(const std::string& path, RecordIndex index) {
  MutexLock lock(mutex_);
  indexes_.insert_or_assign(path, std::move(index));
}

std::string index_name(const RecordIndex& index) {
  return index.path.empty() ? "the index that was made when the files were opened" : "the index " + index.path;
}

Result<std::vector<RecordIndex>> find_or_make_indexes(const ShardList& shards, std::span<const std::uint32_t> wanted,
                                                      const ReadOptions& options, const IndexWish& wish,
                                                      IndexMemory* memory, WarningLog* warnings) {
  std::vector<RecordIndex> indexes(wanted.size());
  std::vector<std::size_t> missing;
  std::uint64_t missing_bytes = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ShardFile& file = shards.files[wanted[i]];
    if (file.origin != nullptr) {
      return invalid_argument(wish.needed_by + " needs an index of every file, and only local files have one: " +
                              file.path + " is read over the network or by Python; copy the files to a local folder");
    }
    Result<std::optional<RecordIndex>> found = find(file.path, *memory);
    if (!found.ok()) return found.status().with({.path = file.path});
    if (*found) {
      indexes[i] = std::move(**found);
      continue;
    }
    missing.push_back(i);
    missing_bytes += file.bytes;
  }
  IndexMaker maker(options, wish, missing_bytes, missing.size());
  for (const std::size_t i : missing) {
    const ShardFile& file = shards.files[wanted[i]];
    HEADRACE_ASSIGN_OR_RETURN(indexes[i], maker.make(file));
    Result<std::string> stored = store_index(indexes[i], file.path, IndexPlace::kCache);
    if (stored.ok()) {
      indexes[i].path = std::move(*stored);
      continue;
    }
    memory->keep(file.path, indexes[i]);
    warnings->add("indexes stay in memory", "indexes cannot be kept for the next run: " + stored.status().to_string() +
                                                " (headrace index --beside keeps them beside the data)");
  }
  return indexes;
}

}  // namespace headrace
