#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "bindings.h"
#include "failure.h"
#include "headrace/image.h"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT(google-build-using-namespace): argument names

namespace headrace::python {
namespace {

ImageLayout to_layout(const std::string& name) {
  if (name == "NHWC") return ImageLayout::kNhwc;
  if (name == "NCHW") return ImageLayout::kNchw;
  raise(invalid_argument("layout='" + name + "': must be 'NHWC' or 'NCHW'"));
}

ImageResize to_resize(const std::string& name) {
  if (name == "none") return ImageResize::kNone;
  if (name == "bilinear") return ImageResize::kBilinear;
  if (name == "antialias") return ImageResize::kAntialias;
  raise(invalid_argument("resize='" + name + "': must be 'none', 'bilinear' or 'antialias'"));
}

JpegDct to_dct(const std::string& name) {
  if (name == "INTEGER_FAST" || name.empty()) return JpegDct::kIntegerFast;
  if (name == "INTEGER_ACCURATE") return JpegDct::kIntegerAccurate;
  raise(invalid_argument("dct_method='" + name + "': must be 'INTEGER_FAST' or 'INTEGER_ACCURATE'"));
}

}  // namespace

void bind_image(nb::module_& m) {
  nb::class_<ImageOptions>(m, "ImageOptions", "What becomes of an image file; see headrace/image.h.")
      .def(nb::init<>())
      .def(
          "set_layout", [](ImageOptions& self, const std::string& name) { self.layout = to_layout(name); }, "name"_a)
      .def(
          "set_resize", [](ImageOptions& self, const std::string& name) { self.resize = to_resize(name); }, "name"_a)
      .def(
          "set_dct_method", [](ImageOptions& self, const std::string& name) { self.dct = to_dct(name); }, "name"_a)
      .def(
          "central_crop",
          [](ImageOptions& self, double fraction, bool square) {
            self.crop = CentralCrop{fraction, square};
          },
          "fraction"_a, "square"_a)
      .def(
          "fixed_crop",
          [](ImageOptions& self, std::int64_t top, std::int64_t left, std::int64_t height, std::int64_t width) {
            self.crop = FixedCrop{top, left, height, width};
          },
          "top"_a, "left"_a, "height"_a, "width"_a)
      .def(
          "random_crop",
          [](ImageOptions& self, std::int64_t height, std::int64_t width) {
            self.crop = RandomCrop{height, width};
          },
          "height"_a, "width"_a)
      .def(
          "random_resized_crop",
          [](ImageOptions& self, double min_area, double max_area, double min_ratio, double max_ratio) {
            self.crop = RandomResizedCrop{min_area, max_area, min_ratio, max_ratio};
          },
          "min_area"_a, "max_area"_a, "min_ratio"_a, "max_ratio"_a)
      .def_rw("random_flip", &ImageOptions::random_flip)
      .def_rw("mean", &ImageOptions::mean)
      .def_rw("std", &ImageOptions::std)
      .def_rw("reduce", &ImageOptions::reduce)
      .def_rw("max_pixels", &ImageOptions::max_pixels)
      .def_rw("seed", &ImageOptions::seed);
}

}  // namespace headrace::python
