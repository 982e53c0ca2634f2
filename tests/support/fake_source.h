// FakeSource: a record stage over records that are made up, for tests of the stages behind it.
//
// Record i of an epoch is ordinal i / shards of shard i % shards; it is an Example whose int64 "n" is i, its length varies. The
// source can fail or block in place of one record, and hands out fewer records than asked for when told to. One thread calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "record/record_stage.h"

namespace headrace::testing {

/// Record i has a "list" of i % kFakeLists values, where there are lists.
constexpr std::int64_t kFakeLists = 7;

struct FakeSourceOptions {
  std::int64_t records = 0;        ///< per epoch
  std::int64_t fail_at = -1;       ///< kDataLoss in place of this record; -1: never
  std::int64_t fail_epoch = -1;    ///< only in this epoch; -1: in every one
  std::int64_t block_at = -1;      ///< waits in place of this record until it is stopped; -1: never
  std::uint32_t shards = 1;        ///< >= 1
  std::int64_t block_records = 7;  ///< records of one block
  bool lists = false;
  std::uint64_t chunk_seed = 0;  ///< not 0: every pull() hands out a random part of what it could
};

/// Number of the record in its epoch.
std::int64_t fake_number(const RecordId& id, std::uint32_t shards);
/// What record `number` holds.
std::string fake_payload(std::int64_t number, bool lists = false);

/// `blocks` must outlive the stage and its runs.
std::unique_ptr<RecordStage> make_fake_source(BlockPool* blocks, const FakeSourceOptions& options);
/// Makes the records of such a source again; fails for ids that it does not have.
std::unique_ptr<RecordFetcher> make_fake_fetcher(BlockPool* blocks, const FakeSourceOptions& options);

}  // namespace headrace::testing
