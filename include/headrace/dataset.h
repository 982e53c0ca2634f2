// Dataset: the declared pipeline. An immutable tree of ops; every step returns a new Dataset and checks its arguments.
//
//   auto pipeline = TFRecordDataset({.items = {"data/train-*.tfrecord"}}, {})
//                       .interleave({.cycle_length = 16, .block_length = 16})
//                       .repeat().shuffle({.buffer_size = 2000, .seed = 42}).batch({.size = 1024, .drop_remainder = true})
//                       .parse(schema).prefetch_to_device({.devices = {"/CPU:0", "/CPU:1"}}).open();
//
// The first wrong step is kept in status() and given back by every later step and by open(). Grammar:
//   source -> interleave -> {shard, take, skip, filter, repeat, shuffle, concatenate}* -> enumerate
//   -> batch, padded_batch or bucket_by_sequence_length -> unbatch and again, or parse
//   -> {map, take, skip, repeat, enumerate, cache}* -> resident -> prefetch_to_device
// (interleave at most once and before the other record steps). Constructors touch no file; open() does.
// A Dataset is a value: copies share the tree. It counts the iterators that delivered a batch (see open()); that count is
// atomic, everything else is constant, so any thread may use it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headrace/file_provider.h"
#include "headrace/filter.h"
#include "headrace/position.h"
#include "headrace/schema.h"
#include "headrace/status.h"

namespace headrace {

class Pipeline;

/// What to read: one string (a path, else a pattern, else a folder), or a list of literal paths.
struct Files {
  std::vector<std::string> items;
  bool is_list = false;
};

enum class CompressionType : std::uint8_t { kAuto = 0, kNone, kGzip, kZlib, kZstd, kSnappy };
enum class Verify : std::uint8_t { kFull = 0, kHeader, kOff };
enum class OnCorrupt : std::uint8_t { kRaise = 0, kSkip };
enum class OnMismatch : std::uint8_t { kRaise = 0, kSkip };

struct ReadOptions {
  // behaviour
  CompressionType compression = CompressionType::kAuto;
  Verify verify = Verify::kFull;
  OnCorrupt on_corrupt = OnCorrupt::kRaise;
  /// kSkip: a record that does not fit the schema, or that filter() cannot compare, is left out; the next ones take its place
  /// in the batch. One batch is parsed at a time.
  OnMismatch on_mismatch = OnMismatch::kRaise;
  std::int64_t max_skipped = 1000;  ///< distinct records left out before skipping becomes an error
  /// Larger records are kResourceExhausted; 4 GiB - 1 is the limit in any case. Default: no other limit for plain files, whose
  /// size bounds what a record may claim; a quarter of the memory budget for compressed ones.
  std::optional<std::int64_t> max_record_bytes = std::nullopt;
  bool deterministic = true;  ///< false: interleave takes whichever shard is ready
  int stream_version = 1;
  /// Finds and opens the files; null: they are local paths, and https://, http://, s3:// and gs:// URLs.
  std::shared_ptr<const FileProvider> provider = nullptr;
  // performance
  std::optional<int> num_threads =
      std::nullopt;  ///< default: CPUs this process may use, ceil(min(affinity, cgroup quota))
  std::optional<std::int64_t> memory_bytes = std::nullopt;  ///< default: no limit
  /// What may be kept on a local disk of files behind URLs, for later epochs and other processes; default: nothing is.
  std::optional<std::int64_t> cache_bytes = std::nullopt;
  /// Where; empty: HEADRACE_CACHE_DIR and its default, below `objects`.
  std::string cache_dir;

