#include "batch/global_shuffle.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/permutation.h"
#include "batch/stage_words.h"
#include "record/piece_window.h"

namespace headrace {
namespace {

// Single records are read so many at a time, and so many such groups ahead.
constexpr std::uint64_t kGroupRecords = 256;
constexpr std::uint64_t kGroupBytes = 1 << 20;
constexpr std::size_t kGroupsAhead = 3;
constexpr std::size_t kWindowsAhead = 1;

class GlobalShuffle final : public RecordStage {
 public:
  GlobalShuffle(const SourceContext& source, const ReadOptions& read, std::shared_ptr<const RecordMap> map,
                const GlobalShuffleOptions& options)
      : source_(source),
        map_(std::move(map)),
        options_(options),
        reader_(std::make_shared<PieceReader>(source, read)),
        first_piece_(options.count == 0 || options.window_bytes == 0 ? 0 : map_->piece_of(options.first)),
        pieces_(count_pieces()) {}
  ~GlobalShuffle() override { drop_windows(); }

  Result<std::size_t> pull(std::size_t max_records, std::vector<RecordRun>* runs,
                           const std::stop_token& stop) override {
    for (;;) {
      if (!failure_.ok()) return failure_;
      if (stop.stop_requested()) return stopped_between_pulls();
      if (windows_.empty() || position_ == windows_.front().window->records()) {
        if (!next_window()) return failure_.ok() ? Result<std::size_t>(0) : Result<std::size_t>(failure_);
      }
      if (!windows_.front().is_ready) {
        if (!windows_.front().window->wait(stop)) return cancelled("stopped while waiting for records");
        begin_window();
        if (!failure_.ok()) return failure_;
      }
      const std::size_t count = hand_out(max_records, runs);
      if (count == 0) continue;
      empty_ = false;
      return count;
    }
  }

  void begin_epoch(std::uint64_t epoch) override {
    drop_windows();
    first_epoch_ = epoch;
    go_to(0, 0, 0, true);
  }

  std::uint64_t epoch_offset() const override { return epoch_; }

  void save(StateDelta* state) override {
    const bool is_behind = !windows_.empty() && position_ == windows_.front().window->records();
    const std::uint64_t cursor = windows_.empty() ? cursor_ : is_behind ? windows_.front().end : windows_.front().begin;
    state->words.insert(state->words.end(),
                        {first_epoch_, epoch_, cursor, is_behind ? 0 : position_, empty_ ? 1U : 0U});
  }

  Status restore(StateReader* state, RecordFetcher*) override {
    drop_windows();
    HEADRACE_ASSIGN_OR_RETURN(first_epoch_, state->word());
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t epoch, count_word(state, INT64_MAX - 1));
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t cursor, count_word(state, static_cast<std::int64_t>(pieces_)));
    HEADRACE_ASSIGN_OR_RETURN(const std::uint64_t position, state->word());
    HEADRACE_ASSIGN_OR_RETURN(const std::int64_t empty, count_word(state, 1));
    const bool has_epoch = options_.epochs < 0 || epoch < std::max<std::int64_t>(options_.epochs, 1);
    go_to(static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(cursor), position, empty == 1);
    if (position > 0 && has_epoch) plan_ahead();
    const std::uint64_t most = windows_.empty() || cursor_ == pieces_ ? 0 : windows_.front().window->records();
    if (has_epoch && position <= most) return {};
    drop_windows();
    return invalid_argument("the saved position is not one of this shuffle");
  }

 private:
  struct Window {
    std::shared_ptr<PieceWindow> window;
    std::uint64_t epoch;  // less first_epoch_
    std::uint64_t begin;  // in the order of pieces of the epoch
    std::uint64_t end;
    std::optional<KeyedPermutation> order;  // of its records; nothing: that of the pieces
    bool is_ready = false;
  };

  std::uint64_t count_pieces() const {
    if (options_.count == 0 || options_.window_bytes == 0) return options_.count;
    return map_->piece_of(options_.first + (options_.count - 1) * options_.step) + 1 - first_piece_;
  }

  std::uint64_t key_of(std::uint64_t epoch) const {
    return random_key(options_.seed, options_.reshuffle_each_iteration ? first_epoch_ + epoch : 0);
  }

  /// Nothing is planned yet; what comes next is at `position` of the window that begins at `cursor`.
  void go_to(std::uint64_t epoch, std::uint64_t cursor, std::uint64_t position, bool is_empty) {
    epoch_ = planned_epoch_ = epoch;
    cursor_ = planned_ = cursor;
    position_ = position;
    empty_ = is_empty;
    failure_ = {};
    order_.reset();
  }

  /// Adds what is of use of a piece.
  void add_piece(std::uint64_t place, PieceWindow* window) const {
    const std::uint64_t ordered = (*order_)(place);
    if (options_.window_bytes == 0) {
      return window->add(map_->piece(options_.first + ordered * options_.step), 0, 1);
    }
    const Piece piece = map_->piece(first_piece_ + ordered);
    // Of the numbers first + k * step, those in [piece.number, piece.number + piece.records).
    const std::uint64_t end = piece.number + piece.records;
    const std::uint64_t before = piece.number > options_.first ? up(piece.number - options_.first) : 0;
    const std::uint64_t behind = std::min(options_.count, end > options_.first ? up(end - options_.first) : 0);
    if (behind <= before) return;
    const std::uint64_t first = options_.first + before * options_.step - piece.number;
    window->add(piece, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(behind - before));
  }

