#include "headrace/running.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <tuple>

#include "base/utf8.h"
#include "insight/report_json.h"
#include "runtime/page_report.h"
#include "runtime/run_folder.h"
#include "runtime/status_page.h"

namespace headrace {
namespace {

// A page of another process, mapped for reading.
class MappedPage {
 public:
  explicit MappedPage(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return;
    struct stat info {};
    // A shorter file would be a SIGBUS; its owner never makes it shorter.
    if (::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= kBytes) {
      memory_ = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, descriptor, 0);
    }
    ::close(descriptor);
  }
  ~MappedPage() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, kBytes);
  }
  MappedPage(const MappedPage&) = delete;
  MappedPage& operator=(const MappedPage&) = delete;

  const StatusWords* words() const { return memory_ == MAP_FAILED ? nullptr : static_cast<StatusWords*>(memory_); }

 private:
  static constexpr off_t kBytes = sizeof(StatusWords);
  void* memory_ = MAP_FAILED;
};

template <std::size_t Size>
std::string text_of(const std::array<char, Size>& name) {
  return {name.begin(), std::find(name.begin(), name.end(), '\0')};
}

std::optional<RunningPipeline> read_page(const std::string& path) {
  const MappedPage page(path);
  const StatusWords* words = page.words();
  if (words == nullptr || words->magic != StatusWords::kMagic || words->version != StatusWords::kVersion) return {};
  if (process_start(words->process) != words->process_start) return {};
  RunningPipeline running;
  running.process = words->process;
  running.name = text_of(words->name);
  running.open_seconds = static_cast<double>(now_ns() - words->opened_ns) * 1e-9;
  running.threads = words->threads;
  running.epoch = words->epoch.load();
  running.batches = words->batches.load();
  running.record_bytes = words->record_bytes.load();
  running.batch_bytes = words->batch_bytes.load();
  const std::size_t stages = std::min<std::size_t>(words->stages.load(std::memory_order_acquire), StatusWords::kStages);
  for (std::size_t i = 0; i < stages; ++i) {
    running.stages.push_back(stage_report(text_of(words->stage[i].name), words->stage[i].probe));
  }
  running.waits = wait_reports(words->waits);
  running.replicas = replica_reports(*words);
  return running;
}

}  // namespace

std::vector<RunningPipeline> running_pipelines() {
  std::vector<RunningPipeline> all;
  const std::string folder = run_folder();
  if (folder.empty()) return all;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".status") continue;
    if (std::optional<RunningPipeline> running = read_page(entry.path())) all.push_back(std::move(*running));
  }
  std::sort(all.begin(), all.end(), [](const RunningPipeline& a, const RunningPipeline& b) {
    return std::tuple(a.process, -a.open_seconds) < std::tuple(b.process, -b.open_seconds);
  });
  return all;
}

std::string to_json(const RunningPipeline& running) {
  nlohmann::ordered_json json;
  json["process"] = running.process;
  json["name"] = printable_utf8(running.name, kMaxPathBytes);
  json["open_seconds"] = running.open_seconds;
  json["stages"] = stages_json(running.stages);
  json["epoch"] = running.epoch;
  json["batches"] = running.batches;
  json["waits"] = waits_json(running.waits);
  json["replicas"] = replicas_json(running.replicas);
  json["threads"] = running.threads;
  json["record_bytes"] = running.record_bytes;
  json["batch_bytes"] = running.batch_bytes;
  return json.dump();
}

}  // namespace headrace
