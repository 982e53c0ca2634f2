#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "batch_handle.h"
#include "bindings.h"
#include "failure.h"
#include "headrace/pipeline.h"
#include "headrace/position.h"
#include "headrace/report.h"
#include "headrace/trace.h"
#include "pipeline_handle.h"
#include "waiting.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

// Between two slices of a wait the main thread looks for signals: Ctrl-C is answered within one.
constexpr std::chrono::milliseconds kWaitSlice{50};
constexpr int kSlicesOfWarning = 20;

}  // namespace

PipelineHandle::~PipelineHandle() {
  if (pipeline.use_count() > 1) return;
  const WithoutGil waiting;
  pipeline->close();
}

namespace {

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Locks `turn` while another Python thread may be inside; in a forked child that thread does not exist any more.
std::unique_lock<std::timed_mutex> take_turn(const PipelineHandle& self, std::timed_mutex& turn) {
  std::unique_lock lock(turn, std::try_to_lock);
  while (!lock.owns_lock()) {
    if (getpid() != self.owner) raise(cancelled("the pipeline was opened before fork(); open one in this process"));
    {
      const WithoutGil waiting;
      static_cast<void>(lock.try_lock_for(kWaitSlice));
    }
    if (!lock.owns_lock()) check_signals();
  }
  return lock;
}

// `wait(timeout, &result)` until it is ready: first with the GIL kept, for data that is there already.
template <class T, class WaitFor>
T wait_with_signals(const PipelineHandle& self, WaitFor wait) {
  int slices = 0;
  Result<std::optional<T>> result = std::optional<T>();
  Wait found = wait(std::chrono::milliseconds(0), &result);
  while (found == Wait::kTimeout) {
    {
      const WithoutGil waiting;
      found = wait(kWaitSlice, &result);
    }
    if (found != Wait::kTimeout) continue;
    check_signals();
    if (++slices % kSlicesOfWarning == 0 && !self.on_wait.is_none()) self.on_wait();
  }
  if (!result.ok()) raise(result.status());
  if (!*result) throw nb::stop_iteration();
  return std::move(**result);
}

std::shared_ptr<const ColumnNames> names_of(PipelineHandle& self, const Slice& slice) {
  if (self.names == nullptr) self.names = std::make_shared<const ColumnNames>(slice.columns);
  return self.names;
}

BatchHandle next(PipelineHandle& self) {
  const auto lock = take_turn(self, self.next_turn);
  Batch batch = wait_with_signals<Batch>(
      self, [&self](auto timeout, auto* result) { return self.pipeline->next_for(timeout, result); });
  auto names = names_of(self, batch.replicas[0]);
  return {std::move(batch), std::move(names), self.schema};
}

SliceHandle next_slice(PipelineHandle& self, int replica) {
  if (replica < 0 || replica >= self.pipeline->replicas()) {
    raise(invalid_argument("replica=" + std::to_string(replica) + ": the pipeline has " +
                           std::to_string(self.pipeline->replicas()) + " replicas"));
  }
  const auto lock = take_turn(self, self.slice_turns[static_cast<std::size_t>(replica)]);
  Slice slice = wait_with_signals<Slice>(self, [&self, replica](auto timeout, auto* result) {
    return self.pipeline->next_slice_for(replica, timeout, result);
  });
  const auto names = names_of(self, slice);
  return {std::make_shared<const Slice>(std::move(slice)), names};
}

Position position(const PipelineHandle& self, int back) {
  Result<Position> found = cancelled("no position");
  {
    const WithoutGil release;
    found = self.pipeline->position(back);
  }
  return unwrap(std::move(found));
}

void bind_position(nb::module_& m) {
  nb::class_<Position>(m, "Position", "Where a stream stands; see headrace/position.h.")
      .def(
          "__init__",
          [](Position* self, int format, int stream_version, std::string files, std::string spec, std::int64_t epoch,
             std::int64_t batches, std::string data) {
            new (self)
                Position{format, stream_version, std::move(files), std::move(spec), epoch, batches, std::move(data)};
          },
          "format"_a, "stream_version"_a, "files"_a, "spec"_a, "epoch"_a, "batches"_a, "data"_a)
      .def_ro("format", &Position::format)
      .def_ro("stream_version", &Position::stream_version)
      .def_ro("files", &Position::files)
      .def_ro("spec", &Position::spec)
      .def_ro("epoch", &Position::epoch)
      .def_ro("batches", &Position::batches)
      .def_ro("data", &Position::data);
}

void bind_report(nb::module_& m) {
  nb::class_<StageReport>(m, "StageReport", "What one stage did.")
      .def_ro("name", &StageReport::name)
      .def_ro("busy_seconds", &StageReport::busy_seconds, "Summed over threads.")
      .def_ro("starved_seconds", &StageReport::starved_seconds, "Waiting for input.")
      .def_ro("blocked_seconds", &StageReport::blocked_seconds, "Waiting for room downstream.")
      .def_ro("records", &StageReport::records)
      .def_ro("bytes", &StageReport::bytes, "Payload bytes that left the stage.");

  nb::class_<TransformReport>(m, "TransformReport", "What the transforms of one feature cost.")
      .def_prop_ro("feature", [](const TransformReport& self) { return text_to_python(self.feature); })
      .def_ro("busy_seconds", &TransformReport::busy_seconds,
              "Summed over threads; part of what the parse stage was busy.");

  nb::class_<InflateReport>(
      m, "InflateReport", "What inflating the shards of one format cost, and what other forms of the data would gain.")
      .def_ro("compression", &InflateReport::compression)
      .def_ro("busy_seconds", &InflateReport::busy_seconds,
              "Summed over threads; part of what the read stage was busy.")
      .def_ro("file_bytes", &InflateReport::file_bytes, "Bytes that were inflated.")
      .def_ro("bytes", &InflateReport::bytes, "Bytes that they became.")
      .def_ro("share", &InflateReport::share, "Of the busy time of all stages.")
      .def_ro("gain_zstd", &InflateReport::gain_zstd, "Part of that time that would go away with zstd; predicted.")
      .def_ro("gain_none", &InflateReport::gain_none, "The same without compression.");

  nb::class_<WaitReport>(m, "WaitReport", "Calls of next() that gave a batch, and lasted about as long.")
      .def_ro("seconds", &WaitReport::seconds, "At most; and longer than that of the range before.")
      .def_ro("count", &WaitReport::count);

  nb::class_<ReplicaReport>(m, "ReplicaReport", "What the consumer of one replica saw.")
      .def_ro("batches", &ReplicaReport::batches)
      .def_ro("wait_seconds", &ReplicaReport::wait_seconds)
      .def_ro("waiting_seconds", &ReplicaReport::waiting_seconds, "Of the call that lasts now; 0: there is none.");

  nb::class_<Report>(m, "Report", "What the probes of a pipeline say.")
      .def_ro("stages", &Report::stages, "In flow order.")
      .def_ro("transforms", &Report::transforms, "In the order of the features that have some.")
      .def_ro("inflate", &Report::inflate, "Of each compressed format that was met.")
      .def_prop_ro(
          "warnings",
          [](const Report& self) {
            nb::list texts;
            for (const std::string& text : self.warnings) texts.append(text_to_python(text));
            return texts;
          },
          "One per cause.")
      .def_ro("seeds", &Report::seeds, "Of the shuffles, in the order of the steps.")
      .def_ro("epoch", &Report::epoch)
      .def_ro("batches", &Report::batches, "Delivered.")
      .def_ro("skipped", &Report::skipped, "Distinct regions that were left out.")
      .def_ro("skipped_misfits", &Report::skipped_misfits,
              "Of these, records that do not fit the schema; the others are damaged.")
      .def_ro("skipped_regions", &Report::skipped_regions, "The first 1000 of them.")
      .def_ro("consumer_wait_seconds", &Report::consumer_wait_seconds, "Time next() spent waiting.")
      .def_ro("waits", &Report::waits, "Calls of next() by how long they lasted: 16 ranges, from 50 us on.")
      .def_ro("replicas", &Report::replicas, "What the consumer of each replica saw; the first 32.")
      .def_ro("threads", &Report::threads)
      .def_ro("record_bytes", &Report::record_bytes, "Memory in record blocks.")
      .def_ro("batch_bytes", &Report::batch_bytes, "Memory in batches that the pipeline still owns.")
      .def_ro("io", &Report::io, "Who reads the files: 'engine', or 'Python IO' with open= and fsspec.")
      .def_ro("route", &Report::route, "How a framework takes the batches and why; '' without an adapter.")
      .def_ro("held_by_consumer_bytes", &Report::held_by_consumer_bytes)
      .def(
          "to_json", [](const Report& self) { return text_to_python(to_json(self)); }, "The report as JSON text.");
}

}  // namespace

