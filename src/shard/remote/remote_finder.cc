// Finds objects: asks for single ones, many at a time, and goes through the pages of a bucket's list.
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/environment.h"
#include "shard/remote/bucket_store.h"
#include "shard/remote/remote_file.h"
#include "shard/remote/url.h"

namespace headrace {
namespace {

// A page of 1000 keys of 1024 bytes with all that stands beside them.
constexpr std::size_t kMostPageBytes = 16 << 20;

class Finder : public RemoteFinder {
 public:
  explicit Finder(std::shared_ptr<RemoteSession> session) : session_(std::move(session)) {}

  std::vector<Result<ShardFile>> look_at(std::span<const std::string> urls) override;
  Result<std::vector<ShardFile>> match(const std::string& url) override;
  Result<std::vector<ShardFile>> list_folder(const std::string& url) override;

 private:
  Result<RemoteTarget> target_of(const std::string& url);
  Result<std::shared_ptr<ObjectStore>> bucket_store(const BucketUrl& url);
  ShardFile shard_of(RemoteTarget target) const;
  /// All pages. `keeps` sees the keys.
  Result<std::vector<ShardFile>> list(const std::string& url, const BucketUrl& place, ListQuery query,
                                      const std::function<bool(const std::string&)>& keeps);
  Result<ObjectPage> list_page(const RemoteTarget& place, const ListQuery& query);