  /// Those of one provider alone are equal.
  bool operator==(const ReadOptions&) const = default;
};

struct InterleaveOptions {
  std::int64_t cycle_length = 16;
  std::int64_t block_length = 1;
};

struct ShuffleOptions {
  std::int64_t buffer_size = 0;                     ///< records, >= 1
  std::optional<std::int64_t> seed = std::nullopt;  ///< nothing: drawn once, when the step is declared
  bool reshuffle_each_iteration = true;
  bool mix_epochs = false;  ///< true: with repeat() before it, TensorFlow's mixing stream
  /// A permutation of all records of an epoch, without a buffer (`buffer_size` is not looked at): each record is read where
  /// the index of its file says that it is. Files have to be plain.
  bool global = false;
  /// With `global`: reads are near-sequential. Pieces of about 64 KiB come in random order, and the records of as many of
  /// them as fill so many bytes (>= 1) in an order of their own. Two such windows are held in memory, unless the records are
  /// large. Nothing: every record is read by itself.
  std::optional<std::int64_t> window_bytes = std::nullopt;
};

enum class ShardBy : std::uint8_t {
  kRecord = 0,  ///< records index, index + num_shards, … of the input
  kFile,        ///< all records of files index, index + num_shards, … of the list
  kRange,       ///< one of num_shards ranges of records that follow each other, as equal as can be; from the index
};

struct ShardOptions {
  ShardBy by = ShardBy::kRecord;
  /// Every worker gets the same number of records, known when the pipeline opens (from the index): so many as the one with
  /// the fewest has. Not with a skip policy, which may leave out records of one worker alone.
  bool drop_remainder = false;
};

struct BatchOptions {
  std::int64_t size = 0;  ///< rows of the global batch, >= 1
  bool drop_remainder = false;
};

/// How padded_batch() fills up the rows of one column.
struct FeaturePadding {
  std::string name;            ///< of the column
  std::optional<Shape> shape;  ///< of each row; nothing, or -1 as first dimension: that of the longest row of the batch
  PadValue value = {};         ///< nothing: BatchPadding::value
};

struct BatchPadding {
  std::vector<FeaturePadding> features;
  PadValue value = {};  ///< of all others; nothing: what the feature's default_value says of padding, else 0 or ""
};

/// Batches of records of similar length.
struct BucketOptions {
  std::string key;        ///< the feature whose number of values is a record's length; 0 where it is missing
  bool sequence = false;  ///< a feature list of SequenceExamples: its steps are counted
  std::vector<std::int64_t>
      boundaries;                   ///< ascending: bucket i has the lengths below boundaries[i], the last one the rest
  std::vector<std::int64_t> sizes;  ///< rows of the batches of each bucket, >= 1, one more than boundaries
  bool drop_remainder = false;
};

struct SampleOptions {
  std::vector<double> weights;                      ///< of each dataset, >= 0, not all 0; empty: all alike
  std::optional<std::int64_t> seed = std::nullopt;  ///< nothing: drawn once, when the step is declared
  bool stop_on_empty = false;                       ///< false: datasets that have ended are passed over
  bool rerandomize_each_iteration = false;          ///< another sequence each epoch
};

struct ChooseOptions {
  std::vector<std::int64_t> choices;  ///< record p comes from dataset choices[p % size]
  bool stop_on_empty = true;
};

/// A function on a parsed batch: rows of a slice, and the first value of each column of MapOptions::columns, which it may
/// change in place. Anything but 0 ends the stream with a failure.
using MapFunction = std::function<int(std::int64_t rows, void* const* columns)>;

struct MapOptions {
  std::string name;                  ///< in the report
  std::vector<std::string> columns;  ///< dense columns of numbers
  MapFunction function;              ///< called by the engine's threads, for several batches at once
};

/// What becomes of a batch that is smaller than the others. kSplit: the shares are smaller, and may have no rows. kPad: rows of
/// its own, from the first on, make it up to their size; a bool column `_mask` is false there. kDrop: it is left out, as by
/// drop_remainder of batch().
enum class Remainder : std::uint8_t { kSplit = 0, kPad, kDrop };

/// Of the devices of all processes, those of this one: so many, from `first` on.
struct LocalDevices {
  int first = 0;
  int count = 1;
};

struct DeviceOptions {
  std::vector<std::string> devices;  ///< "/CPU:0", "/GPU:1", …; one replica each. A CUDA driver is looked for by open()
  int depth = 2;                     ///< batches that wait ready per device, 1 to 40 (host devices alone: >= 1)
  Remainder remainder = Remainder::kSplit;
  /// Rows of each device, in proportion, each 1 to 1000: for devices of unequal speed. Empty: equal shares.
  std::vector<std::int64_t> weights;
  /// Only their rows are parsed and delivered; a failure of rows of others is theirs. Every process declares the same devices.
  /// Nothing: all are of this process.
  std::optional<LocalDevices> local = std::nullopt;
};

struct ResidentOptions {
  std::int64_t batches = 2;                          ///< that are read, >= 1
  std::optional<std::int64_t> count = std::nullopt;  ///< batches to deliver; -1: without end
};

/// One op as declared; the id is its place in the tree, stable from the first step.
struct OpDescription {
  int id = 0;
  std::string name;       ///< "tfrecord", "interleave", …
  std::string arguments;  ///< canonical text, part of the identity of a saved position
};

struct Op;  // internal

class Dataset {
 public:
  struct Shared;  // internal

