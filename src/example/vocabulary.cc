#include "example/vocabulary.h"

#include <bit>

#include "base/fingerprint.h"
#include "base/random.h"

namespace headrace {

Vocabulary::Vocabulary(std::span<const std::string> strings) {
  reserve(strings.size());
  begin_.reserve(strings.size() + 1);
  begin_.push_back(0);
  for (const std::string& text : strings) {
    text_ += text;
    begin_.push_back(text_.size());
  }
  for (std::size_t i = 0; i < strings.size(); ++i) {
    const std::uint64_t word = fingerprint64(strings[i]);
    Slot& slot = slots_[probe(word, [&](const Slot& other) {
      return other.word == word && strings[static_cast<std::size_t>(other.place)] == strings[i];
    })];
    if (slot.place >= 0 && repeated_ < 0) repeated_ = static_cast<std::int64_t>(i);
    if (slot.place < 0) slot = {word, static_cast<std::int64_t>(i)};
  }
}

Vocabulary::Vocabulary(std::span<const std::int64_t> integers) {
  reserve(integers.size());
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const auto word = static_cast<std::uint64_t>(integers[i]);
    Slot& slot = slots_[probe(mix64(word), [&](const Slot& other) { return other.word == word; })];
    if (slot.place >= 0 && repeated_ < 0) repeated_ = static_cast<std::int64_t>(i);
    if (slot.place < 0) slot = {word, static_cast<std::int64_t>(i)};
  }
}

void Vocabulary::reserve(std::size_t entries) {
  size_ = static_cast<std::int64_t>(entries);
  slots_.resize(std::bit_ceil(entries * 2 + 1));
  mask_ = slots_.size() - 1;
}

template <class Same>
std::size_t Vocabulary::probe(std::uint64_t hash, Same same) const {
  std::size_t at = hash & mask_;
  while (slots_[at].place >= 0 && !same(slots_[at])) at = (at + 1) & mask_;
  return at;
}

std::int64_t Vocabulary::find(std::string_view text, std::uint64_t fingerprint) const {
  return slots_[probe(fingerprint,
                      [&](const Slot& slot) {
                        if (slot.word != fingerprint) return false;
                        const auto place = static_cast<std::size_t>(slot.place);
                        return text == std::string_view(text_).substr(begin_[place], begin_[place + 1] - begin_[place]);
                      })]
      .place;
}

std::int64_t Vocabulary::find(std::int64_t number) const {
  const auto word = static_cast<std::uint64_t>(number);
  return slots_[probe(mix64(word), [word](const Slot& slot) { return slot.word == word; })].place;
}

}  // namespace headrace
