// URLs, ranges, lists, profiles, times: the texts that servers and settings are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "shard/remote.h"
#include "shard/remote/aws_profile.h"
#include "shard/remote/backoff.h"
#include "shard/remote/bucket_list.h"
#include "shard/remote/google_credentials.h"
#include "shard/remote/json_fields.h"
#include "shard/remote/part_memory.h"
#include "shard/remote/range_request.h"
#include "shard/remote/url.h"

namespace headrace {
namespace {

using std::chrono::milliseconds;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(Url, ShownWithoutCredentialsAndQuery) {
  EXPECT_EQ(shown_path("https://user:pass@host:8443/a/b.tfrecord?X-Amz-Signature=secret#x"),
            "https://host:8443/a/b.tfrecord");
  EXPECT_EQ(shown_path("http://host"), "http://host");
  EXPECT_EQ(shown_path("https://host/user@home/x"), "https://host/user@home/x");
  EXPECT_EQ(shown_path("s3://bucket/what?is=this"), "s3://bucket/what?is=this");  // a key may hold anything
  EXPECT_EQ(shown_path("http-data/x?y"), "http-data/x?y");
}

TEST(Url, RemoteIsWhatBeginsWithAScheme) {
  for (const char* url : {"https://h/x", "http://h/x", "s3://b/k", "gs://b/k"}) EXPECT_TRUE(is_remote(url)) << url;
  for (const char* path : {"s3:/b", "/data/https://x", "data", "", "S3://b/k"}) EXPECT_FALSE(is_remote(path)) << path;
}

TEST(Url, BucketAndKey) {
  const auto url = parse_bucket_url("s3://bucket/a/b c");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->scheme + "|" + url->bucket + "|" + url->key, "s3|bucket|a/b c");
  EXPECT_EQ(parse_bucket_url("gs://bucket")->key, "");
  EXPECT_FALSE(parse_bucket_url("s3:///key").has_value());
}

TEST(Url, Parts) {
  EXPECT_EQ(host_of("http://u:p@h:1/p?q"), "h:1");
  EXPECT_EQ(path_of("http://h:1/p/r?q"), "/p/r");
  EXPECT_EQ(query_of("http://h:1/p?q=1&r#f"), "q=1&r");
  EXPECT_EQ(percent_encode("a/b c+\xC3\xA4~", true), "a/b%20c%2B%C3%A4~");
  EXPECT_EQ(percent_encode("a/b", false), "a%2Fb");
}

TEST(RangeRequest, TheRangeAndTheVersion) {
  HttpRequest request;
  ask_range({10, 20}, "\"tag\"", &request);
  EXPECT_EQ(request.headers[0].value, "bytes=10-19");
  EXPECT_EQ(request.headers[1].name + ": " + request.headers[1].value, "if-match: \"tag\"");
  HttpRequest weak;
  ask_range({0, 1}, "W/\"tag\"", &weak);
  EXPECT_EQ(weak.headers.size(), 1U);
}

TEST(RangeRequest, WhatAnswersSay) {
  const auto range = content_range({206, {{"content-range", "bytes 5-9/100"}}});
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 5U);
  EXPECT_EQ(range->end, 10U);
  EXPECT_EQ(range->size, 100U);
  EXPECT_EQ(content_range({206, {{"content-range", "bytes 5-9/*"}}})->size, std::nullopt);
  for (const char* bad : {"bytes 9-5/100", "bytes x-9/100", "5-9/100", "bytes 5", "bytes 5-9", "bytes -/1"}) {
    EXPECT_FALSE(content_range({206, {{"content-range", bad}}}).has_value()) << bad;
  }
  EXPECT_EQ(unsatisfied_size({416, {{"content-range", "bytes */0"}}}), 0U);
  EXPECT_EQ(entity_version({200, {{"last-modified", "then"}}}), "then");
  EXPECT_EQ(retry_after({503, {{"retry-after", "2"}}}), milliseconds(2000));
  EXPECT_EQ(retry_after({503, {{"retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"}}}), std::nullopt);
}

TEST(Backoff, GrowsWithJitterUpToALimitAndAnEnd) {
  Backoff backoff(20, 1);
  milliseconds bound = Backoff::kFirst;
  bool differs = false;
  for (int i = 0; i < 19; ++i) {
    const auto pause = backoff.next();
    ASSERT_TRUE(pause.has_value());
    EXPECT_LE(*pause, bound);
    differs = differs || *pause != bound;
    bound = std::min(2 * bound, Backoff::kMost);
  }
  EXPECT_TRUE(differs);
  EXPECT_FALSE(backoff.next().has_value());
}

TEST(Backoff, ProgressBeginsAgainAndTheServerMayAskForMore) {
  Backoff backoff(2, 1);
  EXPECT_TRUE(backoff.next().has_value());
  backoff.progress();
  EXPECT_GE(*backoff.next(milliseconds(5000)), milliseconds(5000));
  backoff.progress();
  EXPECT_LE(*backoff.next(std::chrono::hours(1)), Backoff::kMost);
}

