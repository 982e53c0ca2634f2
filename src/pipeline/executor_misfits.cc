// on_mismatch="skip": a batch is parsed before it is cut, so that records which do not fit can be replaced in it.
#include <utility>

#include "pipeline/executor.h"
#include "pipeline/locate.h"
#include "runtime/clock.h"

namespace headrace {
namespace {

// So many records that do not fit, with none before them that does, are a wrong schema rather than bad records.
constexpr std::int64_t kLeadingMisfits = 100;

}  // namespace

Misfits Executor::find_misfits(const RecordBatch& records, const std::stop_token& stop) {
  RecordBatch copy = records;
  copy.number = next_number_;
  asked_about_ = prepare(std::move(copy), true);
  const std::int64_t begin_ns = now_ns();
  submit_tasks(asked_about_);
  bool is_parsed = false;
  {
    MutexLock lock(mutex_);
    is_parsed = asked_.wait(mutex_, stop, [this]() { return asked_about_->state == InFlightState::kParsed; });
  }
  waited_ns_ += now_ns() - begin_ns;
  if (!is_parsed) {
    asked_about_ = nullptr;
    return {{}, cancelled("closed while waiting for records")};
  }
  Misfits misfits = judge(*asked_about_);
  if (!misfits.rows.empty()) asked_about_ = nullptr;
  return misfits;
}

Misfits Executor::judge(const InFlight& batch) {
  Misfits misfits;
  const std::vector<Status> found = batch.job->misfits();
  auto next = found.begin();
  std::int64_t row = 0;
  for (const RecordRun& run : batch.records.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++row) {
      if (next == found.end() || next->where().row != row) {
        leading_misfits_ = -1;
        continue;
      }
      // Its row is that of a batch that will never be.
      Where where = where_of(record_id(run, i), *parts_.shards);
      where.key = next->where().key;
      where.expected = next->where().expected;
      where.found = next->where().found;
      const Status reason(next->code(), next->message(), where);
      misfits.rows.push_back(row);
      misfits.failure = parts_.skipped->add(whole_record(reason, run, i));
      if (leading_misfits_ >= 0 && ++leading_misfits_ == kLeadingMisfits) {
        misfits.failure = schema_mismatch(
            reason.message() + "; none of the first " + std::to_string(kLeadingMisfits) + " records fits the schema",
            where);
      }
      if (!misfits.failure.ok()) return misfits;
      ++next;
    }
  }
  return misfits;
}

void Executor::adopt(RecordBatch records) {
  const std::shared_ptr<InFlight> batch = std::exchange(asked_about_, nullptr);
  batch->records = std::move(records);
  if (batch->pin) batch->pin->add(batch->records.runs);
  {
    MutexLock lock(mutex_);
    batch->state = InFlightState::kParsing;
    in_flight_.push_back(batch);
  }
  complete(batch.get());
}

}  // namespace headrace