void bind_pipeline(nb::module_& m) {
  bind_position(m);
  bind_report(m);
  m.def("begin_exit", WithoutGil::begin_exit,
        "The interpreter ends: from now on only the calling thread comes back from a wait.");
  nb::class_<PipelineHandle>(m, "Pipeline", nb::is_weak_referenceable(),
                             "A running dataset; see headrace/pipeline.h. Waits release the GIL and answer Ctrl-C.")
      .def("next", next, "The next Batch; StopIteration at the end; the failure that ended the stream.")
      .def("__next__", next)
      .def("__iter__", [](nb::handle_t<PipelineHandle> self) { return nb::borrow(self); })
      .def("next_slice", next_slice, "replica"_a,
           "Slice of one replica; its k-th call gives the slice of batch k. Do not mix with next().")
      .def_rw("on_wait", &PipelineHandle::on_wait, "None, or what is called about once a second during a wait.")
      .def_prop_ro("replicas", [](const PipelineHandle& self) { return self.pipeline->replicas(); })
      .def("cardinality", [](const PipelineHandle& self) { return self.pipeline->cardinality(); })
      .def(
          "count_map",
          [](PipelineHandle& self, const std::string& name, std::int64_t busy_ns, std::int64_t rows) {
            self.pipeline->count_map(name, busy_ns, rows);
          },
          "name"_a, "busy_ns"_a, "rows"_a, "Adds to the stage `map NAME` of the report.")
      .def_prop_ro("has_position", [](const PipelineHandle& self) { return self.pipeline->has_position(); })
      .def("position", position, "back"_a = 0, "Behind the last batch delivered, or the `back`-th before it.")
      .def(
          "close", [](PipelineHandle& self) { self.pipeline->close(); }, nb::call_guard<WithoutGil>(),
          "Stops all work and joins; idempotent; from any thread.")
      .def_rw("route", &PipelineHandle::route, "What report().route says; for the adapters of frameworks.")
      .def("report",
           [](const PipelineHandle& self) {
             Report found = unwrap(report(*self.pipeline));
             found.route = self.route;
             return found;
           })
      .def(
          "write_trace",
          [](const PipelineHandle& self, const nb::bytes& path) {
            raise_if_error(write_trace(*self.pipeline, std::string(to_view(path))));
          },
          "path"_a);
}

}  // namespace headrace::python
