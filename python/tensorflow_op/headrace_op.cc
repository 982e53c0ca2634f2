// headrace_op.cc: three TensorFlow ops over a HeadraceSource (source_abi.h).
//
//   HeadraceOpen(dataset: int64) -> source: int64                                  a cursor of its own
//   HeadraceNext(source: int64, replica: int64; T) -> seed: int32[2], components: T  waits for the next slice of a replica
//   HeadraceClose(source: int64) -> done: int64                                    stops it
//
// Outcomes of HeadraceNext: values that share the engine's memory (strings have their own, see strings.h); OUT_OF_RANGE at the
// end of the stream; else the engine's failure under TensorFlow's code, with its full text. The kernels are synchronous, as
// TensorFlow's asynchronous C kernel hands out the address of a variable that is gone when the batch is ready. They block a
// TensorFlow thread, but take no lock of Python. Any number of threads may run them; per replica of one source one at a time.
#include <cstring>
#include <memory>

#include "headrace/status.h"
#include "headrace/types.h"
#include "source_abi.h"
#include "strings.h"
#include "tf_c_api.h"

namespace headrace::tf {
namespace {

const Api* api = nullptr;  // set before the ops are registered, constant afterwards

struct StatusHolder {
  TF_Status* status = api->TF_NewStatus();
  StatusHolder() = default;
  StatusHolder(const StatusHolder&) = delete;
  StatusHolder& operator=(const StatusHolder&) = delete;
  ~StatusHolder() { api->TF_DeleteStatus(status); }

