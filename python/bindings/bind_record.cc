#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bindings.h"
#include "failure.h"
#include "headrace/records.h"
#include "python_files.h"
#include "read_options.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

// The library's reader and writer take one caller at a time: the mutex makes Python threads take turns, without the GIL.
struct ReaderHandle {
  explicit ReaderHandle(RecordReader r) : reader(std::move(r)) {}
  std::mutex turn;
  std::optional<RecordReader> reader;
};

struct WriterHandle {
  explicit WriterHandle(RecordWriter w) : writer(std::move(w)) {}
  std::mutex turn;
  std::optional<RecordWriter> writer;
};

nb::bytes next_record(ReaderHandle& self) {
  Result<std::optional<std::string>> record = std::optional<std::string>();
  {
    const WithoutGilInterruptible release;
    std::lock_guard lock(self.turn);
    if (!self.reader) {
      record = cancelled("the reader is closed");
    } else {
      Result<std::optional<std::string_view>> view = self.reader->next();
      if (!view.ok()) {
        record = view.status();
      } else if (*view) {
        record = std::optional<std::string>(**view);
      }
    }
  }
  const std::optional<std::string> bytes = unwrap(std::move(record));
  if (!bytes) throw nb::stop_iteration();
  return nb::bytes(bytes->data(), bytes->size());
}

void write_record(WriterHandle& self, const nb::bytes& record) {
  Status status;
  {
    const WithoutGil release;
    std::lock_guard lock(self.turn);
    status = self.writer ? self.writer->write(to_view(record)) : cancelled("the writer is closed");
  }
  raise_if_error(status);
}

void close_writer(WriterHandle& self) {
  Status status;
  {
    const WithoutGil release;
    std::lock_guard lock(self.turn);
    if (self.writer) status = self.writer->close();
  }
  raise_if_error(status);
}

// By the number of the CompressionType.
constexpr const char* kCompressions[] = {"auto", "none", "gzip", "zlib", "zstd", "snappy"};

template <class Handle, class Member>
void drop(Handle& self, Member member) {
  const WithoutGil release;
  std::lock_guard lock(self.turn);
  (self.*member).reset();
}

}  // namespace

CompressionType to_compression(const std::string& name) {
  const auto found = std::find(std::begin(kCompressions), std::end(kCompressions), name);
  if (found != std::end(kCompressions)) return static_cast<CompressionType>(found - std::begin(kCompressions));
  raise(invalid_argument("compression='" + name + "': must be 'auto', 'none', 'gzip', 'zlib', 'zstd' or 'snappy'"));
}

std::string compression_name(CompressionType compression) { return kCompressions[static_cast<int>(compression)]; }

Verify to_verify(const std::string& name) {
  if (name == "full") return Verify::kFull;
  if (name == "header") return Verify::kHeader;
  if (name == "off") return Verify::kOff;
  raise(invalid_argument("verify='" + name + "': must be 'full', 'header' or 'off'"));
}

OnCorrupt to_on_corrupt(const std::string& name) {
  if (name == "raise") return OnCorrupt::kRaise;
  if (name == "skip") return OnCorrupt::kSkip;
  raise(invalid_argument("on_corrupt='" + name + "': must be 'raise' or 'skip'"));
}

OnMismatch to_on_mismatch(const std::string& name) {
  if (name == "raise") return OnMismatch::kRaise;
  if (name == "skip") return OnMismatch::kSkip;
  raise(invalid_argument("on_mismatch='" + name + "': must be 'raise' or 'skip'"));
}

void bind_record(nb::module_& m) {
  nb::class_<ReaderHandle>(m, "RecordReader", "The records of one file, one after another, as bytes.")
      .def(
          "__init__",
          [](ReaderHandle* self, const nb::bytes& path, const std::string& compression, const std::string& verify,
             std::optional<std::int64_t> max_record_bytes, const nb::object& provider) {
            const ReadOptions options = {.compression = to_compression(compression),
                                         .verify = to_verify(verify),
                                         .max_record_bytes = max_record_bytes,
                                         .provider = make_python_files(provider)};
            Result<RecordReader> reader = cancelled("not opened");
            {
              const std::string name(to_view(path));
              const WithoutGilInterruptible release;
              reader = RecordReader::open(name, options);
            }
            new (self) ReaderHandle(unwrap(std::move(reader)));
          },
          "path"_a, "compression"_a = "auto", "verify"_a = "full", "max_record_bytes"_a = nb::none(),
          "provider"_a.none() = nb::none())
      .def("__iter__", [](nb::handle_t<ReaderHandle> self) { return nb::borrow(self); })
      .def("__next__", next_record)
      .def("close", [](ReaderHandle& self) { drop(self, &ReaderHandle::reader); });

  nb::class_<WriterHandle>(m, "RecordWriter", "Writes one file of records; it has its final name once closed.")
      .def(
          "__init__",
          [](WriterHandle* self, const nb::bytes& path, const std::string& compression, std::optional<int> level,
             bool index) {
            const WriterOptions options = {.compression = to_compression(compression), .level = level, .index = index};
            new (self) WriterHandle(unwrap(RecordWriter::open(std::string(to_view(path)), options)));
          },
          "path"_a, "compression"_a = "none", "level"_a = nb::none(), "index"_a = false)
      .def("write", write_record, "record"_a)
      .def("close", close_writer, "Flushes and gives the file its name. Idempotent.")
      .def(
          "discard", [](WriterHandle& self) { drop(self, &WriterHandle::writer); },
          "Ends writing; a file that was not closed is removed.");
}

}  // namespace headrace::python
