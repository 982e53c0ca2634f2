// FeatureJoiner: reads a Feature message in any legal form: pieces of it are one message, of several kinds the last counts,
// lists of one kind are joined (fields that follow each other are one message, so joining the bytes merges the lists).
// Each of several lists must be legal by itself, as protobuf reads them; a single one is left to its decoder.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "example/feature_view.h"

namespace headrace {

class FeatureJoiner {
 public:
  using Bytes = std::span<const std::uint8_t>;

  /// Begins a new Feature.
  void clear();
  /// Reads a piece of it, padded as a record; nullptr, or what is malformed.
  const char* add(Bytes feature);
  /// Whether the list must be joined: it does not lie in the record in one piece.
  bool in_pieces() const { return pieces_.size() > 1; }
  /// Bytes of memory that join() needs when it does.
  std::size_t memory_bytes() const { return size_ + kRecordPadding; }
  FeatureView join(std::uint8_t* memory) const;

 private:
  const char* add_list(ListKind kind, Bytes list);

  FeatureView first_;         // list of the Feature
  bool has_several_ = false;  // lists, of whatever kind
  // Those of the last kind.
  std::vector<Bytes> pieces_;
  std::size_t size_ = 0;
  ListKind kind_ = ListKind::kAbsent;
};

}  // namespace headrace