  const std::shared_ptr<RemoteSession> session_;
  const std::shared_ptr<ObjectStore> web_ = make_http_store();
  std::map<std::string, std::shared_ptr<ObjectStore>> buckets_;  // by scheme://bucket
};

Result<BucketUrl> parse(const std::string& url) {
  std::optional<BucketUrl> place = parse_bucket_url(url);
  if (!place) return invalid_argument("the URL " + url + " names no bucket");
  return std::move(*place);
}

Result<std::shared_ptr<ObjectStore>> Finder::bucket_store(const BucketUrl& url) {
  std::shared_ptr<ObjectStore>& store = buckets_[url.scheme + "://" + url.bucket];
  if (store == nullptr) {
    HEADRACE_ASSIGN_OR_RETURN(store, make_bucket_store(session_.get(), url.scheme, url.bucket));
  }
  return store;
}

Result<RemoteTarget> Finder::target_of(const std::string& url) {
  if (url.starts_with("http")) return RemoteTarget{.store = web_, .key = url, .path = shown_path(url)};
  HEADRACE_ASSIGN_OR_RETURN(BucketUrl place, parse(url));
  if (place.key.empty()) return Status(StatusCode::kIo, "cannot read: a bucket, not an object", {.path = url});
  HEADRACE_ASSIGN_OR_RETURN(std::shared_ptr<ObjectStore> store, bucket_store(place));
  return RemoteTarget{.store = std::move(store), .key = std::move(place.key), .path = url};
}

ShardFile Finder::shard_of(RemoteTarget target) const {
  ShardFile file{.path = target.path, .bytes = target.size};
  file.origin = make_remote_origin(session_, std::make_shared<const RemoteTarget>(std::move(target)));
  return file;
}

std::vector<Result<ShardFile>> Finder::look_at(std::span<const std::string> urls) {
  std::vector<Result<RemoteTarget>> targets;
  targets.reserve(urls.size());
  for (const std::string& url : urls) targets.push_back(target_of(url));
  std::vector<Status> looked(urls.size(), cancelled("stopped while waiting for a server"));
  const Status all = session_->for_each(urls.size(), [this, &targets, &looked](std::size_t i) {
    looked[i] = targets[i].ok() ? headrace::look_at(session_.get(), &*targets[i]) : targets[i].status();
  });
  std::vector<Result<ShardFile>> files;
  files.reserve(urls.size());
  for (std::size_t i = 0; i < urls.size(); ++i) {
    if (!all.ok()) {
      files.emplace_back(all);
    } else if (!looked[i].ok()) {
      files.emplace_back(looked[i]);
    } else {
      files.emplace_back(shard_of(std::move(*targets[i])));
    }
  }
  return files;
}

Result<ObjectPage> Finder::list_page(const RemoteTarget& place, const ListQuery& query) {
  for (;;) {
    HEADRACE_ASSIGN_OR_RETURN(const HttpAnswer answer,
                              session_->ask([&] { return place.store->list(query); }, kMostPageBytes));
    if (answer.response.ok()) {
      const std::span body(reinterpret_cast<const std::uint8_t*>(answer.body.data()), answer.body.size());
      return place.store->parse_page(body);
    }
    const Judgement judgement = judge_refusal(place, answer.response, answer.body);
    if (judgement.kind != Judgement::Kind::kAgain) return judgement.failure;
  }
}

Result<std::vector<ShardFile>> Finder::list(const std::string& url, const BucketUrl& place, ListQuery query,
                                            const std::function<bool(const std::string&)>& keeps) {
  HEADRACE_ASSIGN_OR_RETURN(const std::shared_ptr<ObjectStore> store, bucket_store(place));
  const RemoteTarget folder{.store = store, .key = query.prefix, .path = url};
  const std::string base = place.scheme + "://" + place.bucket + "/";
  std::vector<ShardFile> files;
  do {
    Result<ObjectPage> page = list_page(folder, query);
    if (!page.ok()) {
      const Status& failure = page.status();
      return Status(failure.code(), "cannot list the folder: " + failure.message(), {.path = url});
    }
    for (ObjectPage::Entry& entry : page->entries) {
      if (entry.key == query.prefix || entry.key.ends_with('/') || !keeps(entry.key)) continue;
      files.push_back(shard_of({.store = store,
                                .key = entry.key,
                                .path = base + entry.key,
                                .size = entry.bytes,
                                .version = std::move(entry.version)}));
    }
    query.page = std::move(page->next);
  } while (!query.page.empty());
  std::sort(files.begin(), files.end(), [](const ShardFile& a, const ShardFile& b) { return a.path < b.path; });
  return files;
}

Result<std::vector<ShardFile>> Finder::match(const std::string& url) {
  HEADRACE_ASSIGN_OR_RETURN(const BucketUrl place, parse(url));
  const std::string& pattern = place.key;
  const std::size_t glob = std::min(pattern.find_first_of("*?["), pattern.size());
  const bool is_flat = pattern.find('/', glob) == std::string::npos;
  return list(url, place, {.prefix = pattern.substr(0, glob), .is_flat = is_flat}, [&pattern](const std::string& key) {
    return key == pattern || ::fnmatch(pattern.c_str(), key.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
  });
}

Result<std::vector<ShardFile>> Finder::list_folder(const std::string& url) {
  HEADRACE_ASSIGN_OR_RETURN(const BucketUrl place, parse(url));
  const bool is_whole = place.key.empty() || place.key.ends_with('/');
  return list(url, place, {.prefix = is_whole ? place.key : place.key + "/", .is_flat = true},
              [](const std::string&) { return true; });
}

}  // namespace

Result<std::unique_ptr<RemoteFinder>> make_remote_finder(const RemoteOptions& options, const std::stop_token& stop) {
  HEADRACE_ASSIGN_OR_RETURN(const int timeout, environment_remote_timeout());
  HEADRACE_ASSIGN_OR_RETURN(const int attempts, environment_remote_attempts());
  const RemoteLimits limits{.timeout = std::chrono::seconds(timeout), .attempts = attempts};
  std::unique_ptr<PartCache> cache;
  if (!options.cache_dir.empty()) {
    HEADRACE_ASSIGN_OR_RETURN(cache, PartCache::open(options.cache_dir, options.cache_bytes));
  }
  return std::unique_ptr<RemoteFinder>(
      std::make_unique<Finder>(std::make_shared<RemoteSession>(options, limits, std::move(cache), stop)));
}

}  // namespace headrace
