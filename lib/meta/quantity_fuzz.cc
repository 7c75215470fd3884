// Fuzzes quantities and times, which every pod contains. The canonical text must parse again, to the same value and the
// same text.
#include <cstdint>
#include <cstdlib>

#include "lib/meta/ages.h"
#include "lib/meta/quantity.h"
#include "lib/meta/time.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace apimesh::meta;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (auto quantity = Quantity::Parse(text)) {
    const std::string canonical = quantity->ToString();
    const auto again = Quantity::Parse(canonical);
    if (!again) std::abort();
    // As in kube-apiserver, a value that is too large for the last suffix is written without a suffix.
    static const Quantity beyond = *Quantity::Parse("1000E"), below = *Quantity::Parse("-1000E");
    const bool has_suffix =
        quantity->GetFormat() == Quantity::Format::kDecimalExponent || (*quantity < beyond && *quantity > below);
    if (has_suffix && (*again != *quantity || again->ToString() != canonical)) std::abort();
    Quantity sum = *quantity;
    sum.Add(Quantity(1));
    sum.Sub(*again);
    sum.Value();
    sum.MilliValue();
    if (sum.ToString().empty()) std::abort();
  }
  if (const auto time = ParseTime(text)) {
    const auto again = ParseTime(FormatMicroTime(*time));
    if (!again || FormatMicroTime(*again) != FormatMicroTime(*time)) std::abort();
    Ages(*time).Of(text);
  }
  return 0;
}
