#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "failure.h"
#include "headrace/running.h"
#include "waiting.h"

namespace nb = nanobind;

namespace headrace::python {

void bind_running(nb::module_& m) {
  nb::class_<RunningPipeline>(m, "RunningPipeline",
                              "An open pipeline of a process of this user; see headrace/running.h.")
      .def_ro("process", &RunningPipeline::process, "Its number (PID).")
      .def_prop_ro(
          "name", [](const RunningPipeline& self) { return text_to_python(self.name); },
          "Of its first file, as it was given.")
      .def_ro("open_seconds", &RunningPipeline::open_seconds, "Since it was opened.")
      .def_ro("threads", &RunningPipeline::threads)
      .def_ro("epoch", &RunningPipeline::epoch)
      .def_ro("batches", &RunningPipeline::batches, "Delivered.")
      .def_ro("record_bytes", &RunningPipeline::record_bytes, "Memory in record blocks, at the last batch.")
      .def_ro("batch_bytes", &RunningPipeline::batch_bytes, "Memory in ready batches, at the last batch.")
      .def_ro("stages", &RunningPipeline::stages, "The first 20.")
      .def_ro("waits", &RunningPipeline::waits, "Calls of next() by how long they lasted.")
      .def_ro("replicas", &RunningPipeline::replicas, "What the consumer of each saw; the first 32.")
      .def(
          "to_json", [](const RunningPipeline& self) { return text_to_python(to_json(self)); },
          "As JSON text; the words are those of Pipeline.stats().");
  nb::class_<ProcessTotals>(m, "ProcessTotals", "All pipelines of this process together; see headrace/running.h.")
      .def_ro("open_pipelines", &ProcessTotals::open_pipelines)
      .def_ro("batches", &ProcessTotals::batches, "Delivered.")
      .def_ro("wait_seconds", &ProcessTotals::wait_seconds, "Of calls of next() that gave a batch, all replicas.")
      .def_ro("stages", &ProcessTotals::stages, "Those of one name added up.")
      .def_ro("waits", &ProcessTotals::waits, "Empty before the first pipeline.")
      .def_ro("record_bytes", &ProcessTotals::record_bytes, "Of the open ones, at their last batch.")
      .def_ro("batch_bytes", &ProcessTotals::batch_bytes, "Of the open ones, at their last batch.");
  m.def("process_totals", process_totals, nb::call_guard<WithoutGil>(),
        "All pipelines of this process together, from its start on, those that were closed included.");
  m.def("running_pipelines", running_pipelines, nb::call_guard<WithoutGil>(),
        "The open pipelines of this user's processes on this machine, by process, then by age.");
}

}  // namespace headrace::python
