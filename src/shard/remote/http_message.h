// What is sent to an HTTP server and what comes back. Plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace {

struct HttpHeader {
  std::string name;  ///< in lower case where it was received
  std::string value;
};

struct HttpRequest {
  std::string url;
  std::string method = "GET";
  std::vector<HttpHeader> headers;
  std::string body;
  bool follows_redirects = false;
  /// For services at fixed addresses inside a machine: no proxy, and an answer within seconds or not at all.
  bool is_metadata = false;
};

struct HttpResponse {
  int status = 0;
  std::vector<HttpHeader> headers;

  bool ok() const { return status >= 200 && status < 300; }
  /// Empty when there is none of this name (in lower case).
  std::string_view header(std::string_view name) const {
    for (const HttpHeader& header : headers) {
      if (header.name == name) return header.value;
    }
    return {};
  }
};

}  // namespace headrace
