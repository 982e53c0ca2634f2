#include "export.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "failure.h"
#include "numpy_abi.h"

namespace nb = nanobind;

namespace headrace::python {
namespace {

constexpr std::size_t kAlignment = 256;
// One more than the largest number of a dtype.
constexpr std::size_t kDTypes = static_cast<std::size_t>(DType::kFloat8E5m2fnuz) + 1;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

struct OwnedBuffer {
  OwnedBuffer(std::uint8_t* data, std::size_t bytes) : memory(data), buffer(data, bytes) {}
  std::unique_ptr<std::uint8_t, Free> memory;
  Buffer buffer;
};

// Where an array without elements points to: consumers check alignment before they look at the count.
alignas(kAlignment) std::uint8_t no_elements[kAlignment];

std::uint8_t* data_of(const Tensor& tensor) { return tensor.data != nullptr ? tensor.data : no_elements; }

const Device* device_of(const Tensor& tensor) { return tensor.buffer != nullptr ? tensor.buffer->device() : nullptr; }

std::string not_on_host(const Device& device) {
  return "the column is in the memory of " + device.name +
         ", which the host cannot read: take it by __dlpack__, as torch.from_dlpack does, or deliver to /CPU:n";
}

dlpack::DataType dlpack_type(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(size_of(dtype) * 8);
  switch (dtype) {
    case DType::kBool:
      return {dlpack::kBool, 8, 1};
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
      return {dlpack::kInt, bits, 1};
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return {dlpack::kUInt, bits, 1};
    case DType::kBfloat16:
      return {dlpack::kBfloat, bits, 1};
    case DType::kComplex64:
    case DType::kComplex128:
      return {dlpack::kComplex, bits, 1};
    case DType::kFloat8E5m2:
      return {dlpack::kFloat8E5m2, bits, 1};
    case DType::kFloat8E4m3fn:
      return {dlpack::kFloat8E4m3fn, bits, 1};
    case DType::kFloat8E4m3fnuz:
      return {dlpack::kFloat8E4m3fnuz, bits, 1};
    case DType::kFloat8E4m3b11fnuz:
      return {dlpack::kFloat8E4m3b11fnuz, bits, 1};
    case DType::kFloat8E5m2fnuz:
      return {dlpack::kFloat8E5m2fnuz, bits, 1};
    default:
      return {dlpack::kFloat, bits, 1};
  }
}

// PEP 3118 formats; null = none exists.
const char* buffer_format(DType dtype) {
  static constexpr std::array<const char*, 15> kFormats = {"?", "b", "h",     "i", "q", "B",  "H", "I",
                                                           "Q", "e", nullptr, "f", "d", "Zf", "Zd"};
  const std::size_t index = static_cast<std::size_t>(dtype) - 1;
  return index < kFormats.size() ? kFormats[index] : nullptr;
}

// Strides in steps of `unit` (1 for DLPack, the item size for buffers), C order.
void fill_strides(const Shape& shape, std::int64_t unit, std::int64_t* strides) {
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = unit;
    unit *= shape[d];
  }
}

// What a capsule owns. Managed is one of DLPack's two forms.
template <class Managed>
struct Exported {
  Managed managed{};
  BufferPtr buffer;
  std::vector<std::int64_t> shape_and_strides;

  static void destroy(Managed* managed) { std::unique_ptr<Exported>(static_cast<Exported*>(managed->context)).reset(); }
};

template <class Managed>
std::unique_ptr<Exported<Managed>> export_tensor(const Tensor& tensor) {
  auto exported = std::make_unique<Exported<Managed>>();
  const std::size_t rank = tensor.shape.size();
  exported->buffer = tensor.buffer;
  exported->shape_and_strides.resize(2 * rank);
  std::int64_t* shape = exported->shape_and_strides.data();
  std::copy(tensor.shape.begin(), tensor.shape.end(), shape);
  fill_strides(tensor.shape, 1, shape + rank);
  exported->managed.tensor = {.data = data_of(tensor),
                              .device = dlpack_device(tensor),
                              .ndim = static_cast<std::int32_t>(rank),
                              .dtype = dlpack_type(tensor.dtype),
                              .shape = shape,
                              .strides = shape + rank,
                              .byte_offset = 0};
  exported->managed.context = exported.get();
  exported->managed.deleter = Exported<Managed>::destroy;
  return exported;
}

// A consumer renames the capsule when it takes the tensor over; one that nobody took frees it here.
template <class Managed>
nb::object wrap_in_capsule(std::unique_ptr<Exported<Managed>> exported, const char* name,
                           PyCapsule_Destructor destroy) {
  PyObject* capsule = PyCapsule_New(&exported->managed, name, destroy);
  if (capsule == nullptr) throw nb::python_error();
  exported.release();  // the capsule owns it now
  return nb::steal(capsule);
}

constexpr const char* kClassicName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

template <class Managed>
void destroy_capsule(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

}  // namespace

dlpack::Device dlpack_device(const Tensor& tensor) {
  const Device* const device = device_of(tensor);
  if (device == nullptr) return {dlpack::kDeviceCpu, 0};
  return {dlpack::kDeviceCuda, device->index};
}

void require_host(const Tensor& tensor) {
  const Device* const device = device_of(tensor);
  if (device != nullptr) raise({StatusCode::kDevice, not_on_host(*device)});
}

BufferPtr make_buffer(std::size_t bytes) {
  const std::size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  auto* data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, rounded));
  if (data == nullptr) raise({StatusCode::kResourceExhausted, "no memory for " + std::to_string(bytes) + " bytes"});
  std::memset(data, 0, rounded);
  auto owned = std::make_shared<OwnedBuffer>(data, bytes);
  return BufferPtr(owned, &owned->buffer);
}

