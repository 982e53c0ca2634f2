// tf_c_api.h: the functions of TensorFlow's C kernel API that the ops call, found in the TensorFlow that is already loaded.
//
// No TensorFlow header is read and no TensorFlow library linked, so one binary serves every TensorFlow 2 that has these
// symbols. The declarations are TensorFlow's (tensorflow/c/{kernels,ops,tf_tensor,tf_status}.h), which are kept stable.
// load_tf_api() is called once, before any op is registered; afterwards the table is constant.
#pragma once

#include <cstddef>
#include <cstdint>

struct TF_Status;
struct TF_Tensor;
struct TF_OpKernelContext;
struct TF_OpKernelConstruction;
struct TF_KernelBuilder;
struct TF_OpDefinitionBuilder;
struct TF_ShapeInferenceContext;

namespace headrace::tf {

/// TF_DataType and TF_Code, as far as they are used here.
enum DataType : int {
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kBfloat16 = 14,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,
  kFloat8E4m3fn = 25,
  kFloat8E4m3fnuz = 26,
  kFloat8E4m3b11fnuz = 27,
  kFloat8E5m2fnuz = 28,
};
enum Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kOutOfRange = 11,
  kInternal = 13,
  kDataLoss = 15,
};

using Deallocator = void (*)(void* data, std::size_t bytes, void* argument);
using Create = void* (*)(TF_OpKernelConstruction*);
using Compute = void (*)(void*, TF_OpKernelContext*);
using Delete = void (*)(void*);
using ShapeFunction = void (*)(TF_ShapeInferenceContext*, TF_Status*);

struct Api {
  TF_Status* (*TF_NewStatus)();
  void (*TF_DeleteStatus)(TF_Status*);
  void (*TF_SetStatus)(TF_Status*, int code, const char* text);
  int (*TF_GetCode)(const TF_Status*);

  TF_Tensor* (*TF_NewTensor)(int type, const std::int64_t* dims, int rank, void*, std::size_t bytes, Deallocator,
                             void*);
  TF_Tensor* (*TF_AllocateTensor)(int type, const std::int64_t* dims, int rank, std::size_t bytes);
  void (*TF_DeleteTensor)(TF_Tensor*);
  void* (*TF_TensorData)(const TF_Tensor*);

  void (*TF_GetInput)(TF_OpKernelContext*, int index, TF_Tensor**, TF_Status*);
  void (*TF_SetOutput)(TF_OpKernelContext*, int index, const TF_Tensor*, TF_Status*);
  int (*TF_NumOutputs)(TF_OpKernelContext*);
  int (*TF_ExpectedOutputDataType)(TF_OpKernelContext*, int index);
  void (*TF_OpKernelContext_Failure)(TF_OpKernelContext*, TF_Status*);

  TF_KernelBuilder* (*TF_NewKernelBuilder)(const char* op, const char* device, Create, Compute, Delete);
  void (*TF_RegisterKernelBuilder)(const char* name, TF_KernelBuilder*, TF_Status*);

  TF_OpDefinitionBuilder* (*TF_NewOpDefinitionBuilder)(const char* op);
  void (*TF_OpDefinitionBuilderAddInput)(TF_OpDefinitionBuilder*, const char*);
  void (*TF_OpDefinitionBuilderAddOutput)(TF_OpDefinitionBuilder*, const char*);
  void (*TF_OpDefinitionBuilderAddAttr)(TF_OpDefinitionBuilder*, const char*);
  void (*TF_OpDefinitionBuilderSetIsStateful)(TF_OpDefinitionBuilder*, bool);
  void (*TF_OpDefinitionBuilderSetShapeInferenceFunction)(TF_OpDefinitionBuilder*, ShapeFunction);
  void (*TF_RegisterOpDefinition)(TF_OpDefinitionBuilder*, TF_Status*);
  void (*TF_ShapeInferenceContextSetUnknownShape)(TF_ShapeInferenceContext*, TF_Status*);
};

/// The table, or null when no TensorFlow is loaded or it lacks one of the symbols.
const Api* load_tf_api();

}  // namespace headrace::tf
