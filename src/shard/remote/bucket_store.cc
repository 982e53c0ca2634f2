#include "shard/remote/bucket_store.h"

namespace headrace {

Result<std::shared_ptr<ObjectStore>> make_bucket_store(RemoteSession* session, const std::string& scheme,
                                                       const std::string& bucket) {
  return scheme == "s3" ? make_s3_store(session, bucket) : make_gs_store(session, bucket);
}

}  // namespace headrace
