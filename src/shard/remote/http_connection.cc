#include "shard/remote/http_connection.h"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <mutex>
#include <utility>

#include "base/environment.h"
#include "runtime/interrupt.h"

namespace headrace {
namespace {

constexpr long kBufferBytes = 512 * 1024;
constexpr long kSlowBytesPerSecond = 128;
constexpr long kMostRedirects = 5;
constexpr long kMetadataSeconds = 2;

// curl_global_init() is for once a process; nothing undoes it, as the host program may use libcurl, too.
bool curl_is_ready() {
  static std::once_flag once;
  static CURLcode code = CURLE_FAILED_INIT;
  std::call_once(once, [] { code = curl_global_init(CURL_GLOBAL_DEFAULT); });
  return code == CURLE_OK;
}

bool may_retry(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_AGAIN:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY:
      return true;
    default:
      return false;
  }
}

}  // namespace

struct HttpConnection::Impl {
  explicit Impl(std::chrono::seconds t) : timeout(t) {}

  // One answer that is being received.
  struct Receiving {
    const HttpSink* sink;
    HttpOutcome outcome;
    bool wants_no_more = false;
  };

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* user);
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* user);
  void prepare(const HttpRequest& request, curl_slist* headers, Receiving* receiving);
  CURLcode run(const std::stop_token& stop);

  const std::chrono::seconds timeout;
  CURLM* multi = nullptr;
  CURL* easy = nullptr;
  char reason[CURL_ERROR_SIZE] = {};
};

std::size_t HttpConnection::Impl::on_header(char* data, std::size_t, std::size_t size, void* user) {
  HttpResponse& response = static_cast<Receiving*>(user)->outcome.response;
  std::string_view line(data, size);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // of this answer, or of one that leads to it
    response = HttpResponse();
    const std::size_t space = line.find(' ');
    if (space != std::string_view::npos) response.status = std::atoi(std::string(line.substr(space + 1, 3)).c_str());
    return size;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  line.remove_prefix(colon + 1);
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
  response.headers.push_back({std::move(name), std::string(line)});
  return size;
}

std::size_t HttpConnection::Impl::on_body(char* data, std::size_t, std::size_t size, void* user) {
  auto* receiving = static_cast<Receiving*>(user);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(data), size);
  if ((*receiving->sink)(receiving->outcome.response, bytes)) return size;
  receiving->wants_no_more = true;
  return CURL_WRITEFUNC_ERROR;
}

void HttpConnection::Impl::prepare(const HttpRequest& request, curl_slist* headers, Receiving* receiving) {
  curl_easy_reset(easy);
  reason[0] = '\0';
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // a stop does not wait for a name server
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "headrace");
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);  // the signature is that of the path as it was given
  curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, kBufferBytes);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  const auto seconds = request.is_metadata ? kMetadataSeconds : static_cast<long>(timeout.count());
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, seconds);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, seconds);
  curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  if (request.is_metadata) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 2 * seconds);
  }
  if (request.follows_redirects) {
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, kMostRedirects);
    const bool is_secret = request.url.starts_with("https://");
    curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, is_secret ? "https" : "http,https");
  }
  if (request.method == "POST") {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  } else if (request.method != "GET") {
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (const std::string bundle = environment_ca_bundle(); !bundle.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, bundle.c_str());
  }
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, receiving);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, receiving);
}

CURLcode HttpConnection::Impl::run(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi); });
  int running = 1;
  while (!stop.stop_requested()) {
    if (curl_multi_perform(multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) return message->data.result;
    }
    constexpr auto kPause = static_cast<int>(kInterruptInterval.count());
    if (running == 0 || curl_multi_poll(multi, nullptr, 0, kPause, nullptr) != CURLM_OK || interrupted()) break;
  }
  return CURLE_ABORTED_BY_CALLBACK;
}

HttpConnection::HttpConnection(std::chrono::seconds timeout) : impl_(std::make_unique<Impl>(timeout)) {
  if (!curl_is_ready()) return;
  impl_->multi = curl_multi_init();
  impl_->easy = curl_easy_init();
}

HttpConnection::~HttpConnection() {
  curl_easy_cleanup(impl_->easy);
  curl_multi_cleanup(impl_->multi);
}

HttpOutcome HttpConnection::perform(const HttpRequest& request, const HttpSink& sink, const std::stop_token& stop) {
  Impl::Receiving receiving{.sink = &sink};
  if (impl_->multi == nullptr || impl_->easy == nullptr) {
    receiving.outcome.failure = "libcurl cannot be set up";
    return std::move(receiving.outcome);
  }
  curl_slist* list = nullptr;
  for (const HttpHeader& header : request.headers)
    list = curl_slist_append(list, (header.name + ": " + header.value).c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> owner(list, curl_slist_free_all);
  impl_->prepare(request, list, &receiving);
  CURLcode code = CURLE_FAILED_INIT;
  if (curl_multi_add_handle(impl_->multi, impl_->easy) == CURLM_OK) {
    code = impl_->run(stop);
    curl_multi_remove_handle(impl_->multi, impl_->easy);
  }
  HttpOutcome outcome = std::move(receiving.outcome);
  if (code == CURLE_OK) {
    outcome.kind = HttpOutcome::Kind::kWhole;
  } else if (receiving.wants_no_more) {
    outcome.kind = HttpOutcome::Kind::kEnough;
  } else if (code == CURLE_ABORTED_BY_CALLBACK || stop.stop_requested()) {
    outcome.kind = HttpOutcome::Kind::kStopped;
  } else {
    outcome.failure = impl_->reason[0] != '\0' ? impl_->reason : curl_easy_strerror(code);
    outcome.may_retry = may_retry(code);
  }
  return outcome;
}

}  // namespace headrace
