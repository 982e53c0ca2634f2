// The examples of AWS' own documentation of Signature Version 4 for S3.
#include "shard/remote/sigv4.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

const AwsKeys kKeys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
const SigningScope kScope{"us-east-1", "s3", 1369353600};  // 20130524T000000Z

std::string authorization(HttpRequest request, const AwsKeys& keys = kKeys) {
  sign_v4(keys, kScope, &request);
  for (const HttpHeader& header : request.headers) {
    if (header.name == "authorization") return header.value;
  }
  return {};
}

TEST(SignV4, AQueryWithoutAValue) {
  EXPECT_EQ(authorization({.url = "https://examplebucket.s3.amazonaws.com/?lifecycle"}),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date, "
            "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(SignV4, AQueryIsSortedByName) {
  const std::string sorted = authorization({.url = "https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J"});
  EXPECT_TRUE(sorted.ends_with("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")) << sorted;
  EXPECT_EQ(authorization({.url = "https://examplebucket.s3.amazonaws.com:443/?prefix=J&max-keys=2"}), sorted);
}

TEST(SignV4, TheTokenOfASessionIsSigned) {
  HttpRequest request{.url = "http://127.0.0.1:9000/bucket/a%20key"};
  sign_v4({"ID", "secret", "session"}, kScope, &request);
  bool has_token = false;
  for (const HttpHeader& header : request.headers) {
    has_token = has_token || (header.name == "x-amz-security-token" && header.value == "session");
    if (header.name != "authorization") continue;
    EXPECT_NE(header.value.find("SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"),
              std::string::npos);
  }
  EXPECT_TRUE(has_token);
}

}  // namespace
}  // namespace headrace
