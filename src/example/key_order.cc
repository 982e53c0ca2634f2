#include "example/key_order.h"

#include <algorithm>

#include "example/example_entry.h"

namespace headrace {
namespace {

constexpr std::size_t kMaxOrders = 8;
constexpr std::size_t kMaxEntries = 1024;  // of an order: 48 KiB
constexpr int kCredit = 16;
constexpr int kGoodRecordsPerCredit = 4;
constexpr int kRecordsOff = 4096;

ExpectedEntry expected_entry(const ExampleEntry& entry, std::int32_t key) {
  ExpectedEntry out;
  out.key = key;
  const std::size_t head_size = entry.key_size + 5;
  if (head_size > ExpectedEntry::kHeadBytes) return out;
  out.head_size = static_cast<std::uint32_t>(head_size);
  out.head[0] = kEntryTag;
  out.head[2] = kKeyTag;
  out.head[3] = static_cast<std::uint8_t>(entry.key_size);
  std::copy_n(entry.key, entry.key_size, out.head.begin() + 4);
  out.head[head_size - 1] = kValueTag;
  out.ignored = 2 | (head_size == 32 ? 0 : ~std::uint32_t{0} << head_size);
  out.kind_tag = entry.value == entry.end ? 0 : *entry.value;
  // A kind that is none must not be believed later on.
  if ((out.kind_tag & 7) != 2 || out.kind_tag >> 3 < 1 || out.kind_tag >> 3 > 3) {
    out.head_size = 0;
    out.ignored = 0;
    out.head = {};
  }
  return out;
}

}  // namespace

KeyOrders::KeyOrders(const KeySet* keys) : keys_(keys), credit_(kCredit) {
  orders_.reserve(kMaxOrders);
  orders_.push_back(make_order(nullptr, nullptr, 0));
}

bool KeyOrders::begin_record() {
  misses_ = 0;
  if (records_off_ == 0) return true;
  --records_off_;
  return false;
}

const ExpectedEntry* KeyOrders::after(const ExpectedEntry* expected, std::int32_t key) {
  const Order* order = &orders_[current_];
  const auto at = static_cast<std::size_t>(expected - order->entries.data());
  const auto expects_key = [at, key](const Order& o) { return at + 1 < o.entries.size() && o.entries[at].key == key; };
  if (expects_key(*order)) return expected + 1;  // the key was right, its sizes were unusual
  ++misses_;
  if (key < 0) return expected;
  for (std::size_t i = 0; i < orders_.size(); ++i) {
    if (!expects_key(orders_[i])) continue;
    current_ = i;
    return &orders_[i].entries[at + 1];
  }
  const std::int32_t place = order->place[static_cast<std::size_t>(key)];
  return place < 0 ? expected : &order->entries[static_cast<std::size_t>(place) + 1];
}

void KeyOrders::end_record(const std::uint8_t* begin, const std::uint8_t* end, std::size_t entries) {
  if (4 * misses_ <= entries) {
    if (++good_records_ < kGoodRecordsPerCredit) return;
    good_records_ = 0;
    credit_ = std::min(credit_ + 1, kCredit);
    return;
  }
  if (credit_ == 0) {
    records_off_ = kRecordsOff;
    credit_ = kCredit / 2;
    return;
  }
  --credit_;
  if (entries > kMaxEntries) return;
  if (orders_.size() < kMaxOrders) {
    current_ = orders_.size();
    orders_.push_back(make_order(begin, end, entries));
  } else {
    current_ = oldest_;
    oldest_ = (oldest_ + 1) % kMaxOrders;
    orders_[current_] = make_order(begin, end, entries);
  }
}

KeyOrders::Order KeyOrders::make_order(const std::uint8_t* begin, const std::uint8_t* end, std::size_t entries) const {
  Order order;
  order.entries.reserve(entries + 1);
  order.place.assign(keys_->size(), -1);
  ExampleEntry entry;
  for (const std::uint8_t* p = begin; p != end && read_entry(p, end, &entry); p = entry.end) {
    const int key = keys_->find_padded(entry.key, entry.key_size);
    if (key >= 0) order.place[static_cast<std::size_t>(key)] = static_cast<std::int32_t>(order.entries.size());
    order.entries.push_back(expected_entry(entry, key));
  }
  order.entries.emplace_back();
  return order;
}

}  // namespace headrace
