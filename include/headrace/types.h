// Element types and shapes of tensors. Values; no state.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace headrace {

/// The numbers are stable: they are part of saved specs and of the C interface of the TensorFlow op.
enum class DType : std::uint8_t {
  kBool = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUint8 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kUint64 = 9,
  kFloat16 = 10,
  kBfloat16 = 11,
  kFloat32 = 12,
  kFloat64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBytes = 16,  ///< variable-length byte strings (TensorFlow's tf.string)
  kFloat8E5m2 = 17,
  kFloat8E4m3fn = 18,
  kFloat8E4m3fnuz = 19,
  kFloat8E4m3b11fnuz = 20,
  kFloat8E5m2fnuz = 21,
};

/// Bytes of one element; 24 (a string header) for kBytes.
std::size_t size_of(DType dtype);
/// NumPy's name (bfloat16 and float8: that of ml_dtypes): "float32", "bool", …; "bytes" for kBytes.
std::string_view to_string(DType dtype);
/// The reverse; also takes "string" for kBytes.
std::optional<DType> dtype_from_string(std::string_view name);

/// Dimensions, outermost first; -1 = unknown, only where a contract says so. A sequence like std::vector, but up to kInline
/// dimensions lie in the object itself: a batch of many columns is made and dropped without an allocation for each.
class Shape {
 public:
  using value_type = std::int64_t;
  using iterator = std::int64_t*;
  using const_iterator = const std::int64_t*;
  static constexpr std::size_t kInline = 4;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dimensions) : Shape(dimensions.begin(), dimensions.end()) {}
  template <class Iterator>
  Shape(Iterator first, Iterator last) {
    insert(end(), first, last);
  }
  Shape(const Shape& other) : Shape(other.begin(), other.end()) {}
  Shape(Shape&& other) noexcept { swap(other); }
  Shape& operator=(Shape other) noexcept {
    swap(other);
    return *this;
  }
  ~Shape() = default;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t* data() { return more_ ? more_.get() : few_.data(); }
  const std::int64_t* data() const { return more_ ? more_.get() : few_.data(); }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  std::int64_t& operator[](std::size_t i) { return data()[i]; }
  std::int64_t operator[](std::size_t i) const { return data()[i]; }
  std::int64_t front() const { return data()[0]; }
  std::int64_t back() const { return data()[size_ - 1]; }
  friend bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

  void push_back(std::int64_t dimension) { insert(end(), &dimension, &dimension + 1); }
  void clear() { size_ = 0; }
  /// Inserts before `place`. The range is not part of this shape.
  template <class Iterator>
  void insert(const_iterator place, Iterator first, Iterator last) {
    const auto at = place - begin();
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    reserve(size_ + count);
    std::copy_backward(begin() + at, end(), end() + count);
    std::copy(first, last, begin() + at);
    size_ += count;
  }
  void insert(const_iterator place, std::int64_t dimension) { insert(place, &dimension, &dimension + 1); }
  void reserve(std::size_t room) {
    if (room <= room_) return;
    auto more = std::make_unique<std::int64_t[]>(2 * room);
    std::copy(begin(), end(), more.get());
    more_ = std::move(more);
    room_ = 2 * room;
  }
  void swap(Shape& other) noexcept {
    std::swap(few_, other.few_);
    std::swap(more_, other.more_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

 private:
  std::array<std::int64_t, kInline> few_{};
  std::unique_ptr<std::int64_t[]> more_;
  std::size_t size_ = 0;
  std::size_t room_ = kInline;
};

/// Product of the dimensions; 1 for a scalar. All must be >= 0 and the product must fit (checked where shapes enter).
std::int64_t element_count(const Shape& shape);

}  // namespace headrace
