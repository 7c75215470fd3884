#include "lib/base/text/text_index.h"

#include <algorithm>

#include "lib/base/hash/seeded_hash.h"

namespace apimesh {
namespace {
std::uint32_t HashOf(std::string_view text) { return static_cast<std::uint32_t>(SeededHash()(text)); }
}  // namespace

std::size_t TextIndex::SlotOf(std::string_view text, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != 0 && (slots_[at].hash != hash || texts_[slots_[at].number - 1] != text))
    at = (at + 1) & mask;
  return at;
}

void TextIndex::Grow() {
  std::vector<Slot> before(slots_.empty() ? 4 * kFew : 2 * slots_.size());
  slots_.swap(before);
  const std::size_t mask = slots_.size() - 1;
  const auto place = [&](const Slot& slot) {
    std::size_t at = slot.hash & mask;
    while (slots_[at].number != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  };
  for (const Slot& slot : before) {
    if (slot.number != 0) place(slot);
  }
  if (!before.empty()) return;
  for (std::size_t i = 0; i < texts_.size(); ++i) place({HashOf(texts_[i]), static_cast<std::uint32_t>(i + 1)});
}

TextIndex::Added TextIndex::Add(std::string_view text) {
  if (slots_.empty()) {
    const auto it = std::find(texts_.begin(), texts_.end(), text);
    if (it != texts_.end()) return {static_cast<std::size_t>(it - texts_.begin()), false};
    texts_.push_back(text);
    if (texts_.size() > kFew) Grow();
    return {texts_.size() - 1, true};
  }
  if (3 * (texts_.size() + 1) > 2 * slots_.size()) Grow();
  const std::uint32_t hash = HashOf(text);
  Slot& slot = slots_[SlotOf(text, hash)];
  if (slot.number != 0) return {slot.number - 1, false};
  texts_.push_back(text);
  slot = {hash, static_cast<std::uint32_t>(texts_.size())};
  return {texts_.size() - 1, true};
}

std::optional<std::size_t> TextIndex::Find(std::string_view text) const {
  if (slots_.empty()) {
    const auto it = std::find(texts_.begin(), texts_.end(), text);
    return it != texts_.end() ? std::optional<std::size_t>(it - texts_.begin()) : std::nullopt;
  }
  const Slot& slot = slots_[SlotOf(text, HashOf(text))];
  return slot.number != 0 ? std::optional<std::size_t>(slot.number - 1) : std::nullopt;
}

}  // namespace apimesh
