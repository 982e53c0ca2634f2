// ObjectStore: how one kind of storage names, signs, lists and explains; it sends nothing but what its credentials need.
//
// Calls may be concurrent, and may block while credentials are renewed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/status.h"
#include "shard/remote/http_message.h"

namespace headrace {

struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t end = 0;  ///< behind the last byte
};

/// One page of a listing.
struct ObjectPage {
  struct Entry {
    std::string key;
    std::uint64_t bytes = 0;
    std::string version;
  };
  std::vector<Entry> entries;
  std::string next;  ///< token of the page behind it; empty: this is the last one
};

struct ListQuery {
  std::string prefix;
  bool is_flat = false;  ///< only keys without a slash behind the prefix
  std::string page;      ///< a token
};

class ObjectStore {
 public:
  virtual ~ObjectStore() = default;

  /// Asks for bytes of `key`; with a `version`, only while the object has that one.
  virtual Result<HttpRequest> get(const std::string& key, ByteRange range, const std::string& version) = 0;
  /// What an object has as long as it is not replaced; empty when the server tells nothing.
  virtual std::string version_of(const HttpResponse& response) const = 0;
  virtual Result<HttpRequest> list(const ListQuery& query) = 0;
  virtual Result<ObjectPage> parse_page(std::span<const std::uint8_t> body) const = 0;
  /// After an answer that is no success, with (the beginning of) its body: true when the same request made anew may succeed, as
  /// the store has learned from it.
  virtual bool learn(const HttpResponse& response, const std::string& body) = 0;
  /// What an error's body says, in a few words; empty when nothing.
  virtual std::string explain(const std::string& body) const = 0;
  /// Words for an answer of 401 or 403: what may be missing.
  virtual std::string credentials_hint() const = 0;
};

/// Objects of web servers: their keys are URLs. No lists.
std::unique_ptr<ObjectStore> make_http_store();

}  // namespace headrace
