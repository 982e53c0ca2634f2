#include "example/transform_program.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "example/transform_types.h"

namespace headrace {
namespace {

std::size_t wire_bytes(DType dtype) { return dtype == DType::kBytes ? sizeof(std::string_view) : size_of(dtype); }

// One element again and again.
std::vector<std::uint8_t> repeat(const std::uint8_t* element, std::size_t bytes, std::int64_t count) {
  std::vector<std::uint8_t> image(bytes * static_cast<std::size_t>(count));
  for (std::size_t at = 0; at < image.size(); at += bytes) std::memcpy(image.data() + at, element, bytes);
  return image;
}

}  // namespace

bool TransformProgram::fallible() const {
  return std::any_of(ops_.begin(), ops_.end(), [](const ValueOp& op) { return op.fallible; });
}

BadValue TransformProgram::run(const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                               TransformScratch& scratch) const {
  if (ops_.size() == 1) return {ops_[0].run(ops_[0], from, to, count, 0), 0};
  return run_pieces(ops_.size(), from, to, count, scratch);
}

BadValue TransformProgram::check(const std::uint8_t* from, std::int64_t count, TransformScratch& scratch) const {
  std::size_t ops = ops_.size();
  while (ops > 0 && !ops_[ops - 1].fallible) --ops;
  return run_pieces(ops, from, nullptr, count, scratch);
}

BadValue TransformProgram::run_pieces(std::size_t ops, const std::uint8_t* from, std::uint8_t* to, std::int64_t count,
                                      TransformScratch& scratch) const {
  std::int64_t done = 0;
  while (done < count) {
    std::int64_t piece = std::min(count - done, TransformScratch::kPiece);
    BadValue bad;
    const std::uint8_t* source = from;
    for (std::size_t i = 0; i < ops; ++i) {
      const ValueOp& op = ops_[i];
      std::uint8_t* const target = to != nullptr && i + 1 == ops ? to : scratch.pieces[i % 2];
      const std::int64_t failed = op.run(op, source, target, piece, done);
      if (failed >= 0) {  // an earlier value may still fail in a later transform
        bad = {done + failed, i};
        piece = failed;
      }
      source = target;
    }
    if (bad.index >= 0) return bad;
    done += piece;
    from += static_cast<std::size_t>(piece) * from_bytes_;
    if (to != nullptr) to += static_cast<std::size_t>(piece) * ops_[ops - 1].to_bytes;
  }
  return {};
}

Status TransformProgram::failure(const Feature& feature, std::size_t op, std::int64_t index) const {
  Where where;
  where.key = feature.wire_key();
  where.expected = ops_[op].expected;
  where.found = "another value at place " + std::to_string(index);
  return schema_mismatch("the value at place " + std::to_string(index) + " is not " + ops_[op].expected,
                         std::move(where));
}

// Walks the list once: checks, makes the ops, and notes where padding enters.
class TransformCompiler {
 public:
  explicit TransformCompiler(const Feature& feature) : feature_(feature) {}

  Result<TransformList> compile() {
    list_.type = plain_type(feature_);
    list_.wire_bytes = wire_bytes(feature_.dtype);
    for (place_ = 0; place_ < feature_.transforms.size(); ++place_) {
      before_ = list_.type.dtype;
      HEADRACE_RETURN_IF_ERROR(apply_to_type(feature_, place_, &list_.type));
      HEADRACE_RETURN_IF_ERROR(std::visit(*this, feature_.transforms[place_]));
    }
    fuse_pairs();
    list_.value_bytes = ops_.empty() ? list_.wire_bytes : ops_.back().to_bytes;
    list_.program = TransformProgram(std::move(ops_), list_.wire_bytes);
    HEADRACE_RETURN_IF_ERROR(make_padding());
    HEADRACE_RETURN_IF_ERROR(check_default());
    return std::move(list_);
  }

  Status operator()(const Cast& cast) {
    add_cast(before_, cast.dtype, &ops_);
    return {};
  }
  Status operator()(const Scale& scale) { return add(make_scale(before_, scale)); }
  Status operator()(const Normalize& normalize) { return add(make_normalize(before_, normalize)); }
  Status operator()(const Clip& clip) { return add(make_clip(before_, clip)); }
  Status operator()(const Log1p&) { return add(make_log1p(before_)); }
  Status operator()(const FillNan& fill) { return add(make_fill_nan(before_, fill)); }
  Status operator()(const Bucketize& bucketize) { return add(make_bucketize(before_, bucketize)); }
  Status operator()(const OneHot& one_hot) { return add(make_one_hot(before_, one_hot)); }
  Status operator()(const HashBucket& hash) { return add(make_hash_bucket(before_, hash)); }
  Status operator()(const Mod& mod) { return add(make_mod(before_, mod)); }
  Status operator()(const Lookup& lookup) {
    Result<ValueOp> op = make_lookup(before_, lookup);
    if (!op.ok()) return refuse_transform(feature_, place_, op.status().message());
    return add(std::move(*op));
  }
  Status operator()(const Truncate&) { return {}; }
  Status operator()(const Pad& pad) {
    pad_ = &pad;
    pad_dtype_ = before_;
    pad_op_ = ops_.size();
    return {};
  }

 private:
  Status add(ValueOp op) {
    ops_.push_back(std::move(op));
    return {};
  }

  void fuse_pairs() {
    for (std::size_t i = 0; i + 1 < ops_.size(); ++i) {
      if (pad_ != nullptr && pad_op_ == i + 1) continue;  // padding enters between the two
      ValueOp fused = fuse(ops_[i], ops_[i + 1]);
      if (fused.run == nullptr) continue;
      ops_[i] = std::move(fused);
      ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      if (pad_op_ > i) --pad_op_;
    }
  }

