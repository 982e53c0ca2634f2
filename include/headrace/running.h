// What runs on this machine: the pipelines of this user's processes, as their status pages show them. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/report.h"

namespace headrace {

/// One open pipeline.
struct RunningPipeline {
  std::int32_t process = 0;
  std::string name;         ///< of its first file, as it was given; text of another process, any bytes
  double open_seconds = 0;  ///< since it was opened
  int threads = 0;
  std::int64_t epoch = 0;
  std::int64_t batches = 0;
  std::int64_t record_bytes = 0;  ///< these two as they were at the last batch
  std::int64_t batch_bytes = 0;
  std::vector<StageReport> stages;  ///< the first 20
  std::vector<WaitReport> waits;
  std::vector<ReplicaReport> replicas;
};

/// By process, then by the time of opening. Pages that cannot be read, are of another version, or of processes that are gone
/// are left out.
std::vector<RunningPipeline> running_pipelines();
/// An object; its words are those of to_json(Report).
std::string to_json(const RunningPipeline& running);

/// All pipelines of this process together, from its start on, those that were closed included. In a child of fork(): its own.
struct ProcessTotals {
  std::int64_t open_pipelines = 0;
  std::int64_t batches = 0;         ///< delivered, by those that started at a position also the ones before it
  double wait_seconds = 0;          ///< of calls of next() that gave a batch, all replicas
  std::vector<StageReport> stages;  ///< those of one name added up
  std::vector<WaitReport> waits;    ///< empty before the first pipeline
  std::int64_t record_bytes = 0;    ///< these two of the open ones, at their last batch
  std::int64_t batch_bytes = 0;
};
ProcessTotals process_totals();

}  // namespace headrace
