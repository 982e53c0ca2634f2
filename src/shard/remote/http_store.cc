// Objects of web servers.
#include "shard/remote/object_store.h"
#include "shard/remote/range_request.h"

namespace headrace {
namespace {

class HttpStore : public ObjectStore {
 public:
  Result<HttpRequest> get(const std::string& key, ByteRange range, const std::string& version) override {
    HttpRequest request{.url = key, .follows_redirects = true};
    ask_range(range, version, &request);
    return request;
  }
  std::string version_of(const HttpResponse& response) const override { return entity_version(response); }
  Result<HttpRequest> list(const ListQuery&) override {
    return invalid_argument("a web server has no list of its files: name them one by one");
  }
  Result<ObjectPage> parse_page(std::span<const std::uint8_t>) const override {
    return invalid_argument("a web server has no list of its files");
  }
  bool learn(const HttpResponse&, const std::string&) override { return false; }
  std::string explain(const std::string&) const override { return {}; }
  std::string credentials_hint() const override { return {}; }
};

}  // namespace

std::unique_ptr<ObjectStore> make_http_store() { return std::make_unique<HttpStore>(); }

}  // namespace headrace
