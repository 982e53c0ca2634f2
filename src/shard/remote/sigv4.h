// AWS Signature Version 4: the headers that prove who asks. Pure functions.
#pragma once

#include <ctime>
#include <string>

#include "shard/remote/http_message.h"

namespace headrace {

struct AwsKeys {
  std::string id;
  std::string secret;
  std::string token;  ///< of a session; may be empty

  bool operator==(const AwsKeys&) const = default;
};

struct SigningScope {
  std::string region;
  std::string service;  ///< "s3", "sts"
  std::time_t now = 0;
};

/// Adds x-amz-date, x-amz-content-sha256, x-amz-security-token and authorization. Host and all x-amz headers are signed. The
/// URL's path and query are escaped already, and are signed as they are (as S3 wants it).
void sign_v4(const AwsKeys& keys, const SigningScope& scope, HttpRequest* request);

/// Lower-case hex of the SHA-256 of `text`.
std::string sha256_hex(std::string_view text);

}  // namespace headrace
