// The sources of a spec tree: which chains of ops they are, which files they found, and what of them is read.
//
// A dataset has one source, or, behind concatenate(), sample_from_datasets() and choose_from_datasets(), one per dataset that
// is combined. All shards of a pipeline are one list; each source reads its own part of it.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "pipeline/assignment.h"
#include "pipeline/dataset_state.h"
#include "pipeline/op.h"
#include "record/record_map.h"
#include "record/source.h"
#include "runtime/warnings.h"
#include "shard/file_list.h"

namespace headrace {

/// A source and the ops that its records pass.
struct SourceChain {
  std::shared_ptr<const Op> last;           ///< of the dataset, or of the one that is combined with others
  std::shared_ptr<Dataset::Shared> shared;  ///< of that dataset
  std::vector<const Op*> way;               ///< from the source to the end of the whole tree
};

const SourceOp& source_of(const SourceChain& chain);

/// In the order of the tree: the inputs of a combination one after another.
std::vector<SourceChain> source_chains(const std::shared_ptr<const Op>& last,
                                       const std::shared_ptr<Dataset::Shared>& shared);

/// The files of each source. A failure names what is wrong with the files of all of them.
Result<std::vector<ShardList>> find_files(const std::vector<SourceChain>& chains);

struct OpenSource {
  SourceChain chain;
  SourceOptions options;
  Assignment assignment;                 ///< whose parts name shards of the whole list
  std::shared_ptr<const RecordMap> map;  ///< of a global shuffle; else null
  std::shared_ptr<WarningLog> later;     ///< what shows while its files are read
  std::stop_source stop;                 ///< ends their waits for a network, for good
};

struct OpenSources {
  std::shared_ptr<const ShardList> shards;
  std::vector<OpenSource> each;
};

/// Finds the files, and the indexes that steps need; what the indexes say of the records goes to the Shared of each chain.
Result<OpenSources> open_sources(const std::shared_ptr<const Op>& last, const std::shared_ptr<Dataset::Shared>& shared,
                                 WarningLog* warnings);

}  // namespace headrace