  bool ok() const { return api->TF_GetCode(status) == kOk; }
  void fail(TF_OpKernelContext* context, int code, const char* text) {
    api->TF_SetStatus(status, code, text);
    api->TF_OpKernelContext_Failure(context, status);
  }
};

int data_type(std::int32_t dtype) {
  switch (static_cast<DType>(dtype)) {
    case DType::kBool:
      return kBool;
    case DType::kInt8:
      return kInt8;
    case DType::kInt16:
      return kInt16;
    case DType::kInt32:
      return kInt32;
    case DType::kInt64:
      return kInt64;
    case DType::kUint8:
      return kUint8;
    case DType::kUint16:
      return kUint16;
    case DType::kUint32:
      return kUint32;
    case DType::kUint64:
      return kUint64;
    case DType::kFloat16:
      return kHalf;
    case DType::kBfloat16:
      return kBfloat16;
    case DType::kFloat32:
      return kFloat;
    case DType::kFloat64:
      return kDouble;
    case DType::kComplex64:
      return kComplex64;
    case DType::kComplex128:
      return kComplex128;
    case DType::kFloat8E5m2:
      return kFloat8E5m2;
    case DType::kFloat8E4m3fn:
      return kFloat8E4m3fn;
    case DType::kFloat8E4m3fnuz:
      return kFloat8E4m3fnuz;
    case DType::kFloat8E4m3b11fnuz:
      return kFloat8E4m3b11fnuz;
    case DType::kFloat8E5m2fnuz:
      return kFloat8E5m2fnuz;
    case DType::kBytes:
      return kString;
  }
  return 0;
}

int error_code(std::int32_t code) {
  switch (static_cast<StatusCode>(code)) {
    case StatusCode::kOk:
    case StatusCode::kDevice:
      return kInternal;
    case StatusCode::kInvalidArgument:
    case StatusCode::kSchemaMismatch:  // as TensorFlow's own parse ops report it
      return kInvalidArgument;
    case StatusCode::kNotFound:
      return kNotFound;
    case StatusCode::kPermissionDenied:
      return kPermissionDenied;
    case StatusCode::kIo:
      return kUnknown;
    case StatusCode::kDataLoss:
      return kDataLoss;
    case StatusCode::kCancelled:
      return kCancelled;
    case StatusCode::kResourceExhausted:
      return kResourceExhausted;
  }
  return kInternal;
}

/// Scalar input `index`, or 0 after a failure.
std::int64_t scalar_input(TF_OpKernelContext* context, int index, StatusHolder& status) {
  TF_Tensor* tensor = nullptr;
  api->TF_GetInput(context, index, &tensor, status.status);
  if (!status.ok()) return 0;
  std::int64_t value = 0;
  std::memcpy(&value, api->TF_TensorData(tensor), sizeof(value));
  api->TF_DeleteTensor(tensor);
  return value;
}

/// The source whose address is input 0; null when it is none, and the kernel has failed then.
const HeadraceSource* source_input(TF_OpKernelContext* context, StatusHolder& status) {
  const auto* source = reinterpret_cast<const HeadraceSource*>(scalar_input(context, 0, status));
  if (status.ok() && source != nullptr && source->abi == kHeadraceSourceAbi) return source;
  status.fail(context, kInvalidArgument, "the input is not a headrace source of this version");
  return nullptr;
}

template <class Value>
bool set_small_output(TF_OpKernelContext* context, int index, int type, const std::int64_t* dims, int rank,
                      const Value* values, std::size_t count, StatusHolder& status) {
  TF_Tensor* tensor = api->TF_AllocateTensor(type, dims, rank, count * sizeof(Value));
  std::memcpy(api->TF_TensorData(tensor), values, count * sizeof(Value));
  api->TF_SetOutput(context, index, tensor, status.status);
  api->TF_DeleteTensor(tensor);
  if (!status.ok()) api->TF_OpKernelContext_Failure(context, status.status);
  return status.ok();
}

struct Release {
  Release(void (*release)(void*), void* of) : function(release), owner(of) {}
  void (*function)(void*);
  void* owner;
};

void release_tensor(void*, std::size_t, void* argument) {
  const std::unique_ptr<Release> tensor(static_cast<Release*>(argument));
  tensor->function(tensor->owner);
}

/// A tensor of what `from` holds, over the same memory but for strings; takes it over.
TF_Tensor* new_tensor(const HeadraceTensor& from) {
  const int type = data_type(from.dtype);
  if (type == kString) return own_strings(*api, from);
  return api->TF_NewTensor(type, from.dims, from.rank, from.data, from.bytes, release_tensor,
                           std::make_unique<Release>(from.release, from.owner).release());
}

void set_components(TF_OpKernelContext* context, const HeadraceSlice& slice, StatusHolder& status) {
  const int outputs = api->TF_NumOutputs(context) - 1;
  bool fits = outputs == slice.count;
  for (int i = 0; fits && i < outputs; ++i) {
    fits = api->TF_ExpectedOutputDataType(context, i + 1) == data_type(slice.tensors[i].dtype);
  }
  if (!fits) status.fail(context, kInternal, "the slice has other components than the op was told");
  for (int i = 0; i < slice.count; ++i) {
    const HeadraceTensor& from = slice.tensors[i];
    if (!fits || !status.ok()) {
      from.release(from.owner);
      continue;
    }
    TF_Tensor* tensor = new_tensor(from);
    if (tensor == nullptr) {
      status.fail(context, kInternal, "TensorFlow refused the memory of a component");
      continue;
    }
    api->TF_SetOutput(context, i + 1, tensor, status.status);
    api->TF_DeleteTensor(tensor);
    if (!status.ok()) api->TF_OpKernelContext_Failure(context, status.status);
  }
}

/// True for a value; else the kernel has failed as `slice` says.
bool is_value(TF_OpKernelContext* context, const HeadraceSlice& slice, StatusHolder& status) {
  if (slice.outcome == kHeadraceValue) return true;
  if (slice.outcome == kHeadraceEnd) {
    status.fail(context, kOutOfRange, "End of sequence");
  } else {
    status.fail(context, error_code(slice.code), slice.text);
  }
  return false;
}

void compute_next(void*, TF_OpKernelContext* context) {
  StatusHolder status;
  const HeadraceSource* source = source_input(context, status);
  if (source == nullptr) return;
  const std::int64_t replica = scalar_input(context, 1, status);
  if (!status.ok()) return api->TF_OpKernelContext_Failure(context, status.status);
  HeadraceSlice slice{};
  source->next(source->self, static_cast<std::int32_t>(replica), &slice);
  if (is_value(context, slice, status)) {
    const std::int64_t two = 2;
    set_small_output(context, 0, kInt32, &two, 1, slice.seed, 2, status);
    set_components(context, slice, status);
  }
  slice.release(slice.owner);
}

void compute_open(void*, TF_OpKernelContext* context) {
  StatusHolder status;
  const HeadraceSource* source = source_input(context, status);
  if (source == nullptr) return;
  HeadraceSlice slice{};
  source->open(source->self, &slice);
  if (is_value(context, slice, status)) set_small_output(context, 0, kInt64, nullptr, 0, &slice.source, 1, status);
  slice.release(slice.owner);
}

void compute_close(void*, TF_OpKernelContext* context) {
  StatusHolder status;
  const HeadraceSource* source = source_input(context, status);
  if (source == nullptr) return;
  source->close(source->self);
  const std::int64_t done = 1;
  set_small_output(context, 0, kInt64, nullptr, 0, &done, 1, status);
}

void unknown_shapes(TF_ShapeInferenceContext* context, TF_Status* status) {
  api->TF_ShapeInferenceContextSetUnknownShape(context, status);
}

/// False when TensorFlow refused the op. Empty arguments are left out.
bool register_op(const char* name, const char* attribute, const char* input, const char* second_input,
                 const char* output, const char* second_output, Compute compute) {
  StatusHolder status;
  TF_OpDefinitionBuilder* op = api->TF_NewOpDefinitionBuilder(name);
  if (*attribute != '\0') api->TF_OpDefinitionBuilderAddAttr(op, attribute);
  api->TF_OpDefinitionBuilderAddInput(op, input);
  if (*second_input != '\0') api->TF_OpDefinitionBuilderAddInput(op, second_input);
  api->TF_OpDefinitionBuilderAddOutput(op, output);
  if (*second_output != '\0') api->TF_OpDefinitionBuilderAddOutput(op, second_output);
  api->TF_OpDefinitionBuilderSetIsStateful(op, true);
  api->TF_OpDefinitionBuilderSetShapeInferenceFunction(op, unknown_shapes);
  api->TF_RegisterOpDefinition(op, status.status);
  if (!status.ok()) return false;
  TF_KernelBuilder* kernel = api->TF_NewKernelBuilder(name, "CPU", nullptr, compute, nullptr);
  api->TF_RegisterKernelBuilder(name, kernel, status.status);
  return status.ok();
}

bool register_all() {
  api = load_tf_api();
  return api != nullptr && register_op("HeadraceOpen", "", "dataset: int64", "", "source: int64", "", compute_open) &&
         register_op("HeadraceNext", "T: list(type) >= 1", "source: int64", "replica: int64", "seed: int32",
                     "components: T", compute_next) &&
         register_op("HeadraceClose", "", "source: int64", "", "done: int64", "", compute_close);
}

// tf.load_op_library() makes Python wrappers of the ops that were registered while the library was loaded.
const bool registered = register_all();

}  // namespace
}  // namespace headrace::tf

/// Whether the loaded TensorFlow knows the ops.
extern "C" bool headrace_ops_registered();
extern "C" bool headrace_ops_registered() { return headrace::tf::registered; }
