// The stores of buckets: s3://BUCKET and gs://BUCKET.
#pragma once

#include <memory>
#include <string>

#include "shard/remote/object_store.h"
#include "shard/remote/sigv4.h"

namespace headrace {

class RemoteSession;

/// `scheme` is "s3" or "gs". `session` outlives the store; credentials are asked for over it. Failures: kInvalidArgument for
/// settings that cannot be, kPermissionDenied when there are no credentials and nobody asked to go without.
Result<std::shared_ptr<ObjectStore>> make_bucket_store(RemoteSession* session, const std::string& scheme,
                                                       const std::string& bucket);
Result<std::shared_ptr<ObjectStore>> make_s3_store(RemoteSession* session, const std::string& bucket);
/// Of a store that speaks like S3 at `endpoint`, with a key that never expires.
Result<std::shared_ptr<ObjectStore>> make_hmac_store(RemoteSession* session, const std::string& bucket,
                                                     const std::string& endpoint, AwsKeys key);
Result<std::shared_ptr<ObjectStore>> make_gs_store(RemoteSession* session, const std::string& bucket);

}  // namespace headrace
