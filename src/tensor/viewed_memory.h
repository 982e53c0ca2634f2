// ViewedMemory: what columns of views point into, held by whoever holds such a column.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "example/example_reader.h"
#include "example/sequence_reader.h"
#include "headrace/batch.h"

namespace headrace {

/// What the notes and the views of one task may point into instead of the records.
struct MergedLists {
  std::vector<MergedList> features;
  std::vector<MergedList> feature_lists;
};

/// What columns of views point into.
struct ViewedMemory {
  std::shared_ptr<const void> records;
  std::vector<MergedLists> merged;
};

/// The memory of such a column: whoever holds it holds what it points into, too.
inline BufferPtr pinned(BufferPtr buffer, std::shared_ptr<const ViewedMemory> viewed) {
  struct Both {
    BufferPtr buffer;
    std::shared_ptr<const ViewedMemory> viewed;
  };
  auto both = std::make_shared<Both>(Both{std::move(buffer), std::move(viewed)});
  return {both, both->buffer.get()};
}

}  // namespace headrace
