#include "headrace/status.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace headrace {
namespace {

TEST(Status, OkHasNoState) {
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), StatusCode::kOk);
  EXPECT_EQ(ok.message(), "");
  EXPECT_EQ(ok.to_string(), "ok");
}

TEST(Status, EachLayerAddsItsWhere) {
  Where key;
  key.key = "image";
  key.row = 7;
  Where file;
  file.path = "/data/a.tfrecord";
  file.record = 12;
  file.offset = 480;
  file.row = 99;  // the inner layer knew the row already
  const Status status = schema_mismatch("wrong kind", key).with(file);
  EXPECT_EQ(status.where().row, 7);
  EXPECT_EQ(status.to_string(), "wrong kind [file /data/a.tfrecord, record 12, offset 480, key 'image', row 7]");
}

TEST(Status, TextIsShortAndValidUtf8) {
  Where where;
  where.key = std::string(5000, '\xff');
  where.path = std::string(5000, 'p');
  const std::string text = data_loss(std::string(100000, '\xfe'), where).to_string();
  EXPECT_LT(text.size(), 2048U + 1024U);
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_NE(text.find("\\xfe"), std::string::npos);
}

TEST(Result, HoldsValueOrFailure) {
  const Result<int> value = 3;
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.status().ok());
  const Result<int> failure = invalid_argument("no");
  EXPECT_FALSE(failure.ok());
  EXPECT_EQ(failure.status().message(), "no");
}

Result<int> half(int n) {
  if (n % 2 != 0) return invalid_argument("odd");
  return n / 2;
}

Result<int> quarter(int n) {
  HEADRACE_ASSIGN_OR_RETURN(const int once, half(n));
  return half(once);
}

TEST(Result, AssignOrReturnPassesTheFailureOn) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_EQ(quarter(6).status().message(), "odd");
}

TEST(PrintableUtf8, KeepsCharactersEscapesTheRest) {
  EXPECT_EQ(printable_utf8("a\xc3\xa9\n", 100), "a\xc3\xa9\n");
  EXPECT_EQ(printable_utf8(std::string("\0\x1b", 2), 100), "\\x00\\x1b");
  EXPECT_EQ(printable_utf8("\xc0\xaf", 100), "\\xc0\\xaf");           // overlong
  EXPECT_EQ(printable_utf8("\xed\xa0\x80", 100), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable_utf8("\xf4\x90\x80\x80", 100), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable_utf8("\xc3", 100), "\\xc3");  // cut
}

TEST(PrintableUtf8, CutsAtACharacterBorder) {
  EXPECT_EQ(printable_utf8("abcd", 3), "abc...");
  EXPECT_EQ(printable_utf8("ab\xc3\xa9", 3), "ab...");
}

}  // namespace
}  // namespace headrace
