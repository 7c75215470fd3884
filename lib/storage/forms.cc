#include "lib/storage/forms.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace apimesh::storage {
namespace {

/// All of a process that hold something.
struct Shelf {
  std::atomic<std::size_t> bytes = 0;
  std::atomic<std::uint32_t> round = 1;
  std::mutex mutex;
  std::vector<std::weak_ptr<Forms>> filled;  // guarded by mutex
  SteadyTime round_began{};                  // guarded by mutex
};

Shelf& TheShelf() {
  static auto* const shelf = new Shelf();  // entries may outlive everything static
  return *shelf;
}

std::size_t Cost(const SharedBytes& bytes, std::string_view name) { return bytes.size() + name.size() + 112; }

/// What a name has before its '#', with it; "" without one.
std::string_view Family(std::string_view name) { return name.substr(0, name.find('#') + 1); }

}  // namespace

Forms::~Forms() {
  std::size_t bytes = 0;
  for (const Form& form : forms_) bytes += Cost(form.bytes, form.name);
  TheShelf().bytes -= bytes;
}

SharedBytes Forms::Find(std::string_view name, WallTime now) {
  const std::lock_guard lock(mutex_);
  for (Form& form : forms_) {
    if (form.name != name || !form.valid.At(now)) continue;
    form.round = TheShelf().round.load(std::memory_order_relaxed);
    return form.bytes;
  }
  return {};
}

bool Forms::HasRoom(std::size_t bytes) { return TheShelf().bytes + bytes <= kBudget; }

/// Of a whole family the one that was used longest ago goes. To be freed without the lock.
Forms::Form Forms::TakeOldestOf(std::string_view family) {
  const auto related = [family](const Form& form) { return Family(form.name) == family; };
  if (family.empty() || std::count_if(forms_.begin(), forms_.end(), related) < kFamily) return {};
  auto oldest = forms_.end();
  for (auto form = forms_.begin(); form != forms_.end(); ++form) {
    if (related(*form) && (oldest == forms_.end() || form->round < oldest->round)) oldest = form;
  }
  Form taken = std::move(*oldest);
  forms_.erase(oldest);
  TheShelf().bytes -= Cost(taken.bytes, taken.name);
  return taken;
}

SharedBytes Forms::Keep(std::string_view name, SharedBytes bytes, Validity valid) {
  Shelf& shelf = TheShelf();
  Form replaced;  // freed without the lock
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    const std::size_t cost = Cost(bytes, name);
    for (Form& form : forms_) {
      if (form.name != name) continue;
      if (form.valid.At(valid.from)) return form.bytes;
      // About as long as the one before it: the budget is not asked again.
      shelf.bytes += cost - Cost(form.bytes, name);
      replaced.bytes = std::exchange(form.bytes, bytes);
      form.valid = valid;
      form.round = shelf.round.load(std::memory_order_relaxed);
      return bytes;
    }
    first = forms_.empty();
    replaced = TakeOldestOf(Family(name));
    if (shelf.bytes.fetch_add(cost) + cost > kBudget) {
      shelf.bytes -= cost;
      return bytes;
    }
    forms_.push_back({std::string(name), bytes, valid, shelf.round.load(std::memory_order_relaxed)});
  }
  if (first) {
    const std::lock_guard lock(shelf.mutex);
    shelf.filled.push_back(weak_from_this());
  }
  return bytes;
}

bool Forms::DropUnused(std::uint32_t round) {
  std::vector<Form> dropped;  // freed without the lock
  const std::lock_guard lock(mutex_);
  const auto used = [round](const Form& form) { return form.round >= round; };
  const auto unused = std::stable_partition(forms_.begin(), forms_.end(), used);
  std::move(unused, forms_.end(), std::back_inserter(dropped));
  forms_.erase(unused, forms_.end());
  for (const Form& form : dropped) TheShelf().bytes -= Cost(form.bytes, form.name);
  return !forms_.empty();
}

void Forms::EndRound(SteadyTime now) {
  Shelf& shelf = TheShelf();
  std::vector<std::weak_ptr<Forms>> filled;
  std::uint32_t ended = 0;
  {
    const std::lock_guard lock(shelf.mutex);
    if (now - shelf.round_began < kRound) return;
    shelf.round_began = now;
    ended = shelf.round.fetch_add(1);
    filled.swap(shelf.filled);
  }
  std::erase_if(filled, [ended](const std::weak_ptr<Forms>& weak) {
    const std::shared_ptr<Forms> forms = weak.lock();
    return !forms || !forms->DropUnused(ended);
  });
  const std::lock_guard lock(shelf.mutex);
  shelf.filled.insert(shelf.filled.end(), std::make_move_iterator(filled.begin()), std::make_move_iterator(filled.end()));
}

std::size_t Forms::Total() { return TheShelf().bytes; }

}  // namespace apimesh::storage