TEST(PartMemory, IsBoundedButForWhatIsNeeded) {
  PartMemory memory(100);
  memory.add_file();
  memory.add_file();
  EXPECT_EQ(memory.share(), 50U);
  PartMemory::Piece first = memory.take(80, false);
  EXPECT_NE(first.data, nullptr);
  EXPECT_EQ(memory.take(30, false).data, nullptr);
  PartMemory::Piece needed = memory.take(30, true);
  EXPECT_NE(needed.data, nullptr);
  EXPECT_EQ(memory.bytes_in_use(), 110U);
  const std::uint8_t* place = first.data.get();
  memory.give(std::move(needed));
  memory.give(std::move(first));
  EXPECT_EQ(memory.bytes_in_use(), 0U);
  EXPECT_EQ(memory.take(70, false).data.get(), place);  // used again
}

constexpr std::string_view kPage = R"(<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><EncodingType>url</EncodingType>
<IsTruncated>true</IsTruncated><NextContinuationToken>1/a+b=</NextContinuationToken>
<Contents><Key>a/x%20y+z%2B</Key><ETag>&quot;abc&quot;</ETag><Size>12</Size></Contents>
<Contents><Key>b</Key><Size>0</Size></Contents></ListBucketResult>)";

TEST(BucketList, APage) {
  const auto page = parse_bucket_page(bytes_of(kPage));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->entries.size(), 2U);
  EXPECT_EQ(page->entries[0].key, "a/x y z+");
  EXPECT_EQ(page->entries[0].bytes, 12U);
  EXPECT_EQ(page->entries[0].version, "\"abc\"");
  EXPECT_EQ(page->next, "1/a+b=");
}

TEST(BucketList, EveryCutOfAPageIsRefusedOrAPrefix) {
  for (std::size_t size = 0; size < kPage.size(); ++size) {
    EXPECT_FALSE(parse_bucket_page(bytes_of(kPage.substr(0, size))).ok()) << size;
  }
}

TEST(BucketList, ATruncatedListNeedsATokenAndEveryEntryASize) {
  EXPECT_FALSE(
      parse_bucket_page(bytes_of("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>")).ok());
  for (const char* size : {"", "<Size>-1</Size>", "<Size>1e3</Size>", "<Size>99999999999999999999</Size>"}) {
    const std::string text =
        std::string("<ListBucketResult><Contents><Key>k</Key>") + size + "</Contents></ListBucketResult>";
    EXPECT_FALSE(parse_bucket_page(bytes_of(text)).ok()) << size;
  }
  EXPECT_FALSE(parse_bucket_page(bytes_of("<html>sign in</html>")).ok());
}

TEST(BucketList, TheQueryIsSortedAndEscaped) {
  EXPECT_EQ(bucket_list_query({.prefix = "a/b c", .is_flat = true, .page = "x="}),
            "continuation-token=x%3D&delimiter=%2F&encoding-type=url&list-type=2&max-keys=1000&prefix=a%2Fb%20c");
}

TEST(BucketList, ErrorsSayCodeAndMessage) {
  const BucketError error = parse_bucket_error("<Error><Code>NoSuchKey</Code><Message>It is gone.</Message></Error>");
  EXPECT_EQ(error.code + "|" + error.message, "NoSuchKey|It is gone.");
  EXPECT_EQ(parse_bucket_error("no xml").code, "");
}

TEST(AwsProfile, OneSectionOfSeveral) {
  constexpr std::string_view kText = R"(# comment
[default]
aws_access_key_id = A   # of mine
aws_secret_access_key=S#x
[profile other]
region = eu-west-1
s3 =
  addressing_style = path
[profile third]
region = x
)";
  EXPECT_THAT(parse_profile(kText, "default"), ::testing::ElementsAre(::testing::Pair("aws_access_key_id", "A"),
                                                                      ::testing::Pair("aws_secret_access_key", "S#x")));
  EXPECT_EQ(parse_profile(kText, "profile other").at("region"), "eu-west-1");
  EXPECT_FALSE(parse_profile(kText, "profile other").contains("addressing_style"));
  EXPECT_TRUE(parse_profile(kText, "none").empty());
}

TEST(JsonFields, TimesAndFields) {
  EXPECT_EQ(parse_time("2026-11-30T00:00:00Z"), parse_time("2026-11-30T00:00:00.123Z"));
  EXPECT_EQ(parse_time("2026-11-30T00:00:01Z").value() - parse_time("2026-11-30T00:00:00Z").value(),
            std::chrono::seconds(1));
  EXPECT_GT(parse_time("9999-12-31T23:59:59Z").value(), parse_time("2100-01-01T00:00:00Z").value());
  EXPECT_FALSE(parse_time("soon").has_value());
  EXPECT_EQ(text_field(parse_object("{\"a\": 1}"), "a"), "");
  EXPECT_TRUE(parse_object("[1").empty());
}

TEST(GoogleCredentials, Base64Url) {
  EXPECT_EQ(base64_url(""), "");
  EXPECT_EQ(base64_url("f"), "Zg");
  EXPECT_EQ(base64_url("fo"), "Zm8");
  EXPECT_EQ(base64_url("foo"), "Zm9v");
  EXPECT_EQ(base64_url("\xFB\xFF"), "-_8");
  EXPECT_EQ(sign_rs256("no key", "text").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace headrace
