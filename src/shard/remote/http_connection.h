// HttpConnection: requests over libcurl, one at a time, on connections that are used again.
//
// One caller at a time; perform() blocks until the answer is there, a time limit is over, or the stop token says so, which
// wakes it at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "headrace/status.h"
#include "shard/remote/http_message.h"

namespace headrace {

/// Takes the pieces of a body as they come; the status and the headers are known by then. False: no more is wanted.
using HttpSink = std::function<bool(const HttpResponse&, std::span<const std::uint8_t>)>;

struct HttpOutcome {
  enum class Kind : std::uint8_t {
    kWhole = 1,  ///< the whole answer came
    kEnough,     ///< the sink wanted no more
    kStopped,
    kFailed,  ///< nothing or not all came; `failure` says why
  };
  Kind kind = Kind::kFailed;
  HttpResponse response;
  std::string failure;
  bool may_retry = false;  ///< with kFailed
};

class HttpConnection {
 public:
  /// `timeout`: for a connection to be made, and for how long next to nothing may come.
  explicit HttpConnection(std::chrono::seconds timeout);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  HttpOutcome perform(const HttpRequest& request, const HttpSink& sink, const std::stop_token& stop);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace headrace