  Dataset interleave(const InterleaveOptions& options) const;
  Dataset repeat(std::optional<std::int64_t> count = std::nullopt) const;  ///< nothing or -1: for ever
  Dataset shuffle(const ShuffleOptions& options) const;
  /// The share of one of several workers. By file or range it stands before all other steps on records but interleave().
  Dataset shard(std::int64_t num_shards, std::int64_t index, const ShardOptions& options = {}) const;
  /// The records that `filter` keeps. The length of what follows is not known.
  Dataset filter(Filter filter) const;
  Dataset take(std::int64_t count) const;  ///< records before batch, batches after; -1: all
  Dataset skip(std::int64_t count) const;  ///< -1: all
  /// The records of this dataset, then those of `other`. Both are read with the same options.
  Dataset concatenate(const Dataset& other) const;
  Dataset batch(const BatchOptions& options) const;
  /// batch(), with features of varying length made dense by parse(): filled up to the longest row of the batch, or to a shape;
  /// a record that is longer then does not fit.
  Dataset padded_batch(const BatchOptions& options, BatchPadding padding = {}) const;
  /// Instead of batch(). Where the input ends, what the buckets hold comes in their order.
  Dataset bucket_by_sequence_length(const BucketOptions& options) const;
  /// The rows of batches are records again, in their order; before parse(). No record is copied.
  Dataset unbatch() const;
  /// Right before batch() or padded_batch(): an int64 column `_index` with the number of each record. Behind it: with the
  /// number of its batch. Counts from `start`, over all that comes, anew in each epoch of a repeat() behind it. Needs parse().
  /// Not with on_mismatch = kSkip.
  Dataset enumerate(std::int64_t start = 0) const;
  Dataset parse(Schema schema) const;
  /// The parsed batches of the first pass are kept, in memory or in the file `path`, and handed out by every later one, also
  /// of other pipelines of this dataset; what stands before it is read once, as epoch 0 whatever the epoch is. Memory counts
  /// as that of the pipeline (ReadOptions::memory_bytes). A file is there when it is whole; one of other files, steps or
  /// features is kInvalidArgument when a pipeline opens, damage kDataLoss. Behind parse().
  Dataset cache(std::string path = {}) const;
  /// Each slice of each batch passes through `options.function`.
  Dataset map(MapOptions options) const;
  Dataset prefetch_to_device(const DeviceOptions& options) const;
  /// The first batches again and again, without reading: what a consumer reaches when the input costs nothing. Without
  /// `count` as many as this dataset is known to have by now, or without end when nobody knows. Such a stream has no position.
  Dataset resident(const ResidentOptions& options = {}) const;
  /// States the records of an epoch of the source. An epoch with more (kInvalidArgument) or fewer (kDataLoss) ends in a
  /// failure behind all its records, unless damaged records are skipped.
  Dataset assert_cardinality(std::int64_t records) const;

  const Status& status() const { return status_; }
  std::vector<OpDescription> ops() const;
  /// What parse() makes of the records, with the columns that other steps add; nothing before it.
  std::optional<Schema> schema() const;
  /// Whether a batch that is smaller than what was asked for is left out. False without batch().
  bool drops_remainder() const;

  /// Elements of the whole stream (batches, or records without batch()): nothing when not known, -1 when endless.
  /// Known from assert_cardinality(), from indexes, or once an iterator has seen a whole epoch.
  std::optional<std::int64_t> cardinality() const;
  /// The same for one epoch, as if there were no repeat(); what len() says for an endless stream.
  std::optional<std::int64_t> epoch_cardinality() const;
  /// Looks for the indexes of all files (headrace/index.h). True: there is one of each, so that the records of an epoch are
  /// known from now on. Opens files, reads no record.
  Result<bool> find_indexes() const;
  /// Makes those that are missing, whatever time it takes: walks over the headers of plain files, inflates compressed ones.
  /// The records of an epoch are known from now on. Warnings about indexes that cannot be kept.
  Result<std::vector<std::string>> make_indexes() const;

  /// Finds the files, checks all of them at once, and starts reading. The k-th iterator that delivered a batch starts at
  /// epoch k when shuffles reshuffle. `position`: continue there instead. The iterator counts once it delivers.
  Result<Pipeline> open(const std::optional<Position>& position = std::nullopt) const;
  /// The next iterator starts at `epoch`, those after it count on from there.
  void set_epoch(std::int64_t epoch) const;
  std::int64_t next_epoch() const;  ///< where the next iterator starts
  /// Finds and checks the files, reads nothing; warnings of the file list.
  Result<std::vector<std::string>> check() const;

 private:
  friend class DatasetBuilder;
  std::shared_ptr<const Op> op_;
  std::shared_ptr<Shared> shared_;
  Status status_;
};

Dataset TFRecordDataset(Files files, const ReadOptions& options = {});
/// Each record from one of the datasets, at random. None of them is batched; all are read with the same options.
Dataset sample_from_datasets(const std::vector<Dataset>& datasets, const SampleOptions& options = {});
/// Each record from the dataset that the choices name. None of them is batched; all are read with the same options.
Dataset choose_from_datasets(const std::vector<Dataset>& datasets, const ChooseOptions& options);

/// Each file is one record: its bytes as they are, nothing is inflated. A folder means all its files but hidden and side files.
/// parse() sees an Example of two features, "path" and "bytes". Of the options, compression, verify and on_corrupt mean nothing.
Dataset FileDataset(Files files, const ReadOptions& options = {});

}  // namespace headrace
