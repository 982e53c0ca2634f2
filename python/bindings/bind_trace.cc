#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "failure.h"
#include "headrace/trace.h"
#include "waiting.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

nb::tuple stop(const std::string& host) {
  Trace trace;
  {
    const WithoutGil release;
    trace = stop_trace(host);
  }
  const auto bytes = [](const std::string& text) { return nb::bytes(text.data(), text.size()); };
  return nb::make_tuple(bytes(trace.xspace), bytes(trace.perfetto), bytes(trace.chrome), trace.steps);
}

}  // namespace

void bind_trace(nb::module_& m) {
  m.def("trace_works_ahead", trace_works_ahead,
        "The calling thread takes batches to work on them ahead of a consumer.");
  m.def("add_to_trace", add_to_trace, nb::arg("name"), nb::arg("begin_ns"), nb::arg("end_ns"),
        "A span of the calling thread, 'wait' for a consumer's; times of time.monotonic_ns(). Nothing while nobody "
        "records.");
  m.def(
      "start_trace", [] { raise_if_error(start_trace()); },
      "Begins to record all pipelines of the process. ValueError while somebody records.");
  m.def(
      "stop_trace", [](const nb::bytes& host) { return stop(std::string(to_view(host))); }, nb::arg("host"),
      "Ends it: (XSpace, Perfetto's packets, Chrome's JSON, batches that consumers got); empty when nobody has begun.");
}

}  // namespace headrace::python
