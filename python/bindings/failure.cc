#include "failure.h"

#include <new>
#include <system_error>

#include "headrace/no_memory.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

nb::object text_or_none(const std::string& text) {
  return text.empty() ? nb::object(nb::none()) : text_to_python(text);
}

nb::object number_or_none(std::int64_t number) {
  return number < 0 ? nb::object(nb::none()) : nb::object(nb::int_(number));
}

// An exception of the library as the one that stands for it in Python.
void translate(const std::exception_ptr& exception, void* /*unused*/) {
  Status failure;
  try {
    std::rethrow_exception(exception);
  } catch (const std::bad_alloc&) {
    failure = no_memory();
  } catch (const std::system_error& error) {
    failure =
        Status(StatusCode::kResourceExhausted, std::string("the system starts no further thread: ") + error.what());
  }
  try {
    raise(failure);
  } catch (nb::python_error& raised) {
    raised.restore();
  }
}

}  // namespace

void translate_exceptions() { nb::register_exception_translator(translate); }

void raise(const Status& failure) {
  // A signal whose handler raised ended the call.
  if (failure.code() == StatusCode::kCancelled && PyErr_Occurred() != nullptr) throw nb::python_error();
  const Where& where = failure.where();
  const std::string_view code = to_string(failure.code());
  nb::object from_status = nb::module_::import_("headrace.errors").attr("from_status");
  nb::object error = from_status(nb::str(code.data(), code.size()), text_to_python(failure.to_string()),
                                 text_to_python(failure.message()),
                                 where.path.empty() ? nb::object(nb::none()) : path_to_python(where.path),
                                 number_or_none(where.record), number_or_none(where.offset), text_or_none(where.key),
                                 number_or_none(where.row), text_or_none(where.expected), text_or_none(where.found));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

nb::object path_to_python(const std::string& path) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

nb::object text_to_python(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

DType dtype_or_raise(std::string_view name) {
  const std::optional<DType> dtype = dtype_from_string(name);
  if (!dtype) raise(invalid_argument("dtype: unknown element type '" + std::string(name) + "'"));
  return *dtype;
}

}  // namespace headrace::python
