// Status and Result<T>: failures are values.
//
// Every fallible call returns one of these; none throws, prints or aborts. The first failure wins; each layer adds its
// *where* (file, record, offset, key, row) to the one that came from below. End of data is never a failure: calls that can
// run out return Result<std::optional<T>> (value / nothing / failure).
// Both types are values: copy, move and read them from any thread, as any other value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace headrace {

enum class StatusCode : std::uint8_t {
  kOk = 0,
  kInvalidArgument,    ///< a bad argument or a combination of options that cannot work
  kNotFound,           ///< a file that is not there
  kPermissionDenied,   ///< a file that may not be read
  kIo,                 ///< any other failure of the operating system; also "is a directory"
  kDataLoss,           ///< damaged or truncated data, wrong compression
  kSchemaMismatch,     ///< a record that does not fit the schema
  kCancelled,          ///< closed while waiting, or used after close() or fork()
  kResourceExhausted,  ///< one record or batch that does not fit the budget
  kDevice,             ///< a device that failed
};

/// The name of `code` as DESIGN's error table writes it, such as "data_loss".
std::string_view to_string(StatusCode code);

/// Where a failure happened. Unknown parts keep their defaults.
struct Where {
  std::string path;          ///< shard
  std::int64_t record = -1;  ///< ordinal in the shard, from 0
  std::int64_t offset = -1;  ///< byte offset of the record's header in the uncompressed stream
  std::string key;           ///< feature key
  std::int64_t row = -1;     ///< row in the global batch
  std::string expected;      ///< what the schema asks for
  std::string found;         ///< what the record holds
};

class [[nodiscard]] Status {
 public:
  Status() = default;  ///< ok
  Status(StatusCode code, std::string_view message, Where where = {});

  static Status ok_status() { return {}; }

  bool ok() const { return state_ == nullptr; }
  StatusCode code() const { return state_ ? state_->code : StatusCode::kOk; }
  /// The text without its where; at most 1 KiB, valid UTF-8, never payload bytes.
  const std::string& message() const;
  const Where& where() const;
  /// Message and where in one line of valid UTF-8 below 2 KiB.
  std::string to_string() const;

  /// A copy whose empty where-parts are filled from `where`; what is already there stays.
  Status with(const Where& where) const;

 private:
  struct State {
    StatusCode code;
    std::string message;
    Where where;
  };
  std::shared_ptr<const State> state_;
};

inline Status invalid_argument(std::string_view message) { return {StatusCode::kInvalidArgument, message}; }
inline Status data_loss(std::string_view message, Where where = {}) {
  return {StatusCode::kDataLoss, message, std::move(where)};
}
inline Status schema_mismatch(std::string_view message, Where where = {}) {
  return {StatusCode::kSchemaMismatch, message, std::move(where)};
}
inline Status cancelled(std::string_view message) { return {StatusCode::kCancelled, message}; }

/// A value or a failure.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// `failure` must not be ok.
  Result(Status failure) : state_(std::in_place_index<0>, std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 1; }
  explicit operator bool() const { return ok(); }
  /// Ok when there is a value.
  Status status() const { return ok() ? Status() : std::get<0>(state_); }

  /// The value; calling these on a failure is an error of the caller (std::bad_variant_access).
  T& value() & { return std::get<1>(state_); }
  const T& value() const& { return std::get<1>(state_); }
  T&& value() && { return std::get<1>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> state_;
};

}  // namespace headrace

/// Returns the failure of `expression` (a Status) to the caller.
#define HEADRACE_RETURN_IF_ERROR(expression)             \
  do {                                                   \
    ::headrace::Status headrace_status_ = (expression);  \
    if (!headrace_status_.ok()) return headrace_status_; \
  } while (false)

#define HEADRACE_CONCAT_INNER_(a, b) a##b
#define HEADRACE_CONCAT_(a, b) HEADRACE_CONCAT_INNER_(a, b)
/// `HEADRACE_ASSIGN_OR_RETURN(auto x, f())`: the value of a Result, or its failure to the caller.
#define HEADRACE_ASSIGN_OR_RETURN(target, expression) \
  HEADRACE_ASSIGN_OR_RETURN_(HEADRACE_CONCAT_(headrace_result_, __LINE__), target, expression)
#define HEADRACE_ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                                  \
  if (!result.ok()) return result.status();                    \
  target = std::move(result).value()
