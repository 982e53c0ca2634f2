#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>

#include "bindings.h"
#include "failure.h"
#include "headrace/index.h"
#include "read_options.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

nb::object write(const nb::bytes& path, bool beside, const std::string& compression) {
  const VerifyOptions options = {.compression = to_compression(compression)};
  const std::string file(to_view(path));
  Result<std::string> written = cancelled("not written");
  {
    const WithoutGil release;
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
  m.def("write_index", write, "path"_a, "beside"_a, "compression"_a,
        "Makes the index of a file; the path of the index.");
  m.def("read_index", read, "path"_a, "The lengths of the records that an index file tells of.");
}

}  // namespace headrace::python
