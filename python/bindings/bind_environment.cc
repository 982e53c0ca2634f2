#include <string>
#include <vector>

#include "bindings.h"
#include "failure.h"
#include "headrace/report.h"

namespace nb = nanobind;

namespace headrace::python {

void bind_environment(nb::module_& m) {
  m.def(
      "environment",
      [] {
        nb::list settings;
        for (const Setting& setting : unwrap(environment())) {
          settings.append(
              nb::make_tuple(text_to_python(setting.name), text_to_python(setting.value), setting.is_default));
        }
        return settings;
      },
      "The settings from environment variables as (name, value, is_default).");
  m.def("available_cpus", available_cpus, "CPUs that this process may use, now (int >= 1).");
}

}  // namespace headrace::python
