#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bindings.h"
#include "failure.h"
#include "headrace/verify.h"
#include "python_files.h"
#include "read_options.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

// The library's verifier takes one caller at a time: the mutex makes Python threads take turns, without the GIL.
struct VerifierHandle {
  explicit VerifierHandle(ShardVerifier v) : verifier(std::move(v)) {}
  std::mutex turn;
  ShardVerifier verifier;
};

void init_verifier(VerifierHandle* self, const nb::bytes& path, const std::string& compression,
                   std::optional<std::int64_t> max_record_bytes, const std::optional<nb::bytes>& copy_to,
                   const std::string& copy_compression, std::optional<int> copy_level, const nb::object& provider) {
  std::optional<RecordWriter> copy;
  if (copy_to) {
    const WriterOptions options = {.compression = to_compression(copy_compression), .level = copy_level};
    copy = unwrap(RecordWriter::open(std::string(to_view(*copy_to)), options));
  }
  const VerifyOptions options = {.compression = to_compression(compression),
                                 .max_record_bytes = max_record_bytes,
                                 .provider = make_python_files(provider)};
  Result<ShardVerifier> verifier = cancelled("not opened");
  {
    const std::string name(to_view(path));
    const WithoutGilInterruptible release;
    verifier = ShardVerifier::open(name, options, std::move(copy));
  }
  new (self) VerifierHandle(unwrap(std::move(verifier)));
}

bool step(VerifierHandle& self) {
  Result<bool> stepped = false;
  {
    const WithoutGilInterruptible release;
    std::lock_guard lock(self.turn);
    stepped = self.verifier.step();
  }
  return unwrap(std::move(stepped));
}

void close_copy(VerifierHandle& self) {
  Status status;
  {
    const WithoutGil release;
    std::lock_guard lock(self.turn);
    status = self.verifier.close_copy();
  }
  raise_if_error(status);
}

template <class Value>
auto counted(Value VerifyCounts::*member) {
  return [member](VerifierHandle& self) {
    std::lock_guard lock(self.turn);
    return self.verifier.counts().*member;
  };
}

nb::object number_or_none(std::int64_t number) {
  return number < 0 ? nb::object(nb::none()) : nb::object(nb::int_(number));
}

nb::list found_files(const std::vector<nb::bytes>& files, bool is_list, const nb::object& provider) {
  Files wanted{.is_list = is_list};
  for (const nb::bytes& file : files) wanted.items.emplace_back(to_view(file));
  const auto files_of_python = make_python_files(provider);
  Result<FoundFiles> found = cancelled("not looked for");
  {
    const WithoutGilInterruptible release;
    found = find_files(wanted, files_of_python);
  }
  nb::list paths;
  for (const FoundFile& file : unwrap(std::move(found)).files) {
    paths.append(nb::make_tuple(path_to_python(file.path), file.bytes, path_to_python(file.name)));
  }
  return paths;
}

void bind_region(nb::module_& m) {
  nb::class_<SkippedRegion>(m, "SkippedRegion",
                            "A piece of a shard that was left out. Offsets are those of the uncompressed stream.")
      .def_prop_ro("path", [](const SkippedRegion& self) { return path_to_python(self.reason.where().path); })
      .def_prop_ro(
          "record", [](const SkippedRegion& self) { return number_or_none(self.reason.where().record); },
          "Ordinal in the shard of its first record.")
      .def_prop_ro(
          "begin", [](const SkippedRegion& self) { return number_or_none(self.reason.where().offset); },
          "Offset of its first byte.")
      .def_prop_ro(
          "end", [](const SkippedRegion& self) { return number_or_none(self.end); },
          "Offset of the first byte behind it; None when that is not known.")
      .def_prop_ro(
          "records", [](const SkippedRegion& self) { return number_or_none(self.records); },
          "Records lost with it; None when that is not known.")
      .def_prop_ro(
          "cause", [](const SkippedRegion& self) { return std::string(to_string(self.reason.code())); },
          "'data_loss': damaged; 'schema_mismatch': does not fit the schema.")
      .def_prop_ro("reason", [](const SkippedRegion& self) { return text_to_python(self.reason.message()); })
      .def_prop_ro(
          "key",
          [](const SkippedRegion& self) {
            const std::string& key = self.reason.where().key;
            return key.empty() ? nb::object(nb::none()) : text_to_python(key);
          },
          "Of the feature that does not fit; else None.")
      .def("__str__", [](const SkippedRegion& self) { return text_to_python(self.reason.to_string()); })
      .def(
          "to_json", [](const SkippedRegion& self) { return text_to_python(to_json(self)); },
          "One line of JSON, without its line end.");
}

}  // namespace

void bind_verify(nb::module_& m) {
  bind_region(m);
  nb::class_<VerifierHandle>(m, "ShardVerifier", "Reads one file of records to its end; see headrace/verify.h.")
      .def("__init__", init_verifier, "path"_a, "compression"_a = "auto", "max_record_bytes"_a = nb::none(),
           "copy_to"_a = nb::none(), "copy_compression"_a = "none", "copy_level"_a = nb::none(),
           "provider"_a.none() = nb::none())
      .def("step", step, "Reads on for some megabytes; False at the end.")
      .def("close_copy", close_copy, "Behind the end: gives the copy its name.")
      .def(
          "take_regions",
          [](VerifierHandle& self) {
            std::lock_guard lock(self.turn);
            return self.verifier.take_regions();
          },
          "The damaged regions found since the last call.")
      .def_prop_ro("compression",
                   [](VerifierHandle& self) {
                     std::lock_guard lock(self.turn);
                     return compression_name(self.verifier.counts().compression);
                   })
      .def_prop_ro("file_position", counted(&VerifyCounts::file_position), "Bytes of the file that were read.")
      .def_prop_ro("records", counted(&VerifyCounts::records), "Whole ones.")
      .def_prop_ro("bytes", counted(&VerifyCounts::bytes), "Of their payloads.")
      .def_prop_ro("regions", counted(&VerifyCounts::regions), "Damaged ones.");

  m.def("find_files", found_files, "files"_a, "is_list"_a, "provider"_a.none() = nb::none(),
        "The (path, bytes, name) of each file, in reading order; see headrace/verify.h.");
}

}  // namespace headrace::python
