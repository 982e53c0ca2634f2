#include "shard/remote/google_credentials.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/environment.h"
#include "shard/remote/aws_profile.h"
#include "shard/remote/json_fields.h"
#include "shard/remote/remote_session.h"
#include "shard/remote/url.h"

namespace headrace {
namespace {

using Token = Expiring<MaybeToken>;

constexpr std::size_t kMostBytes = 64 * 1024;
constexpr const char* kScope = "https://www.googleapis.com/auth/devstorage.read_only";
constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";
constexpr int kAssertionSeconds = 3600;
constexpr std::int64_t kMostSeconds = 366 * 24 * 3600;

Status none_from(const std::string& whom, const std::string& why) {
  return {StatusCode::kPermissionDenied, "no Google token from " + whom + ": " + why};
}

Result<Token> token_in(const std::string& whom, const HttpAnswer& answer) {
  const nlohmann::json object = parse_object(answer.body);
  std::string token = text_field(object, "access_token");
  if (!answer.response.ok() || token.empty()) {
    return none_from(whom, "it answers " + std::to_string(answer.response.status) + " " + text_field(object, "error"));
  }
  const std::int64_t seconds = std::min<std::int64_t>(number_field(object, "expires_in"), kMostSeconds);
  Token found{.value = std::move(token)};
  if (seconds > 0) found.expires = std::chrono::system_clock::now() + std::chrono::seconds(seconds);
  return found;
}

Result<Token> ask_token(RemoteSession* session, const std::string& whom, const std::string& url,
                        const std::string& form) {
  const auto make = [&]() -> Result<HttpRequest> {
    return HttpRequest{
        .url = url, .method = "POST", .headers = {{"content-type", "application/x-www-form-urlencoded"}}, .body = form};
  };
  HEADRACE_ASSIGN_OR_RETURN(const HttpAnswer answer, session->ask(make, kMostBytes));
  return token_in(whom, answer);
}

Result<Token> of_service_account(RemoteSession* session, const nlohmann::json& account) {
  std::string url = text_field(account, "token_uri");
  if (url.empty()) url = kTokenUrl;
  const std::int64_t now = std::time(nullptr);
  const nlohmann::json header = {{"alg", "RS256"}, {"typ", "JWT"}, {"kid", text_field(account, "private_key_id")}};
  const nlohmann::json claims = {{"iss", text_field(account, "client_email")},
                                 {"scope", kScope},
                                 {"aud", url},
                                 {"iat", now},
                                 {"exp", now + kAssertionSeconds}};
  const std::string text = base64_url(header.dump()) + "." + base64_url(claims.dump());
  HEADRACE_ASSIGN_OR_RETURN(const std::string signature, sign_rs256(text_field(account, "private_key"), text));
  const std::string grant = percent_encode("urn:ietf:params:oauth:grant-type:jwt-bearer", false);
  return ask_token(session, "the service account", url,
                   "grant_type=" + grant + "&assertion=" + text + "." + base64_url(signature));
}

Result<Token> of_user(RemoteSession* session, const nlohmann::json& user) {
  std::string url = text_field(user, "token_uri");
  if (url.empty()) url = kTokenUrl;
  return ask_token(session, "the user's sign-on", url,
                   "grant_type=refresh_token&client_id=" + percent_encode(text_field(user, "client_id"), false) +
                       "&client_secret=" + percent_encode(text_field(user, "client_secret"), false) +
                       "&refresh_token=" + percent_encode(text_field(user, "refresh_token"), false));
}

Result<Token> of_file(RemoteSession* session, const std::string& path) {
  HEADRACE_ASSIGN_OR_RETURN(const std::string text, read_small_file(path));
  const nlohmann::json object = parse_object(text);
  const std::string type = text_field(object, "type");
  if (type == "service_account") return of_service_account(session, object);
  if (type == "authorized_user") return of_user(session, object);
  return none_from(path, "its type '" + type + "' is neither service_account nor authorized_user");
}

// Where `gcloud auth application-default login` leaves them.
std::string usual_file() {
  std::string folder = environment_text("CLOUDSDK_CONFIG");
  if (folder.empty()) {
    const std::string home = environment_text("HOME");
    if (home.empty()) return {};
    folder = home + "/.config/gcloud";
  }
  return folder + "/application_default_credentials.json";
}

Result<std::optional<Token>> of_metadata(RemoteSession* session) {
  if (environment_text("NO_GCE_CHECK") == "true") return std::optional<Token>();
  std::string host = environment_text("GCE_METADATA_HOST");
  if (host.empty()) host = "169.254.169.254";
  const HttpRequest request{.url = "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token",
                            .headers = {{"metadata-flavor", "Google"}},
                            .is_metadata = true};
  const Result<HttpAnswer> answer =
      session->ask([&request]() -> Result<HttpRequest> { return request; }, kMostBytes, RemoteSession::Tries::kOne);
  if (!answer.ok() && answer.status().code() == StatusCode::kCancelled) return answer.status();
  if (!answer.ok() || !answer->response.ok()) return std::optional<Token>();
  HEADRACE_ASSIGN_OR_RETURN(Token token, token_in("the metadata server", *answer));
  return std::optional<Token>(std::move(token));
}

}  // namespace

Result<Token> find_google_token(RemoteSession* session) {
  const std::string no_sign = environment_text("GS_NO_SIGN_REQUEST");
  if (no_sign == "1" || no_sign == "true" || no_sign == "YES") return Token{};
  if (std::string token = environment_text("GOOGLE_OAUTH_ACCESS_TOKEN"); !token.empty()) {
    return Token{.value = std::move(token)};
  }
  if (const std::string path = environment_text("GOOGLE_APPLICATION_CREDENTIALS"); !path.empty()) {
    return of_file(session, path);
  }
  if (const std::string path = usual_file(); !path.empty()) {
    Result<Token> token = of_file(session, path);
    if (token.ok() || token.status().code() != StatusCode::kNotFound) return token;
  }
  HEADRACE_ASSIGN_OR_RETURN(std::optional<Token> token, of_metadata(session));
  if (token) return std::move(*token);
  return Status(
      StatusCode::kPermissionDenied,
      "no Google credentials: there is no GOOGLE_OAUTH_ACCESS_TOKEN, no GOOGLE_APPLICATION_CREDENTIALS, no sign-on "
      "of gcloud, no metadata server and no key (GS_ACCESS_KEY_ID, GS_SECRET_ACCESS_KEY); for public objects set "
      "GS_NO_SIGN_REQUEST=1");
}

}  // namespace headrace
