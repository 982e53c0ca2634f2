// What each file of the bindings adds to the module headrace._core. Called once, in this order, by module.cc.
//
// The bindings are the only place with Python.h and the only one that throws: a Status becomes a Python exception here.
#pragma once

#include <nanobind/nanobind.h>

namespace headrace::python {

void bind_environment(nanobind::module_& m);  ///< environment
void bind_example(nanobind::module_& m);      ///< Feature, Schema, ExampleBuilder, make_tensor_proto
void bind_transform(nanobind::module_& m);    ///< Transform
void bind_image(nanobind::module_& m);        ///< ImageOptions
void bind_parse(nanobind::module_& m);        ///< parse_example, parse_single_example, parse_tensor, decode_raw
void bind_record(nanobind::module_& m);       ///< RecordReader, RecordWriter
void bind_verify(nanobind::module_& m);       ///< SkippedRegion, ShardVerifier, find_files
void bind_index(nanobind::module_& m);        ///< write_index, read_index
void bind_column(nanobind::module_& m);       ///< DenseColumn, BytesColumn, Ragged, JaggedColumn
void bind_sparse(nanobind::module_& m);       ///< Sparse
void bind_batch(nanobind::module_& m);        ///< Slice, Batch
void bind_device(nanobind::module_& m);       ///< parse_device
void bind_filter(nanobind::module_& m);       ///< Filter
void bind_dataset(nanobind::module_& m);      ///< Dataset, source_dataset
void bind_pipeline(nanobind::module_& m);     ///< Pipeline, Report, StageReport
void bind_running(nanobind::module_& m);      ///< RunningPipeline, running_pipelines
void bind_trace(nanobind::module_& m);        ///< start_trace, stop_trace
void bind_tensorflow(nanobind::module_& m);   ///< tensorflow_source

}  // namespace headrace::python
