// Whole files of records: which there are, what is damaged in them, and copies of what is not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/dataset.h"
#include "headrace/records.h"
#include "headrace/skipped.h"
#include "headrace/status.h"

namespace headrace {

struct FoundFile {
  std::string path;  ///< as it is shown
  std::int64_t bytes = 0;
  std::string name;  ///< what opens it alone: `path`, or a URL with its user, password and query
};
struct FoundFiles {
  std::vector<FoundFile> files;       ///< in reading order
  std::vector<std::string> warnings;  ///< same file twice, empty file, files left out, …
};
/// The files that `files` names; failures as Dataset::open() gives them. Any thread.
Result<FoundFiles> find_files(const Files& files, const std::shared_ptr<const FileProvider>& provider = nullptr);

struct VerifyOptions {
  CompressionType compression = CompressionType::kAuto;
  std::optional<std::int64_t> max_record_bytes = std::nullopt;  ///< as in ReadOptions
  std::shared_ptr<const FileProvider> provider = nullptr;       ///< as in ReadOptions
};

/// What was found in a file up to now.
struct VerifyCounts {
  CompressionType compression = CompressionType::kAuto;  ///< of the file; kAuto before it is known
  std::int64_t file_position = 0;                        ///< bytes of the file that were read
  std::int64_t records = 0;                              ///< whole ones
  std::int64_t bytes = 0;                                ///< of their payloads
  std::int64_t regions = 0;                              ///< damaged ones
};

/// Reads one file to its end, with all checksums and any number of damages. One caller at a time.
class ShardVerifier {
 public:
  /// With `copy`, every whole record is written to it as well.
  static Result<ShardVerifier> open(const std::string& path, const VerifyOptions& options,
                                    std::optional<RecordWriter> copy = std::nullopt);
  ShardVerifier(ShardVerifier&&) noexcept;
  ShardVerifier& operator=(ShardVerifier&&) noexcept;
  ~ShardVerifier();

  /// Reads on for some megabytes, so that the caller can tell of progress, or stop, in between. False: the end was reached.
  /// A failure, which stays, is none of the records': the file cannot be read, a record is over the limit, the copy cannot
  /// be written.
  Result<bool> step();
  VerifyCounts counts() const;
  /// The damaged regions that were found since the last call.
  std::vector<SkippedRegion> take_regions();
  /// Behind the end: gives the copy its name. Without this call there is none.
  Status close_copy();

 private:
  struct Impl;
  explicit ShardVerifier(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
