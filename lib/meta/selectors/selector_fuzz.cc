// Fuzzes selectors, which come from query parameters of untrusted clients. The canonical text must parse again, to the
// same text.
#include <cstdint>
#include <cstdlib>

#include "lib/meta/request/request_info.h"
#include "lib/meta/selectors/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::meta;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto selector = LabelSelector::Parse(text)) {
    const std::string canonical = selector->ToString();
    const auto again = LabelSelector::Parse(canonical);
    if (!again || again->ToString() != canonical) std::abort();
    selector->Matches({{"a", "1"}, {"b", ""}});
  }
  if (const auto selector = FieldSelector::Parse(text)) {
    const std::string canonical = selector->ToString();
    const auto again = FieldSelector::Parse(canonical);
    if (!again || again->ToString() != canonical) std::abort();
  }
  const std::size_t question = text.find('?');
  ParseRequestInfo("GET", text.substr(0, question), question == text.npos ? "" : text.substr(question + 1));
  return 0;
}