  std::uint64_t up(std::uint64_t distance) const { return (distance + options_.step - 1) / options_.step; }

  bool is_full(const PieceWindow& window) const {
    if (options_.window_bytes > 0) return window.bytes() >= options_.window_bytes;
    return window.records() >= kGroupRecords || window.bytes() >= kGroupBytes;
  }

  /// Plans and starts one more window; false: none is left, as far as is known.
  bool plan_window() {
    if (planned_ == pieces_) {
      const bool is_last = options_.epochs >= 0 && planned_epoch_ + 1 >= static_cast<std::uint64_t>(options_.epochs);
      if (is_last || pieces_ == 0) return false;
      ++planned_epoch_;
      planned_ = 0;
      order_.reset();
    }
    const std::uint64_t key = key_of(planned_epoch_);
    if (!order_) order_.emplace(pieces_, key);
    Window next{.window = std::make_shared<PieceWindow>(source_, reader_, options_.step),
                .epoch = planned_epoch_,
                .begin = planned_};
    while (planned_ < pieces_ && !is_full(*next.window)) add_piece(planned_++, next.window.get());
    next.end = planned_;
    if (options_.window_bytes > 0 && next.window->records() > 0) {
      next.order.emplace(next.window->records(), random_key(key, next.begin));
    }
    next.window->start(windows_.size());
    windows_.push_back(std::move(next));
    return true;
  }

  void plan_ahead() {
    const std::size_t most = 1 + (options_.window_bytes > 0 ? kWindowsAhead : kGroupsAhead);
    const auto has_room = [this] { return windows_.empty() || source_.blocks->has_room(); };
    while (windows_.size() < most && has_room() && plan_window()) {
    }
  }

  /// The next window becomes the first one; false at the end of the last epoch, or with failure_.
  bool next_window() {
    if (options_.epochs == 0) return false;
    if (options_.count == 0) {
      if (options_.epochs < 0) failure_ = nothing_to_repeat();
      return false;
    }
    if (!windows_.empty()) {
      cursor_ = windows_.front().end;
      position_ = 0;
      windows_.pop_front();
    }
    plan_ahead();
    if (windows_.empty()) return false;
    if (windows_.front().epoch == epoch_) return true;
    // A whole epoch of damaged records, all skipped: the next ones would be like it.
    if (empty_) {
      drop_windows();
      if (options_.epochs < 0) failure_ = nothing_to_repeat();
      planned_epoch_ = static_cast<std::uint64_t>(std::max<std::int64_t>(options_.epochs, 1)) - 1;
      planned_ = pieces_;
      return false;
    }
    epoch_ = windows_.front().epoch;
    cursor_ = 0;
    empty_ = true;
    return true;
  }

  void begin_window() {
    windows_.front().is_ready = true;
    release(windows_.front(), 0, position_);  // handed out before the position was saved
    for (const SkippedRegion& damage : windows_.front().window->take_damage()) {
      if (failure_.ok()) failure_ = source_.skipped->add(damage);
    }
  }

  std::size_t hand_out(std::size_t most, std::vector<RecordRun>* runs) {
    const Window& current = windows_.front();
    const std::uint64_t end = current.window->records();
    std::size_t count = 0;
    for (; count < most && position_ < end; ++position_) {
      const PieceWindow::Found found = current.window->find(current.order ? (*current.order)(position_) : position_);
      if (found.run.block != nullptr) {
        runs->push_back(found.run);
        ++count;
      } else if (!found.failure->ok()) {
        failure_ = *found.failure;
        break;
      }
    }
    return count;
  }

  void release(const Window& window, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t place = begin; place < end; ++place) {
      const RecordRun run = window.window->find(window.order ? (*window.order)(place) : place).run;
      if (run.block != nullptr) source_.blocks->release({&run, 1});
    }
  }

  void drop_windows() {
    for (const Window& window : windows_) {
      window.window->abandon();
      if (window.is_ready) release(window, position_, window.window->records());
    }
    windows_.clear();
  }

  // constant after construction
  const SourceContext source_;
  const std::shared_ptr<const RecordMap> map_;
  const GlobalShuffleOptions options_;
  const std::shared_ptr<const PieceReader> reader_;
  const std::uint64_t first_piece_;
  const std::uint64_t pieces_;  ///< of an epoch

  // where the stream stands; epochs count from first_epoch_
  std::uint64_t first_epoch_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint64_t cursor_ = 0;    ///< where the next window begins, when none is planned
  std::uint64_t position_ = 0;  ///< records of the first window that were handed out, or skipped
  bool empty_ = true;           ///< no record of this epoch came yet
  Status failure_;

  // what is read ahead; only the first window can be ready
  std::deque<Window> windows_;
  std::uint64_t planned_epoch_ = 0;
  std::uint64_t planned_ = 0;
  std::optional<KeyedPermutation> order_;  ///< of the pieces of planned_epoch_
};

}  // namespace

std::unique_ptr<RecordStage> make_global_shuffle(const SourceContext& source, const ReadOptions& read,
                                                 std::shared_ptr<const RecordMap> map,
                                                 const GlobalShuffleOptions& options) {
  return std::make_unique<GlobalShuffle>(source, read, std::move(map), options);
}

}  // namespace headrace
