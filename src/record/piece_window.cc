#include "record/piece_window.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "runtime/stall.h"

namespace headrace {
namespace {

// One task: so much that its hand-over does not count, and so little that a more urgent one gets the worker soon.
constexpr std::uint64_t kTaskBytes = 256 * 1024;
constexpr std::size_t kTaskPieces = 64;

}  // namespace

PieceWindow::~PieceWindow() {
  if (is_owners_) return;
  for (std::uint64_t place = 0; place < records() && !contents_.empty(); ++place) {
    const RecordRun run = find(place).run;
    if (run.block != nullptr) context_.blocks->release({&run, 1});
  }
}

void PieceWindow::add(const Piece& piece, std::uint32_t first, std::uint32_t count) {
  pieces_.push_back({piece, first, count});
  before_.push_back(before_.back() + count);
  bytes_ += piece.bytes;
}

void PieceWindow::start(std::uint64_t distance) {
  contents_.resize(pieces_.size());
  if (records() > 0) pieces_per_record_ = static_cast<double>(pieces_.size()) / static_cast<double>(records());
  reading_order_.resize(pieces_.size());
  std::iota(reading_order_.begin(), reading_order_.end(), 0U);
  std::sort(reading_order_.begin(), reading_order_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return pieces_[a].piece.number < pieces_[b].piece.number; });
  std::vector<std::pair<std::size_t, std::size_t>> tasks;
  for (std::size_t begin = 0; begin < pieces_.size();) {
    std::size_t end = begin;
    for (std::uint64_t bytes = 0; end < pieces_.size() && end - begin < kTaskPieces && bytes < kTaskBytes; ++end) {
      bytes += pieces_[reading_order_[end]].piece.bytes;
    }
    tasks.emplace_back(begin, end);
    begin = end;
  }
  {
    MutexLock lock(mutex_);
    tasks_ = tasks.size();
  }
  for (const auto& [begin, end] : tasks) submit(begin, end, false, distance);
}

void PieceWindow::submit(std::size_t begin, std::size_t end, bool may_wait, std::uint64_t distance) {
  TaskGroup* const group = may_wait ? context_.io : context_.work;
  group->submit(context_.priority + distance, [self = shared_from_this(), begin, end, may_wait, distance] {
    self->run(begin, end, may_wait, distance);
  });
}

void PieceWindow::run(std::size_t begin, std::size_t end, bool may_wait, std::uint64_t distance) {
  random_stall();
  {
    MutexLock lock(mutex_);
    if (abandoned_) return;
  }
  StageProbe& probe = *context_.probe;
  std::int64_t records = 0;
  std::int64_t bytes = 0;
  std::size_t next = begin;
  {
    const ProbeTimer timer(may_wait ? probe.starved_ns : probe.busy_ns);
    for (; next < end; ++next) {
      const Planned& planned = pieces_[reading_order_[next]];
      PieceContent& content = contents_[reading_order_[next]];
      if (!reader_->read(planned.piece, may_wait, &content)) break;
      if (planned.count < planned.piece.records) drop_others(planned, content);
      records += planned.count;
      bytes += static_cast<std::int64_t>(planned.piece.bytes);
    }
  }
  probe.add(records, bytes);
  if (next < end) return submit(next, end, true, distance);
  finish_task();
}

void PieceWindow::finish_task() {
  {
    MutexLock lock(mutex_);
    if (--tasks_ > 0) return;
  }
  changed_.notify_all();
}

bool PieceWindow::wait(const std::stop_token& stop) {
  {
    MutexLock lock(mutex_);
    is_owners_ = changed_.wait(mutex_, stop, [this]() HEADRACE_REQUIRES(mutex_) { return tasks_ == 0; });
  }
  if (is_owners_ && whole_.empty()) note_whole_pieces();
  return is_owners_;
}

void PieceWindow::note_whole_pieces() {
  whole_.resize(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const std::vector<RecordBlock*>& blocks = contents_[i].blocks;
    const bool is_whole = blocks.size() == 1 && blocks[0]->records.size() == pieces_[i].piece.records;
    if (is_whole) whole_[i] = {blocks[0], pieces_[i].first};
  }
}

void PieceWindow::abandon() {
  MutexLock lock(mutex_);
  abandoned_ = true;
}

std::size_t PieceWindow::piece_of(std::uint64_t place) const {
  // Pieces have about as many records each: the guess is seldom more than a few off.
  auto i = static_cast<std::size_t>(static_cast<double>(place) * pieces_per_record_);
  i = std::min(i, pieces_.size() - 1);
  while (before_[i] > place) --i;
  while (before_[i + 1] <= place) ++i;
  return i;
}

PieceWindow::Found PieceWindow::find(std::uint64_t place) const {
  static const Status kOk;
  const std::size_t i = piece_of(place);
  if (whole_.empty() || whole_[i].block == nullptr) return find_in_content(i, place);
  const std::uint64_t index = whole_[i].first + (place - before_[i]) * step_;
  return {{whole_[i].block, static_cast<std::uint32_t>(index), 1}, &kOk};
}

PieceWindow::Found PieceWindow::find_in_content(std::size_t piece, std::uint64_t place) const {
  const Planned& planned = pieces_[piece];
  const std::uint64_t index = planned.first + (place - before_[piece]) * step_;
  return {contents_[piece].find(planned.piece.first.ordinal + index), &contents_[piece].failure};
}

std::vector<SkippedRegion> PieceWindow::take_damage() {
  std::vector<SkippedRegion> all;
  for (const std::uint32_t i : reading_order_) {
    std::vector<SkippedRegion>& damage = contents_[i].damage;
    all.insert(all.end(), std::make_move_iterator(damage.begin()), std::make_move_iterator(damage.end()));
    damage.clear();
  }
  return all;
}

void PieceWindow::drop_others(const Planned& planned, const PieceContent& content) const {
  std::vector<RecordRun> others;
  for (RecordBlock* block : content.blocks) {
    for (std::uint32_t i = 0; i < block->records.size(); ++i) {
      const std::uint64_t index = block->first_ordinal + i - planned.piece.first.ordinal;
      const bool is_of_use = index >= planned.first && (index - planned.first) % step_ == 0 &&
                             (index - planned.first) / step_ < planned.count;
      if (!is_of_use) others.push_back({block, i, 1});
    }
  }
  if (!others.empty()) context_.blocks->release(others);
}

}  // namespace headrace
