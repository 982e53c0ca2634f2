#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <string>
#include <utility>

#include "bindings.h"
#include "failure.h"
#include "headrace/index.h"
#include "headrace/interrupt.h"
#include "read_options.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

/// Ends calls on other threads.
struct StopFlag {
  std::atomic<bool> is_set{false};
};

nb::object write(const nb::bytes& path, bool beside, const std::string& compression, const StopFlag& stop) {
  const VerifyOptions options = {.compression = to_compression(compression)};
  const std::string file(to_view(path));
  Result<std::string> written = cancelled("not written");
  {
    const WithoutGil release;
    const InterruptScope scope([&stop] { return stop.is_set.load(); });
    written = write_index(file, beside ? IndexPlace::kBeside : IndexPlace::kCache, options);
  }
  return path_to_python(unwrap(std::move(written)));
}

std::vector<std::uint32_t> read(const nb::bytes& path) {
  const std::string file(to_view(path));
  Result<RecordIndex> index = cancelled("not read");
  {
    const WithoutGil release;
    index = read_index(file);
  }
  return unwrap(std::move(index)).lengths;
}

}  // namespace

void bind_index(nb::module_& m) {
  nb::class_<StopFlag>(m, "StopFlag", "Ends a call on another thread.")
      .def(nb::init<>())
      .def("set", [](StopFlag& self) { self.is_set = true; });
  m.def("write_index", write, "path"_a, "beside"_a, "compression"_a, "stop"_a,
        "Makes the index of a file; the path of the index. Ends when `stop` is set.");
  m.def("read_index", read, "path"_a, "The lengths of the records that an index file tells of.");
}

}  // namespace headrace::python
