#include "python_files.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "failure.h"
#include "waiting.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

// A Python object that threads without the interpreter lock own. When the interpreter goes away before its last owner, it is
// left to the end of the process.
class Owned {
 public:
  explicit Owned(nb::object object) : object_(object.release()) {}
  ~Owned() {
    const WithGil locked;
    if (locked) object_.dec_ref();
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  nb::handle get() const { return object_; }

 private:
  const nb::handle object_;
};

// What a Python function raised, as a Status. The caller has the lock.
Status failure_of(const nb::python_error& error) {
  const nb::object words = nb::module_::import_("headrace.provided").attr("describe")(error.value());
  const auto code = nb::cast<std::string>(words[0]);
  const auto text = nb::cast<std::string>(words[1]);
  if (code == "not_found") return {StatusCode::kNotFound, text};
  if (code == "permission_denied") return {StatusCode::kPermissionDenied, text};
  return {StatusCode::kIo, text};
}

// Runs `call` with the lock; what it raises is a failure, and so is an interpreter that is gone.
template <class T, class Call>
Result<T> with_python(const Call& call) {
  const WithGil locked;
  if (!locked) return cancelled("the interpreter ends");
  try {
    return call();
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_KeyboardInterrupt)) return failure_of(error);
    error.restore();  // raise() raises it
    return cancelled("interrupted");
  } catch (const nb::cast_error&) {
    return Status(StatusCode::kIo, "a function of Python returned something else than it should");
  }
}

class PythonFile : public ProvidedFile {
 public:
  explicit PythonFile(nb::object file) : file_(std::move(file)) {}
  ~PythonFile() override {
    const Result<bool> closed = with_python<bool>([this]() -> Result<bool> {
      file_.get().attr("close")();
      return true;
    });
    static_cast<void>(closed);  // all that was wanted of the file has been read
  }

  Result<std::size_t> read_at(std::uint8_t* data, std::size_t size, std::uint64_t offset) override {
    return with_python<std::size_t>([&]() -> Result<std::size_t> {
      const auto bytes = nb::cast<nb::bytes>(file_.get().attr("read_at")(offset, size));
      if (bytes.size() > size) return Status(StatusCode::kIo, "read() gave more bytes than it was asked for");
      std::memcpy(data, bytes.data(), bytes.size());
      return bytes.size();
    });
  }

 private:
  const Owned file_;
};

class PythonFiles : public FileProvider {
 public:
  explicit PythonFiles(nb::object files) : files_(std::move(files)) {}

  Result<std::vector<Entry>> find(const std::vector<std::string>& items, bool is_list) const override {
    return with_python<std::vector<Entry>>([&]() -> Result<std::vector<Entry>> {
      nb::list names;
      for (const std::string& item : items) names.append(path_to_python(item));
      std::vector<Entry> entries;
      for (const nb::handle found : files_.get().attr("find")(names, is_list)) {
        const nb::object path = nb::module_::import_("os").attr("fsencode")(found[0]);
        entries.push_back({std::string(to_view(nb::cast<nb::bytes>(path))), nb::cast<std::uint64_t>(found[1])});
      }
      return entries;
    });
  }
  Result<std::unique_ptr<ProvidedFile>> open(const std::string& path) const override {
    return with_python<std::unique_ptr<ProvidedFile>>([&]() -> Result<std::unique_ptr<ProvidedFile>> {
      return std::unique_ptr<ProvidedFile>(
          std::make_unique<PythonFile>(files_.get().attr("open")(path_to_python(path))));
    });
  }
  std::string name() const override { return "Python IO"; }

 private:
  const Owned files_;
};

}  // namespace

std::shared_ptr<const FileProvider> make_python_files(nb::object files) {
  if (files.is_none()) return nullptr;
  return std::make_shared<PythonFiles>(std::move(files));
}

}  // namespace headrace::python
