// headrace._core: the library as a Python module. Names are those of C++; the façade beside it gives them defaults and
// documentation.
#include <nanobind/nanobind.h>

#include "bindings.h"
#include "failure.h"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  m.doc() = "The C++ engine of headrace. Use the package headrace; this module is its inside.";
  m.attr("__version__") = HEADRACE_VERSION;
  // A daemon thread or a global cache of the user's that still holds a batch at exit is no error of anybody's.
  nb::set_leak_warnings(false);
  m.def("set_leak_warnings", nb::set_leak_warnings, nb::arg("on"),
        "Whether objects that outlive the interpreter are reported on stderr; for tests. Off.");
  headrace::python::translate_exceptions();
  headrace::python::bind_environment(m);
  headrace::python::bind_column(m);
  headrace::python::bind_sparse(m);
  headrace::python::bind_batch(m);
  headrace::python::bind_transform(m);
  headrace::python::bind_image(m);
  headrace::python::bind_example(m);
  headrace::python::bind_parse(m);
  headrace::python::bind_record(m);
  headrace::python::bind_verify(m);
  headrace::python::bind_index(m);
  headrace::python::bind_device(m);
  headrace::python::bind_pipeline(m);
  headrace::python::bind_running(m);
  headrace::python::bind_filter(m);
  headrace::python::bind_dataset(m);
  headrace::python::bind_trace(m);
  headrace::python::bind_tensorflow(m);
}
