#include "headrace/status.h"

#include <array>

#include "base/utf8.h"

namespace headrace {
namespace {

constexpr std::size_t kMaxMessageBytes = 1024;
constexpr std::size_t kMaxPartBytes = 200;
constexpr std::size_t kMaxPathBytes = 400;

const std::string& empty_string() {
  static const std::string kEmpty;
  return kEmpty;
}

// A long path keeps its end: the file name tells more than the root.
std::string path_tail(const std::string& path) {
  if (path.size() <= kMaxPathBytes) return printable_utf8(path, kMaxPathBytes * 4);
  return "..." + printable_utf8(std::string_view(path).substr(path.size() - kMaxPathBytes), kMaxPathBytes * 4);
}

}  // namespace

std::string_view to_string(StatusCode code) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "ok",        "invalid_argument", "not_found", "permission_denied",  "io",
      "data_loss", "schema_mismatch",  "cancelled", "resource_exhausted", "device"};
  return kNames[static_cast<std::size_t>(code)];
}

Status::Status(StatusCode code, std::string_view message, Where where) {
  if (code == StatusCode::kOk) return;
  state_ = std::make_shared<const State>(State{code, printable_utf8(message, kMaxMessageBytes), std::move(where)});
}

const std::string& Status::message() const { return state_ ? state_->message : empty_string(); }

const Where& Status::where() const {
  static const Where kNowhere;
  return state_ ? state_->where : kNowhere;
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  const Where& at = state_->where;
  std::string text = state_->message;
  std::string place;
  auto add = [&place](const std::string& part) { place += (place.empty() ? "" : ", ") + part; };
  if (!at.path.empty()) add("file " + path_tail(at.path));
  if (at.record >= 0) add("record " + std::to_string(at.record));
  if (at.offset >= 0) add("offset " + std::to_string(at.offset));
  if (!at.key.empty()) add("key '" + printable_utf8(at.key, kMaxPartBytes) + "'");
  if (at.row >= 0) add("row " + std::to_string(at.row));
  if (!place.empty()) text += " [" + place + "]";
  return text;
}

Status Status::with(const Where& where) const {
  if (ok()) return *this;
  State merged = *state_;
  Where& at = merged.where;
  if (at.path.empty()) at.path = where.path;
  if (at.record < 0) at.record = where.record;
  if (at.offset < 0) at.offset = where.offset;
  if (at.key.empty()) at.key = where.key;
  if (at.row < 0) at.row = where.row;
  if (at.expected.empty()) at.expected = where.expected;
  if (at.found.empty()) at.found = where.found;
  Status result;
  result.state_ = std::make_shared<const State>(std::move(merged));
  return result;
}

}  // namespace headrace
