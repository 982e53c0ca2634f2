#include "shard/remote/remote_target.h"

#include "shard/remote/range_request.h"

namespace headrace {
namespace {

StatusCode code_of(int status) {
  switch (status) {
    case 404:
    case 410:
      return StatusCode::kNotFound;
    case 401:
    case 403:
    case 407:
      return StatusCode::kPermissionDenied;
    default:
      return StatusCode::kIo;
  }
}

bool may_retry(int status) { return status == 408 || status == 429 || status >= 500; }

// Of the first byte: the size stands in Content-Range, or the whole comes.
Judgement learn_size(const HttpResponse& response, RemoteTarget* target) {
  std::optional<std::uint64_t> size;
  if (const auto range = content_range(response); response.status == 206 && range) size = range->size;
  if (response.status == 200) {
    size = content_length(response);
    target->has_ranges = size == 0U;
  }
  if (!size) {
    return {Judgement::Kind::kFailed,
            {StatusCode::kIo, "cannot read: the server does not tell the size", {.path = target->path}}};
  }
  target->size = *size;
  target->version = target->store->version_of(response);
  return {};
}

}  // namespace

Judgement judge_refusal(const RemoteTarget& target, const HttpResponse& response, const std::string& body) {
  if (target.store->learn(response, body)) return {Judgement::Kind::kAgain};
  const int status = response.status;
  if (status == 412 || (status == 416 && !target.version.empty())) return {Judgement::Kind::kFailed, replaced(target)};
  std::string text = "cannot read: the server answers " + std::to_string(status);
  if (const std::string reason = target.store->explain(body); !reason.empty()) text += " (" + reason + ")";
  if (code_of(status) == StatusCode::kPermissionDenied) {
    if (const std::string hint = target.store->credentials_hint(); !hint.empty()) text += "; " + hint;
  }
  return {may_retry(status) ? Judgement::Kind::kRetry : Judgement::Kind::kFailed,
          {code_of(status), text, {.path = target.path}},
          retry_after(response)};
}

Judgement judge_break(const RemoteTarget& target, const HttpOutcome& outcome) {
  return {outcome.may_retry ? Judgement::Kind::kRetry : Judgement::Kind::kFailed,
          {StatusCode::kIo, "cannot read: " + outcome.failure, {.path = target.path}}};
}

Status replaced(const RemoteTarget& target) {
  return {StatusCode::kIo, "the object was replaced while it was read", {.path = target.path}};
}

Status look_at(RemoteSession* session, RemoteTarget* target) {
  std::string error_body;
  const auto sink = [&](const HttpResponse& response, std::span<const std::uint8_t> bytes) {
    if (response.ok()) return response.status == 206;  // of a whole object nothing more is wanted
    error_body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return error_body.size() < kMostErrorBytes;
  };
  const auto judge = [&](const HttpOutcome& outcome) -> Judgement {
    const std::string body = std::exchange(error_body, {});
    if (outcome.kind == HttpOutcome::Kind::kFailed) return judge_break(*target, outcome);
    if (outcome.response.ok()) return learn_size(outcome.response, target);
    const auto size = unsatisfied_size(outcome.response);
    if (outcome.response.status == 416 && size.value_or(0) == 0) {  // there is no first byte
      target->version = target->store->version_of(outcome.response);
      return {};
    }
    return judge_refusal(*target, outcome.response, body);
  };
  const Status status = session->perform(
      [&] {
        return target->store->get(target->key, {0, 1}, {});
      },
      sink, judge, session->stop_token());
  return status.ok() ? status : status.with({.path = target->path});
}

}  // namespace headrace
