#include "services/store/tool/bump_revision.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

namespace apimesh::store::tool {
namespace {

constexpr std::int64_t kLargestBump = 1'000'000'000'000'000;

}  // namespace

Revision BumpRevision(Base& base, std::int64_t by) {
  const Revision revision = base.OpenView()->Number(Base::kRevision) + by;
  const auto writer = base.OpenWriter();
  writer->SetNumber(Base::kRevision, revision);
  writer->OnCompacted(revision);
  writer->Commit();
  return revision;
}

std::int64_t ReadBump(const std::string& text) {
  std::int64_t bump = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bump);
  if (error != std::errc() || end != text.data() + text.size() || bump < 0 || bump > kLargestBump)
    throw std::invalid_argument(fmt::format("--bump-revision is a number from 0 to {}", kLargestBump));
  return bump;
}

}  // namespace apimesh::store::tool