  // Values after which the padding repeats. Constants that differ along a row differ along a step, along all of the row
  // when a step is one value, and along the last dimension of a tensor, which is known then.
  std::int64_t padding_period() const {
    const Shape& shape = feature_.shape;
    if (pad_ != nullptr && shape.empty()) return std::max<std::int64_t>(1, pad_->count);
    if (!feature_.has_unknown_dims()) return std::max<std::int64_t>(1, element_count(shape));
    return shape.empty() ? 1 : std::max<std::int64_t>(1, shape.back());
  }

  // The padding passes through the transforms behind the place where it enters: the start, or `pad`.
  Status make_padding() {
    const bool pads_tensors = feature_.has_unknown_dims() && feature_.unknown_dims == UnknownDims::kPadded;
    if (pad_ == nullptr && feature_.kind != FeatureKind::kFixedLenSequence && !pads_tensors) return {};
    std::vector<std::uint8_t> value;
    if ((pad_ == nullptr ? feature_.dtype : pad_dtype_) == DType::kBytes) {
      list_.padding_string = padding_text();
      if (list_.type.dtype == DType::kBytes) return {};
      const std::string_view text = list_.padding_string;
      value.resize(sizeof text);
      std::memcpy(value.data(), &text, sizeof text);
    } else {
      value = pad_ == nullptr ? default_number() : number_bytes();
    }
    const std::int64_t count = padding_period();
    list_.padding.resize(static_cast<std::size_t>(count) * list_.value_bytes);
    const std::size_t first_op = pad_ == nullptr ? 0 : pad_op_;
    return run_from(first_op, repeat(value.data(), value.size(), count), &list_.padding, count, "the padding");
  }

  std::string padding_text() const {
    if (pad_ == nullptr) return feature_.has_default ? feature_.default_bytes.front() : "";
    const auto* given = std::get_if<std::string>(&pad_->value);
    return given == nullptr ? "" : *given;
  }
  std::vector<std::uint8_t> default_number() const {
    return feature_.has_default ? feature_.default_numeric : std::vector<std::uint8_t>(size_of(feature_.dtype));
  }

  Status check_default() {
    if (!feature_.has_default || list_.program.empty()) return {};
    if (feature_.kind == FeatureKind::kFixedLenSequence || feature_.has_unknown_dims()) return {};  // it is the padding
    const std::int64_t count = element_count(feature_.shape);
    std::vector<std::uint8_t> image(static_cast<std::size_t>(count) * list_.value_bytes);
    return run_from(0, default_values(feature_, count), &image, count, "default_value");
  }

  Status run_from(std::size_t first_op, const std::vector<std::uint8_t>& values, std::vector<std::uint8_t>* image,
                  std::int64_t count, std::string_view what) const {
    const std::vector<ValueOp>& all = list_.program.ops_;
    const TransformProgram program({all.begin() + static_cast<std::ptrdiff_t>(first_op), all.end()},
                                   count == 0 ? 1 : values.size() / static_cast<std::size_t>(count));
    if (program.empty()) {
      *image = values;
      return {};
    }
    TransformScratch scratch;
    const BadValue bad = program.run(values.data(), image->data(), count, scratch);
    if (bad.index < 0) return {};
    return refuse_transform(feature_, feature_.transforms.size() - 1,
                            std::string(what) + " cannot be transformed: expected " + program.ops_[bad.op].expected);
  }

  // pad.value in the dtype that stands there; checked to fit.
  std::vector<std::uint8_t> number_bytes() const {
    std::vector<ValueOp> cast;
    std::uint8_t value[8] = {};
    if (const auto* whole = std::get_if<std::int64_t>(&pad_->value)) {
      std::memcpy(value, whole, sizeof *whole);
      add_cast(DType::kInt64, pad_dtype_, &cast);
    } else if (const auto* real = std::get_if<double>(&pad_->value)) {
      std::memcpy(value, real, sizeof *real);
      add_cast(DType::kFloat64, pad_dtype_, &cast);
    }
    for (const ValueOp& op : cast) {
      std::uint8_t next[8] = {};
      (void)op.run(op, value, next, 1, 0);
      std::memcpy(value, next, sizeof value);
    }
    return {value, value + size_of(pad_dtype_)};
  }

  const Feature& feature_;
  TransformList list_;
  std::vector<ValueOp> ops_;
  std::size_t place_ = 0;
  DType before_ = DType::kFloat32;
  const Pad* pad_ = nullptr;
  DType pad_dtype_ = DType::kFloat32;
  std::size_t pad_op_ = 0;
};

Result<TransformList> compile_transforms(const Feature& feature) { return TransformCompiler(feature).compile(); }

std::vector<std::uint8_t> default_values(const Feature& feature, std::int64_t count) {
  if (feature.dtype == DType::kBytes) {
    std::vector<std::uint8_t> views(static_cast<std::size_t>(count) * sizeof(std::string_view));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(feature.default_bytes.size() == 1 ? 0 : i);
      const std::string_view text = feature.default_bytes[place];
      std::memcpy(views.data() + static_cast<std::size_t>(i) * sizeof text, &text, sizeof text);
    }
    return views;
  }
  const std::size_t size = size_of(feature.dtype);
  if (feature.default_numeric.size() != size) return feature.default_numeric;
  return repeat(feature.default_numeric.data(), size, count);
}

}  // namespace headrace
