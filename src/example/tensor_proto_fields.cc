#include "example/tensor_proto_fields.h"

#include <array>

namespace headrace {
namespace {

struct TensorFlowType {
  std::string_view name;
  std::optional<DType> dtype;
};
// Indexed by TensorFlow's DataType number.
constexpr std::array<TensorFlowType, 34> kTypes = {{{"", {}},
                                                    {"float", DType::kFloat32},
                                                    {"double", DType::kFloat64},
                                                    {"int32", DType::kInt32},
                                                    {"uint8", DType::kUint8},
                                                    {"int16", DType::kInt16},
                                                    {"int8", DType::kInt8},
                                                    {"string", DType::kBytes},
                                                    {"complex64", DType::kComplex64},
                                                    {"int64", DType::kInt64},
                                                    {"bool", DType::kBool},
                                                    {"qint8", {}},
                                                    {"quint8", {}},
                                                    {"qint32", {}},
                                                    {"bfloat16", DType::kBfloat16},
                                                    {"qint16", {}},
                                                    {"quint16", {}},
                                                    {"uint16", DType::kUint16},
                                                    {"complex128", DType::kComplex128},
                                                    {"half", DType::kFloat16},
                                                    {"resource", {}},
                                                    {"variant", {}},
                                                    {"uint32", DType::kUint32},
                                                    {"uint64", DType::kUint64},
                                                    {"float8_e5m2", DType::kFloat8E5m2},
                                                    {"float8_e4m3fn", DType::kFloat8E4m3fn},
                                                    {"float8_e4m3fnuz", DType::kFloat8E4m3fnuz},
                                                    {"float8_e4m3b11fnuz", DType::kFloat8E4m3b11fnuz},
                                                    {"float8_e5m2fnuz", DType::kFloat8E5m2fnuz},
                                                    {"int4", {}},
                                                    {"uint4", {}},
                                                    {"int2", {}},
                                                    {"uint2", {}},
                                                    {"float4_e2m1fn", {}}}};

constexpr std::array<std::string_view, TensorFields::kLastTyped + 1> kFieldNames = {"",
                                                                                    "",
                                                                                    "",
                                                                                    "",
                                                                                    "",
                                                                                    "float_val",
                                                                                    "double_val",
                                                                                    "int_val",
                                                                                    "string_val",
                                                                                    "scomplex_val",
                                                                                    "int64_val",
                                                                                    "bool_val",
                                                                                    "dcomplex_val",
                                                                                    "half_val",
                                                                                    "resource_handle_val",
                                                                                    "variant_val",
                                                                                    "uint32_val",
                                                                                    "uint64_val",
                                                                                    "float8_val"};

// Indexed by our dtype: TensorFlow's number, the typed field.
struct Row {
  std::uint32_t number;
  std::uint32_t field;
};
constexpr std::array<Row, 22> kRows = {{{0, 0},   {10, 11},  // bool
                                        {6, 7},              // int8
                                        {5, 7},              // int16
                                        {3, 7},              // int32
                                        {9, 10},             // int64
                                        {4, 7},              // uint8
                                        {17, 7},             // uint16
                                        {22, 16},            // uint32
                                        {23, 17},            // uint64
                                        {19, 13},            // float16
                                        {14, 13},            // bfloat16
                                        {1, 5},              // float32
                                        {2, 6},              // float64
                                        {8, 9},              // complex64
                                        {18, 12},            // complex128
                                        {7, 8},              // bytes
                                        {24, 18},            // float8_e5m2
                                        {25, 18},            // float8_e4m3fn
                                        {26, 18},            // float8_e4m3fnuz
                                        {27, 18},            // float8_e4m3b11fnuz
                                        {28, 18}}};          // float8_e5m2fnuz

const Row& row(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::optional<DType> dtype_of_tensorflow(std::uint64_t number) {
  return number < kTypes.size() ? kTypes[number].dtype : std::nullopt;
}

std::uint32_t tensorflow_number(DType dtype) { return row(dtype).number; }

std::string_view tensorflow_name(std::uint64_t number) {
  return number < kTypes.size() ? kTypes[number].name : std::string_view();
}

std::uint32_t typed_field_of(DType dtype) { return row(dtype).field; }

bool is_typed_field(std::uint32_t number) {
  return number >= TensorFields::kFirstTyped && number <= TensorFields::kLastTyped;
}

bool is_message_field(std::uint32_t number) {
  return number == TensorFields::kResourceHandleVal || number == TensorFields::kVariantVal;
}

std::string_view typed_field_name(std::uint32_t number) { return kFieldNames[number]; }

}  // namespace headrace
