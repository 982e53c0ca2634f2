// PieceWindow: some pieces of a RecordMap that tasks read together, while the windows before them are handed out.
//
// Its owner plans it with add(), starts it, waits for it, and then looks up records by their place. Tasks hold the window by
// shared_ptr, so the owner may let go of it at any time: what was read is released with it, unless wait() said that it is
// ready; from then on every record of use is the owner's, to be handed out or released.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "record/piece_reader.h"
#include "runtime/mutex.h"

namespace headrace {

class PieceWindow : public std::enable_shared_from_this<PieceWindow> {
 public:
  /// Of use are the records of a piece that are `step` apart; see add().
  PieceWindow(const SourceContext& context, std::shared_ptr<const PieceReader> reader, std::uint64_t step)
      : context_(context), reader_(std::move(reader)), step_(step) {}
  ~PieceWindow();
  PieceWindow(const PieceWindow&) = delete;
  PieceWindow& operator=(const PieceWindow&) = delete;

  // Planning.
  /// Records first, first + step, … of the piece are of use, `count` (>= 1) of them.
  void add(const Piece& piece, std::uint32_t first, std::uint32_t count);
  std::uint64_t records() const { return before_.back(); }  ///< of use
  std::uint64_t bytes() const { return bytes_; }            ///< that are read

  /// Queues the tasks, once; `distance` = how many windows are needed before it.
  void start(std::uint64_t distance) HEADRACE_EXCLUDES(mutex_);
  /// True when all of it is read; false: stopped.
  bool wait(const std::stop_token& stop) HEADRACE_EXCLUDES(mutex_);
  /// Tasks that have not begun need not read any more.
  void abandon() HEADRACE_EXCLUDES(mutex_);

  // Behind wait().
  struct Found {
    RecordRun run;          ///< without a block when the record is missing
    const Status* failure;  ///< why; ok where a policy has skipped it
  };
  /// The record of use at `place` (< records()), in the order of the pieces.
  Found find(std::uint64_t place) const;
  /// What was left out, once.
  std::vector<SkippedRegion> take_damage();

 private:
  struct Planned {
    Piece piece;
    std::uint32_t first;
    std::uint32_t count;
  };

  void submit(std::size_t begin, std::size_t end, bool may_wait, std::uint64_t distance);
  void run(std::size_t begin, std::size_t end, bool may_wait, std::uint64_t distance) HEADRACE_EXCLUDES(mutex_);
  void finish_task() HEADRACE_EXCLUDES(mutex_);
  std::size_t piece_of(std::uint64_t place) const;
  Found find_in_content(std::size_t piece, std::uint64_t place) const;
  void note_whole_pieces();
  /// Releases what of a piece is of no use.
  void drop_others(const Planned& planned, const PieceContent& content) const;

  // constant once started
  const SourceContext context_;
  const std::shared_ptr<const PieceReader> reader_;
  const std::uint64_t step_;
  std::vector<Planned> pieces_;
  std::vector<std::uint64_t> before_ = {0};  // records of use before each piece, and all
  double pieces_per_record_ = 0;
  std::vector<std::uint32_t> reading_order_;
  std::uint64_t bytes_ = 0;

  // one of each piece: written by the task that reads it, the owner's behind wait()
  std::vector<PieceContent> contents_;
  bool is_owners_ = false;
  // behind wait(): the pieces that are one block, which nearly all are, in so little memory that it stays in the cache
  struct WholePiece {
    RecordBlock* block = nullptr;  // null: find() looks into its content
    std::uint32_t first = 0;       // of use, in the block
  };
  std::vector<WholePiece> whole_;

  Mutex mutex_;
  CondVar changed_;
  std::size_t tasks_ HEADRACE_GUARDED_BY(mutex_) = 0;  // that are not done
  bool abandoned_ HEADRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace headrace
