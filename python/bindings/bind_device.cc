#include <nanobind/stl/string.h>

#include <string>

#include "bindings.h"
#include "failure.h"
#include "headrace/device.h"

namespace nb = nanobind;

namespace headrace::python {

void bind_device(nb::module_& m) {
  m.def(
      "parse_device", [](const std::string& name) { return unwrap(parse_device(name)).name; }, nb::arg("name"),
      "The canonical name of a device: '/CPU:0' for 'cpu:0'. ValueError when it is none.");
}

}  // namespace headrace::python
