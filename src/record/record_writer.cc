#include <utility>
#include <vector>

#include "headrace/index.h"
#include "headrace/records.h"
#include "record/framing.h"
#include "record/index_files.h"
#include "record/index_identity.h"
#include "shard/byte_sink.h"

namespace headrace {
namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

struct RecordWriter::Impl {
  std::unique_ptr<ByteSink> sink;
  std::vector<std::uint8_t> buffer;  // framed bytes not yet given to the sink
  bool closed = false;
  std::string path;
  bool has_index = false;
  std::vector<std::uint32_t> lengths;  // for the index

  Status flush() {
    Status written = sink->write(buffer);
    buffer.clear();
    return written;
  }

  /// Behind the file: without it, or with one of an older file, there is no index.
  Status write_index() {
    RecordIndex index{.lengths = std::move(lengths)};
    HEADRACE_ASSIGN_OR_RETURN(index.identity, identity_of(path));
    return store_index(index, path, IndexPlace::kBeside).status();
  }
};

RecordWriter::RecordWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordWriter::RecordWriter(RecordWriter&&) noexcept = default;
RecordWriter& RecordWriter::operator=(RecordWriter&&) noexcept = default;
RecordWriter::~RecordWriter() = default;

Result<RecordWriter> RecordWriter::open(const std::string& path, const WriterOptions& options) {
  auto impl = std::make_unique<Impl>();
  HEADRACE_ASSIGN_OR_RETURN(impl->sink,
                            ByteSink::create(path, static_cast<Compression>(options.compression), options.level));
  impl->buffer.reserve(kBufferBytes);
  impl->path = path;
  impl->has_index = options.index;
  return RecordWriter(std::move(impl));
}

Status RecordWriter::write(std::string_view record) {
  if (impl_->closed) return invalid_argument("write() after close()");
  if (record.size() > UINT32_MAX) return invalid_argument("a record may have at most 4 GiB - 1 bytes");
  const std::span<const std::uint8_t> payload = bytes_of(record);
  std::uint8_t header[kHeaderBytes];
  std::uint8_t footer[kFooterBytes];
  make_header(payload.size(), header);
  make_footer(payload.data(), payload.size(), footer);
  std::vector<std::uint8_t>& buffer = impl_->buffer;
  if (buffer.size() + kFrameBytes + payload.size() > kBufferBytes) HEADRACE_RETURN_IF_ERROR(impl_->flush());
  buffer.insert(buffer.end(), header, header + kHeaderBytes);
  if (buffer.size() + payload.size() + kFooterBytes > kBufferBytes) {  // a large record is not copied
    HEADRACE_RETURN_IF_ERROR(impl_->flush());
    HEADRACE_RETURN_IF_ERROR(impl_->sink->write(payload));
  } else {
    buffer.insert(buffer.end(), payload.begin(), payload.end());
  }
  buffer.insert(buffer.end(), footer, footer + kFooterBytes);
  if (impl_->has_index) impl_->lengths.push_back(static_cast<std::uint32_t>(payload.size()));
  return {};
}

Status RecordWriter::close() {
  if (!impl_->closed) {
    impl_->closed = true;
    HEADRACE_RETURN_IF_ERROR(impl_->flush());
  }
  HEADRACE_RETURN_IF_ERROR(impl_->sink->close());
  return std::exchange(impl_->has_index, false) ? impl_->write_index() : Status();
}

}  // namespace headrace