Tensor make_tensor(DType dtype, Shape shape) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape)};
  tensor.buffer = make_buffer(tensor.bytes());
  tensor.data = tensor.buffer->data();
  return tensor;
}

Tensor copy_tensor(const Tensor& tensor) {
  Tensor copy = make_tensor(tensor.dtype, tensor.shape);
  if (tensor.bytes() > 0) std::memcpy(copy.data, tensor.data, tensor.bytes());
  return copy;
}

nb::object classic_capsule(const Tensor& tensor) {
  using Managed = dlpack::ManagedTensor;
  return wrap_in_capsule(export_tensor<Managed>(tensor), kClassicName,
                         [](PyObject* capsule) { destroy_capsule<Managed>(capsule, kClassicName); });
}

nb::object versioned_capsule(const Tensor& tensor, bool is_copy) {
  using Managed = dlpack::ManagedTensorVersioned;
  auto exported = export_tensor<Managed>(tensor);
  exported->managed.version = {1, 0};
  exported->managed.flags = is_copy ? dlpack::kFlagIsCopied : 0;
  return wrap_in_capsule(std::move(exported), kVersionedName,
                         [](PyObject* capsule) { destroy_capsule<Managed>(capsule, kVersionedName); });
}

int fill_buffer_view(PyObject* exporter, const Tensor& tensor, Py_buffer* view, int flags) {
  if (const Device* const device = device_of(tensor)) {
    PyErr_Format(PyExc_BufferError, "headrace: %s", not_on_host(*device).c_str());
    return -1;
  }
  const char* format = buffer_format(tensor.dtype);
  if ((flags & PyBUF_FORMAT) != 0 && format == nullptr) {
    PyErr_Format(PyExc_BufferError, "headrace: %s has no buffer format; use numpy() or __dlpack__",
                 std::string(to_string(tensor.dtype)).c_str());
    return -1;
  }
  const std::size_t rank = tensor.shape.size();
  auto* dimensions = static_cast<std::int64_t*>(std::malloc(sizeof(std::int64_t) * (2 * rank + 1)));
  if (dimensions == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  std::copy(tensor.shape.begin(), tensor.shape.end(), dimensions);
  const auto item_size = static_cast<std::int64_t>(size_of(tensor.dtype));
  fill_strides(tensor.shape, item_size, dimensions + rank);
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  auto* sizes = reinterpret_cast<Py_ssize_t*>(dimensions);
  view->obj = Py_NewRef(exporter);
  view->buf = data_of(tensor);
  view->len = static_cast<Py_ssize_t>(tensor.bytes());
  view->readonly = 0;
  view->itemsize = item_size;
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format) : nullptr;
  view->ndim = static_cast<int>(rank);
  view->shape = (flags & PyBUF_ND) != 0 ? sizes : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? sizes + rank : nullptr;
  view->suboffsets = nullptr;
  view->internal = dimensions;
  return 0;
}

void release_buffer_view(Py_buffer* view) { std::free(view->internal); }

nb::object numpy_dtype(DType dtype) {
  static std::array<PyObject*, kDTypes> cache{};
  PyObject*& cached = cache[static_cast<std::size_t>(dtype)];
  if (cached == nullptr) {
    nb::object made;
    if (dtype != DType::kBytes && buffer_format(dtype) == nullptr) {
      made = nb::module_::import_("headrace.dtypes").attr("ml_dtype")(dtype_name(dtype));
    } else {
      made = nb::module_::import_("numpy").attr("dtype")(dtype == DType::kBytes ? nb::str("O") : dtype_name(dtype));
    }
    cached = made.release().ptr();  // for the life of the process
  }
  return nb::borrow(cached);
}

nb::tuple shape_tuple(std::span<const std::int64_t> shape) {
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(shape.size()));
  if (tuple == nullptr) throw nb::python_error();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(d), PyLong_FromLongLong(shape[d]));
  }
  return nb::steal<nb::tuple>(tuple);
}

nb::object dtype_name(DType dtype) {
  static std::array<PyObject*, kDTypes> cache{};
  PyObject*& cached = cache[static_cast<std::size_t>(dtype)];
  if (cached == nullptr) cached = PyUnicode_InternFromString(std::string(to_string(dtype)).c_str());
  return nb::borrow(cached);
}

nb::object numpy_view(nb::handle owner, const Tensor& tensor) {
  static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
  require_host(tensor);
  const numpy_abi::Table& numpy = numpy_abi::load();
  constexpr int kFlags = numpy_abi::kCContiguous | numpy_abi::kAligned | numpy_abi::kWriteable;
  nb::object dtype = numpy_dtype(tensor.dtype);
  PyObject* array = numpy.new_from_descr(numpy.ndarray, dtype.release().ptr(), static_cast<int>(tensor.shape.size()),
                                         reinterpret_cast<const Py_ssize_t*>(tensor.shape.data()), nullptr,
                                         data_of(tensor), kFlags, nullptr);
  if (array == nullptr) throw nb::python_error();
  nb::object view = nb::steal(array);
  if (numpy.set_base_object(array, owner.inc_ref().ptr()) != 0) throw nb::python_error();
  return view;
}

}  // namespace headrace::python
