// Objects of S3, and of what speaks like it.
#include <ctime>
#include <utility>

#include "base/environment.h"
#include "runtime/mutex.h"
#include "shard/remote/aws_credentials.h"
#include "shard/remote/aws_profile.h"
#include "shard/remote/bucket_list.h"
#include "shard/remote/bucket_store.h"
#include "shard/remote/range_request.h"
#include "shard/remote/remote_session.h"
#include "shard/remote/url.h"

namespace headrace {
namespace {

constexpr const char* kFirstRegion = "us-east-1";
constexpr int kMostRegions = 3;

class S3Store : public ObjectStore {
 public:
  S3Store(RemoteSession* session, std::string bucket, std::string endpoint, std::string region,
          Renewed<MaybeAwsKeys>::Ask ask_keys)
      : session_(session),
        bucket_(std::move(bucket)),
        endpoint_(std::move(endpoint)),
        keys_(std::move(ask_keys)),
        region_(region.empty() ? kFirstRegion : std::move(region)) {}

  Result<HttpRequest> get(const std::string& key, ByteRange range, const std::string& version) override {
    HttpRequest request{.url = base_url() + "/" + percent_encode(key, true)};
    ask_range(range, version, &request);
    return signed_request(std::move(request));
  }
  std::string version_of(const HttpResponse& response) const override { return entity_version(response); }
  Result<HttpRequest> list(const ListQuery& query) override {
    return signed_request({.url = base_url() + "/?" + bucket_list_query(query)});
  }
  Result<ObjectPage> parse_page(std::span<const std::uint8_t> body) const override { return parse_bucket_page(body); }
  bool learn(const HttpResponse& response, const std::string& body) override;
  std::string explain(const std::string& body) const override {
    const BucketError error = parse_bucket_error(body);
    return error.code + (error.message.empty() ? "" : ": " + error.message);
  }
  std::string credentials_hint() const override {
    return "the credentials are not enough for it (docs/guides/remote.md)";
  }

 private:
  std::string region() const HEADRACE_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return region_;
  }
  /// Of the bucket, without a slash at its end.
  std::string base_url() const;
  Result<HttpRequest> signed_request(HttpRequest request);

  RemoteSession* const session_;
  const std::string bucket_;
  const std::string endpoint_;  // empty: AWS'
  Renewed<MaybeAwsKeys> keys_;

  mutable Mutex mutex_;
  std::string region_ HEADRACE_GUARDED_BY(mutex_);
  int regions_ HEADRACE_GUARDED_BY(mutex_) = 1;
};

std::string S3Store::base_url() const {
  if (!endpoint_.empty()) return endpoint_ + "/" + bucket_;
  const std::string place = region();
  const std::string host = "s3." + place + ".amazonaws.com" + (place.starts_with("cn-") ? ".cn" : "");
  // A certificate for *.s3… does not hold for a bucket's name with dots.
  if (bucket_.find('.') != std::string::npos) return "https://" + host + "/" + bucket_;
  return "https://" + bucket_ + "." + host;
}

Result<HttpRequest> S3Store::signed_request(HttpRequest request) {
  HEADRACE_ASSIGN_OR_RETURN(const MaybeAwsKeys keys, keys_.get(session_->stop_token()));
  if (keys) sign_v4(*keys, {region(), "s3", std::time(nullptr)}, &request);
  return request;
}

bool S3Store::learn(const HttpResponse& response, const std::string& body) {
  const std::string_view right = response.header("x-amz-bucket-region");
  if (!right.empty() && !response.ok()) {
    MutexLock lock(mutex_);
    if (right != region_ && regions_ < kMostRegions) {
      region_ = right;
      ++regions_;
      return true;
    }
  }
  const std::string code = parse_bucket_error(body).code;
  return (code == "ExpiredToken" || code == "InvalidToken") && keys_.refused();
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> make_s3_store(RemoteSession* session, const std::string& bucket) {
  HEADRACE_ASSIGN_OR_RETURN(std::string region, aws_region());
  std::string endpoint = environment_text("AWS_ENDPOINT_URL_S3");
  if (endpoint.empty()) endpoint = environment_text("AWS_ENDPOINT_URL");
  if (endpoint.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(AwsProfile profile, read_aws_profile(aws_profile_name()));
    endpoint = profile["endpoint_url"];
  }
  while (endpoint.ends_with('/')) endpoint.pop_back();
  if (!endpoint.empty() && !endpoint.starts_with("http")) {
    return invalid_argument("the endpoint of S3 must be an http or https URL");
  }
  return std::shared_ptr<ObjectStore>(std::make_shared<S3Store>(session, bucket, std::move(endpoint), std::move(region),
                                                                [session] { return find_aws_credentials(session); }));
}

Result<std::shared_ptr<ObjectStore>> make_hmac_store(RemoteSession* session, const std::string& bucket,
                                                     const std::string& endpoint, AwsKeys key) {
  const auto ask = [key = std::move(key)]() -> Result<Expiring<MaybeAwsKeys>> {
    return Expiring<MaybeAwsKeys>{.value = key};
  };
  return std::shared_ptr<ObjectStore>(std::make_shared<S3Store>(session, bucket, endpoint, "auto", ask));
}

}  // namespace headrace
