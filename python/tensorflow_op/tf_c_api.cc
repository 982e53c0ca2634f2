// The look-up behind tf_c_api.h.
#include "tf_c_api.h"

#include <dlfcn.h>

namespace headrace::tf {
namespace {

constexpr const char* kLibraries[] = {"libtensorflow_framework.so.2", "libtensorflow_framework.so",
                                      "libtensorflow_framework.2.dylib"};

void* loaded_tensorflow() {
  for (const char* name : kLibraries) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  return nullptr;
}

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool fill(void* library, Api& api) {
#define HEADRACE_FIND(name) find(library, #name, api.name)
  return HEADRACE_FIND(TF_NewStatus) && HEADRACE_FIND(TF_DeleteStatus) && HEADRACE_FIND(TF_SetStatus) &&
         HEADRACE_FIND(TF_GetCode) && HEADRACE_FIND(TF_NewTensor) && HEADRACE_FIND(TF_AllocateTensor) &&
         HEADRACE_FIND(TF_DeleteTensor) && HEADRACE_FIND(TF_TensorData) && HEADRACE_FIND(TF_GetInput) &&
         HEADRACE_FIND(TF_SetOutput) && HEADRACE_FIND(TF_NumOutputs) && HEADRACE_FIND(TF_ExpectedOutputDataType) &&
         HEADRACE_FIND(TF_OpKernelContext_Failure) && HEADRACE_FIND(TF_NewKernelBuilder) &&
         HEADRACE_FIND(TF_RegisterKernelBuilder) && HEADRACE_FIND(TF_NewOpDefinitionBuilder) &&
         HEADRACE_FIND(TF_OpDefinitionBuilderAddInput) && HEADRACE_FIND(TF_OpDefinitionBuilderAddOutput) &&
         HEADRACE_FIND(TF_OpDefinitionBuilderAddAttr) && HEADRACE_FIND(TF_OpDefinitionBuilderSetIsStateful) &&
         HEADRACE_FIND(TF_OpDefinitionBuilderSetShapeInferenceFunction) && HEADRACE_FIND(TF_RegisterOpDefinition) &&
         HEADRACE_FIND(TF_ShapeInferenceContextSetUnknownShape);
#undef HEADRACE_FIND
}

}  // namespace

const Api* load_tf_api() {
  static Api api{};
  static const bool complete = [] {
    void* library = loaded_tensorflow();
    return library != nullptr && fill(library, api);
  }();
  return complete ? &api : nullptr;
}

}  // namespace headrace::tf
