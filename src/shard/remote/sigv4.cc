#include "shard/remote/sigv4.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <vector>

#include "shard/remote/url.h"

namespace headrace {
namespace {

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Digest hmac(std::string_view key, std::string_view text) {
  Digest digest{};
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest.data(), &size);
  return digest;
}

Digest hmac(const Digest& key, std::string_view text) {
  return hmac(std::string_view(reinterpret_cast<const char*>(key.data()), key.size()), text);
}

// "20150830T123600Z"
std::string stamp(std::time_t now) {
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts)};
}

// By name, each with its equals sign.
std::string canonical_query(std::string_view query) {
  std::vector<std::string> fields;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    std::string field(query.substr(0, end));
    if (field.find('=') == std::string::npos) field += '=';
    fields.push_back(std::move(field));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  // '=' sorts behind '-' and '.', so names are compared on their own.
  std::sort(fields.begin(), fields.end(), [](const std::string& a, const std::string& b) {
    const std::string_view name_a = std::string_view(a).substr(0, a.find('='));
    const std::string_view name_b = std::string_view(b).substr(0, b.find('='));
    return name_a != name_b ? name_a < name_b : a < b;
  });
  std::string text;
  for (const std::string& field : fields) text += (text.empty() ? "" : "&") + field;
  return text;
}

// As libcurl sends it: without the port that the scheme has anyway.
std::string host_header(const std::string& url) {
  std::string_view host = host_of(url);
  const std::string_view usual = url.starts_with("https://") ? ":443" : ":80";
  if (host.ends_with(usual)) host.remove_suffix(usual.size());
  return std::string(host);
}

}  // namespace

std::string sha256_hex(std::string_view text) {
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return hex(digest);
}

void sign_v4(const AwsKeys& keys, const SigningScope& scope, HttpRequest* request) {
  const std::string time = stamp(scope.now);
  const std::string body_hash = sha256_hex(request->body);
  request->headers.push_back({"x-amz-date", time});
  request->headers.push_back({"x-amz-content-sha256", body_hash});
  if (!keys.token.empty()) request->headers.push_back({"x-amz-security-token", keys.token});

  std::vector<HttpHeader> signed_headers = {{"host", host_header(request->url)}};
  for (const HttpHeader& header : request->headers) {
    if (header.name.starts_with("x-amz-")) signed_headers.push_back(header);
  }
  std::sort(signed_headers.begin(), signed_headers.end(),
            [](const HttpHeader& a, const HttpHeader& b) { return a.name < b.name; });
  std::string names;
  std::string lines;
  for (const HttpHeader& header : signed_headers) {
    names += (names.empty() ? "" : ";") + header.name;
    lines += header.name + ":" + header.value + "\n";
  }
  const std::string_view path = path_of(request->url);
  const std::string canonical = request->method + "\n" + (path.empty() ? "/" : std::string(path)) + "\n" +
                                canonical_query(query_of(request->url)) + "\n" + lines + "\n" + names + "\n" +
                                body_hash;

  const std::string date = time.substr(0, 8);
  const std::string credential_scope = date + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + time + "\n" + credential_scope + "\n" + sha256_hex(canonical);
  const Digest key = hmac(hmac(hmac(hmac("AWS4" + keys.secret, date), scope.region), scope.service), "aws4_request");
  request->headers.push_back({"authorization", "AWS4-HMAC-SHA256 Credential=" + keys.id + "/" + credential_scope +
                                                   ", SignedHeaders=" + names +
                                                   ", Signature=" + hex(hmac(key, to_sign))});
}

}  // namespace headrace
