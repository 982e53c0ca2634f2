// Report: what the probes of a pipeline say, and the settings it finds in the environment. Snapshots; taking one does not
// disturb the run. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/skipped.h"
#include "headrace/status.h"

namespace headrace {

class Pipeline;

struct StageReport {
  std::string name;            ///< "read", "order", "parse", "map NAME" for each map(), "deliver"
  double busy_seconds = 0;     ///< summed over threads
  double starved_seconds = 0;  ///< waiting for input
  double blocked_seconds = 0;  ///< waiting for room downstream
  std::int64_t records = 0;
  std::int64_t bytes = 0;  ///< payload bytes that left the stage
};

/// What the transforms of one feature cost; part of what "parse" was busy.
struct TransformReport {
  std::string feature;      ///< the name of its column
  double busy_seconds = 0;  ///< summed over threads; from a clock around every 16th run
};

/// What inflating the shards of one format cost, and what is predicted for other forms of the same data.
struct InflateReport {
  std::string compression;      ///< "gzip", …
  double busy_seconds = 0;      ///< summed over threads; part of what "read" was busy
  std::int64_t file_bytes = 0;  ///< that were inflated
  std::int64_t bytes = 0;       ///< that they became
  double share = 0;             ///< of the busy time of all stages
  double gain_zstd = 0;         ///< part of that time that would go away with zstd
  double gain_none = 0;         ///< the same without compression, everything else being as it is
};

/// Calls of next() and next_slice() that gave a batch, by how long they lasted: longer than the limit before, and at most
/// `seconds`, which of the last is infinite.
struct WaitReport {
  double seconds = 0;
  std::int64_t count = 0;
};

/// What the consumer of one replica saw.
struct ReplicaReport {
  std::int64_t batches = 0;
  double wait_seconds = 0;
  double waiting_seconds = 0;  ///< of the call that lasts now; 0: there is none
};

struct Report {
  std::vector<StageReport> stages;          ///< in flow order
  std::vector<TransformReport> transforms;  ///< in the order of the features that have some
  std::vector<InflateReport> inflate;       ///< of each format that was met
  std::vector<std::string> warnings;        ///< one per cause
  std::vector<std::int64_t> seeds;          ///< of the shuffles, in op order
  std::int64_t epoch = 0;
  std::int64_t batches = 0;                    ///< delivered
  std::int64_t skipped = 0;                    ///< distinct regions that were left out
  std::int64_t skipped_misfits = 0;            ///< of these, records that do not fit the schema; the others are damaged
  std::vector<SkippedRegion> skipped_regions;  ///< the first 1000 of them
  double consumer_wait_seconds = 0;            ///< time next() spent waiting
  std::vector<WaitReport> waits;               ///< 16 ranges, from 50 us on, each twice the one before
  std::vector<ReplicaReport> replicas;         ///< the first 32
  int threads = 0;
  std::string io;                 ///< who reads the files: "engine", or the name of the FileProvider
  std::string route;              ///< how a framework takes the batches and why, as its adapter says; "" without one
  std::int64_t record_bytes = 0;  ///< memory in record blocks
  std::int64_t batch_bytes = 0;   ///< memory in batches that the pipeline still owns
  std::int64_t held_by_consumer_bytes = 0;
};

/// The report of a running or ended pipeline. kCancelled in a child of the process that opened it.
Result<Report> report(const Pipeline& pipeline);

/// The report as JSON text.
std::string to_json(const Report& report);

struct Setting {
  std::string name;   ///< of the environment variable, such as "HEADRACE_THREADS"
  std::string value;  ///< in effect where no option of the pipeline says otherwise
  bool is_default = true;
};

/// Every environment variable that the library reads; kInvalidArgument naming variable and value when one cannot be used.
Result<std::vector<Setting>> environment();

/// CPUs that this process may use, now: affinity and cgroup quota, rounded up and divided among the processes of a job on this host.
int available_cpus();

}  // namespace headrace
