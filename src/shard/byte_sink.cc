#include "shard/byte_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <vector>

#include "shard/file.h"

namespace headrace {
namespace {

constexpr std::size_t kDeflatedBytes = 64 * 1024;
constexpr std::size_t kLargestStep = std::size_t{1} << 30;  // zlib counts in 32 bits

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

// Hidden, so that a pattern or a folder never takes a half-written file for a shard.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> number{0};
  const std::size_t slash = path.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  // A name may have 255 bytes; the tail tells files of one name pattern apart.
  constexpr std::size_t kKeptBytes = 200;
  const std::string base = path.substr(name);
  const std::string kept = base.size() <= kKeptBytes ? base : base.substr(base.size() - kKeptBytes);
  return path.substr(0, name) + "." + kept + ".tmp" + std::to_string(getpid()) + "-" + std::to_string(number++);
}

}  // namespace

class ByteSink::Deflater {
 public:
  Deflater() = default;
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() {
    if (ready_) deflateEnd(&stream_);
  }

  bool init(Compression format, int level) {
    const int window = format == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
    constexpr int kMemoryLevel = 9;
    ready_ = deflateInit2(&stream_, level, Z_DEFLATED, window, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
    return ready_;
  }

  /// Gives what comes out for `bytes` (and, at the end, all that is left) to `write(data, size)`.
  template <class Write>
  Status run(std::span<const std::uint8_t> bytes, bool end, Write write) {
    do {
      const auto step = static_cast<uInt>(std::min(bytes.size(), kLargestStep));
      stream_.next_in = const_cast<Bytef*>(bytes.data());  // it does not write
      stream_.avail_in = step;
      bytes = bytes.subspan(step);
      const int flush = end && bytes.empty() ? Z_FINISH : Z_NO_FLUSH;
      do {
        stream_.next_out = out_.data();
        stream_.avail_out = static_cast<uInt>(out_.size());
        deflate(&stream_, flush);  // it fails only on a broken stream_
        HEADRACE_RETURN_IF_ERROR(write(out_.data(), out_.size() - stream_.avail_out));
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
    return {};
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
  std::vector<std::uint8_t> out_ = std::vector<std::uint8_t>(kDeflatedBytes);
};

ByteSink::ByteSink(std::string path, std::string temporary, int descriptor, std::unique_ptr<Deflater> deflater)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor),
      deflater_(std::move(deflater)) {}

ByteSink::~ByteSink() { abandon(); }

Result<std::unique_ptr<ByteSink>> ByteSink::create(const std::string& path, Compression compression, int level) {
  std::unique_ptr<Deflater> deflater;
  if (compression == Compression::kGzip || compression == Compression::kZlib) {
    deflater = std::make_unique<Deflater>();
    if (!deflater->init(compression, level)) {
      return invalid_argument("compression level " + std::to_string(level) + " is not one of 0 to 9");
    }
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return file_failure("cannot write", path, EISDIR);
  std::string temporary = temporary_name(path);
  constexpr mode_t kMode = 0666;  // cut down by the umask
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  if (descriptor < 0) return file_failure("cannot create", path, errno);
  return std::unique_ptr<ByteSink>(new ByteSink(path, std::move(temporary), descriptor, std::move(deflater)));
}

Status ByteSink::write_file(const std::uint8_t* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(descriptor_, data, std::min(size, kLargestStep));
    if (n >= 0) {
      data += n;
      size -= static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      return file_failure("cannot write", path_, errno);
    }
  }
  return {};
}

Status ByteSink::write(std::span<const std::uint8_t> bytes) {
  if (!status_.ok()) return status_;
  if (descriptor_ < 0) return invalid_argument("write() after close() of " + path_);
  const auto write = [this](const std::uint8_t* data, std::size_t size) { return write_file(data, size); };
  status_ = deflater_ != nullptr ? deflater_->run(bytes, false, write) : write(bytes.data(), bytes.size());
  if (!status_.ok()) abandon();
  return status_;
}

Status ByteSink::commit() {
  if (deflater_ != nullptr) {
    const auto write = [this](const std::uint8_t* data, std::size_t size) { return write_file(data, size); };
    HEADRACE_RETURN_IF_ERROR(deflater_->run({}, true, write));
  }
  if (::fsync(descriptor_) != 0) return file_failure("cannot write", path_, errno);
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    return file_failure("cannot write", path_, error);
  }
  // The new name is on the disk when its folder is. Some file systems cannot sync one, which is no failure.
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    (void)::fsync(folder);
    ::close(folder);
  }
  return {};
}

Status ByteSink::close() {
  if (!status_.ok() || descriptor_ < 0) return status_;
  status_ = commit();
  if (!status_.ok()) abandon();
  return status_;
}

void ByteSink::abandon() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  ::unlink(temporary_.c_str());
}

}  // namespace headrace
