#include "pipeline/identity.h"

#include "pipeline/hash128.h"

namespace headrace {

std::string shards_identity(const ShardList& shards) {
  Hash128 hash;
  for (const ShardFile& file : shards.files) {
    hash.add(file.path.substr(file.path.rfind('/') + 1));
    hash.add(file.bytes);
  }
  return hash.hex();
}

}  // namespace headrace
