// For fuzz targets over records: parsers of many schemas, and what must hold of each record.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/same_column.h"
#include "tensor/parse_testing.h"

namespace headrace::fuzz {

inline std::vector<std::unique_ptr<BatchParser>> make_parsers(const std::vector<Schema>& schemas) {
  std::vector<std::unique_ptr<BatchParser>> parsers;
  for (const Schema& schema : schemas) {
    require(schema.validate().ok());
    parsers.push_back(make_example_parser(schema, std::make_shared<BufferPool>()));
  }
  return parsers;
}

/// Alone and as three rows on two replicas the record must give the same values or the same failure. Records lie in memory
/// of their own with exactly the padding behind them, columns in buffers of their own, so that a sanitizer sees every step
/// aside.
inline void parse_alone_and_together(BatchParser& parser, const std::string& record) {
  const Result<std::vector<Slice>> one = testing::run_parser(parser, {record}, {1});
  const Result<std::vector<Slice>> three = testing::run_parser(parser, {record, record, record}, {1, 2});
  // Three rows may be padded beyond the limit where one is not.
  if (!three.ok() && three.status().code() == StatusCode::kResourceExhausted) return;
  require(one.ok() == three.ok());
  if (!one.ok()) {
    require(one.status().message() == three.status().message());
    return;
  }
  const std::vector<Column>& alone = (*one)[0].columns;
  const std::vector<Column>& first = (*three)[0].columns;
  require(alone.size() == first.size());
  for (std::size_t i = 0; i < alone.size(); ++i) require_same(alone[i], first[i]);
}

}  // namespace headrace::fuzz
