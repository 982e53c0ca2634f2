#include "pipeline/slice_maps.h"

#include "runtime/clock.h"
#include "runtime/trace_log.h"

namespace headrace {
namespace {

Status refuse(const MapOptions& options, const std::string& reason) {
  return invalid_argument("map(" + options.name + "): " + reason);
}

// The first values of the columns that the function asks for.
Result<std::vector<void*>> columns_of(const MapOptions& options, const Slice& slice) {
  std::vector<void*> columns;
  for (const std::string& name : options.columns) {
    const Column* column = slice.find(name);
    if (column == nullptr) return refuse(options, "there is no column '" + name + "'");
    if (column->kind != ColumnKind::kDense || column->values.dtype == DType::kBytes) {
      return refuse(options, "column '" + name + "' is not a dense column of numbers");
    }
    columns.push_back(column->values.data);
  }
  return columns;
}

}  // namespace

SliceMaps::SliceMaps(const std::shared_ptr<const Op>& last, StatusPage* page) {
  bool is_behind = false;
  for (const Op* op : ops_in_order(last)) {
    is_behind |= std::holds_alternative<CacheOp>(op->arguments);
    const auto* map = std::get_if<MapOp>(&op->arguments);
    if (map != nullptr) {
      const char* const stage = interned("map " + map->options.name);
      maps_.push_back({map->options, stage, page->add_stage(stage)});
    }
    if (!is_behind) behind_ = maps_.size();
  }
}

Status SliceMaps::apply(std::size_t first, std::size_t end, std::vector<Slice>* slices) {
  for (std::size_t i = first; i < end; ++i) {
    const Map& map = maps_[i];
    const std::int64_t begin_ns = now_ns();
    for (const Slice& slice : *slices) {
      HEADRACE_ASSIGN_OR_RETURN(const std::vector<void*> columns, columns_of(map.options, slice));
      const int answer = map.options.function(slice.rows, columns.data());
      if (answer != 0) return refuse(map.options, "the function returned " + std::to_string(answer));
      map.probe->add(slice.rows, 0);
    }
    const std::int64_t end_ns = now_ns();
    map.probe->busy_ns.fetch_add(end_ns - begin_ns, std::memory_order_relaxed);
    trace_span({map.stage, -1, system_thread(), begin_ns, end_ns});
  }
  return {};
}

}  // namespace headrace
