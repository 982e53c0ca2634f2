// Objects of Google Cloud Storage: by its JSON interface with a token, by its XML interface, which is S3's, with an HMAC key.
#include <charconv>
#include <utility>

#include "base/environment.h"
#include "shard/remote/bucket_store.h"
#include "shard/remote/google_credentials.h"
#include "shard/remote/json_fields.h"
#include "shard/remote/range_request.h"
#include "shard/remote/remote_session.h"
#include "shard/remote/url.h"

namespace headrace {
namespace {

constexpr const char* kEndpoint = "https://storage.googleapis.com";

class GsStore : public ObjectStore {
 public:
  GsStore(RemoteSession* session, const std::string& bucket, const std::string& endpoint, bool is_emulator)
      : session_(session),
        objects_(endpoint + "/storage/v1/b/" + percent_encode(bucket, false) + "/o"),
        token_([session, is_emulator]() -> Result<Expiring<MaybeToken>> {
          if (is_emulator) return Expiring<MaybeToken>{};
          return find_google_token(session);
        }) {}

  Result<HttpRequest> get(const std::string& key, ByteRange range, const std::string& version) override {
    HttpRequest request{.url = objects_ + "/" + percent_encode(key, false) + "?alt=media"};
    if (!version.empty()) request.url += "&ifGenerationMatch=" + version;
    // What is stored as gzip comes as it is stored, in ranges, and is not inflated on the way.
    request.headers.push_back({"accept-encoding", "gzip"});
    ask_range(range, {}, &request);
    return with_token(std::move(request));
  }
  std::string version_of(const HttpResponse& response) const override {
    return std::string(response.header("x-goog-generation"));
  }
  Result<HttpRequest> list(const ListQuery& query) override;
  Result<ObjectPage> parse_page(std::span<const std::uint8_t> body) const override;
  bool learn(const HttpResponse& response, const std::string&) override {
    return response.status == 401 && token_.refused();
  }
  std::string explain(const std::string& body) const override {
    const nlohmann::json object = parse_object(body);
    const auto error = object.find("error");
    return error != object.end() && error->is_object() ? text_field(*error, "message") : std::string();
  }
  std::string credentials_hint() const override {
    return "the credentials are not enough for it (docs/guides/remote.md)";
  }

 private:
  Result<HttpRequest> with_token(HttpRequest request) {
    HEADRACE_ASSIGN_OR_RETURN(const MaybeToken token, token_.get(session_->stop_token()));
    if (token) request.headers.push_back({"authorization", "Bearer " + *token});
    return request;
  }

  RemoteSession* const session_;
  const std::string objects_;
  Renewed<MaybeToken> token_;
};

Result<HttpRequest> GsStore::list(const ListQuery& query) {
  std::string url = objects_ + "?fields=items(name,size,generation),nextPageToken&maxResults=1000";
  if (query.is_flat) url += "&delimiter=%2F";
  if (!query.prefix.empty()) url += "&prefix=" + percent_encode(query.prefix, false);
  if (!query.page.empty()) url += "&pageToken=" + percent_encode(query.page, false);
  return with_token({.url = std::move(url)});
}

Result<ObjectPage> GsStore::parse_page(std::span<const std::uint8_t> body) const {
  const nlohmann::json list = parse_object({reinterpret_cast<const char*>(body.data()), body.size()});
  ObjectPage page{.next = text_field(list, "nextPageToken")};
  const auto items = list.find("items");
  if (items == list.end()) return page;
  for (const nlohmann::json& item : *items) {
    const std::string size = item.is_object() ? text_field(item, "size") : std::string();
    std::uint64_t bytes = 0;
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
    if (error != std::errc() || end != size.data() + size.size()) {
      return Status(StatusCode::kIo, "the server's list is none: it has objects without a size");
    }
    page.entries.push_back({text_field(item, "name"), bytes, text_field(item, "generation")});
  }
  return page;
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> make_gs_store(RemoteSession* session, const std::string& bucket) {
  std::string endpoint = environment_text("STORAGE_EMULATOR_HOST");
  const bool is_emulator = !endpoint.empty();
  if (!is_emulator) endpoint = environment_text("CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE");
  if (endpoint.empty()) endpoint = kEndpoint;
  if (endpoint.find("://") == std::string::npos) endpoint.insert(0, "http://");
  while (endpoint.ends_with('/')) endpoint.pop_back();
  AwsKeys key{environment_text("GS_ACCESS_KEY_ID"), environment_text("GS_SECRET_ACCESS_KEY"), {}};
  if (key.id.empty() != key.secret.empty()) {
    return invalid_argument("GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY must be set both");
  }
  if (!key.id.empty()) return make_hmac_store(session, bucket, endpoint, std::move(key));
  return std::shared_ptr<ObjectStore>(std::make_shared<GsStore>(session, bucket, endpoint, is_emulator));
}

}  // namespace headrace
