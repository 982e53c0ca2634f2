// ImageOptions: what becomes of the JPEG or PNG file in a bytes feature, from its bytes to the pixels of its row.
//
// A plain value. The steps are those of tf.io.decode_jpeg / decode_png, a crop of tf.image, tf.image.resize and a flip; here
// they are one pass that decodes only what the crop keeps. Random numbers are a pure function of the pipeline's seed,
// `seed`, the epoch and the record, so that neither the number of threads nor a resume changes them.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "headrace/status.h"
#include "headrace/types.h"

namespace headrace {

/// The middle of the image: that part of each side, rounded as tf.image.central_crop does; `square`: a square of that part
/// of the shorter side.
struct CentralCrop {
  double fraction = 1;  ///< in (0, 1]
  bool square = false;
};

/// A fixed window, in pixels; all of it must be in the image (tf.image.crop_to_bounding_box).
struct FixedCrop {
  std::int64_t top = 0;     ///< >= 0
  std::int64_t left = 0;    ///< >= 0
  std::int64_t height = 0;  ///< >= 1
  std::int64_t width = 0;   ///< >= 1
};

/// A window of a fixed size, in pixels, at a random place (tf.image.random_crop).
struct RandomCrop {
  std::int64_t height = 0;  ///< >= 1
  std::int64_t width = 0;   ///< >= 1
};

/// A random part of the image's area at a random width / height, log-uniform, at a random place: the crop of Inception
/// training. After ten draws that do not fit, the middle of the image at the nearest ratio.
struct RandomResizedCrop {
  double min_area = 0.08;  ///< in (0, max_area]
  double max_area = 1;     ///< <= 1
  double min_ratio = 3.0 / 4;
  double max_ratio = 4.0 / 3;
};

using ImageCrop = std::variant<std::monostate, CentralCrop, FixedCrop, RandomCrop, RandomResizedCrop>;

enum class ImageLayout : std::uint8_t { kNhwc = 1, kNchw };
enum class ImageResize : std::uint8_t {
  kNone = 1,   ///< the window must have the size of the column
  kBilinear,   ///< tf.image.resize(method="bilinear"): half-pixel centres
  kAntialias,  ///< the same with antialias=True: when it shrinks, every pixel of the window counts
};
/// The inverse DCT of JPEG. TensorFlow's default is the fast one.
enum class JpegDct : std::uint8_t { kIntegerFast = 1, kIntegerAccurate };

struct ImageOptions {
  // behaviour
  ImageLayout layout = ImageLayout::kNhwc;
  ImageCrop crop;
  ImageResize resize = ImageResize::kBilinear;
  bool random_flip = false;  ///< left and right are swapped in half of the records
  /// float32 only: pixels become (pixel - mean) / std, in grey levels; one number or one per channel, none: 0 and 1.
  std::vector<float> mean;
  std::vector<float> std;
  JpegDct dct = JpegDct::kIntegerFast;
  /// A JPEG whose window is at least 2, 4 or 8 times as high and wide as the column is decoded to 1/2, 1/4 or 1/8 of its
  /// size (`ratio` of tf.io.decode_jpeg), then resized. False: always decoded whole.
  bool reduce = true;
  std::int64_t max_pixels = std::int64_t{1} << 27;  ///< an image of more is an error before anything is allocated
  std::uint64_t seed = 0;                           ///< features of one seed draw alike: an image and its mask

  /// Whether a random number is drawn for each record.
  bool draws() const;
  /// Ok, or kInvalidArgument naming option and value. `shape` is that of the column per record, as `layout` says.
  Status validate(DType dtype, const Shape& shape) const;
};

/// Height, width and channels of a column per record.
struct ImageSize {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
};
ImageSize image_size(const Shape& shape, ImageLayout layout);

}  // namespace headrace
