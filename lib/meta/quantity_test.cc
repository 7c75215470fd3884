#include "lib/meta/quantity.h"

#include <gtest/gtest.h>

namespace apimesh::meta {
namespace {

using Format = Quantity::Format;

struct Case {
  std::string text;
  std::string canonical;
  Format format;
};
const Case kCases[] = {
    {"0", "0", Format::kDecimalSi},
    {"0Ki", "0", Format::kBinarySi},
    {"1Ki", "1Ki", Format::kBinarySi},
    {"1024Ki", "1Mi", Format::kBinarySi},
    {"1000Ki", "1000Ki", Format::kBinarySi},
    {"512Ki", "512Ki", Format::kBinarySi},
    {"3Ei", "3Ei", Format::kBinarySi},
    {"9Ei", "9223372036854775807", Format::kBinarySi},
    {"9223372036854775807Ki", "9223372036854775807", Format::kBinarySi},
    {"0.5Mi", "512Ki", Format::kBinarySi},
    {"0.5Ki", "512", Format::kBinarySi},
    {"100.035Ki", "102435840m", Format::kBinarySi},
    {"0.05Gi", "53687091200m", Format::kBinarySi},
    {"0.000000000001Ki", "2n", Format::kDecimalSi},
    {"5n", "5n", Format::kDecimalSi},
    {"3m", "3m", Format::kDecimalSi},
    {"1000m", "1", Format::kDecimalSi},
    {"0.1", "100m", Format::kDecimalSi},
    {"0.500", "500m", Format::kDecimalSi},
    {"1.500", "1.500", Format::kDecimalSi},
    {"1.5", "1500m", Format::kDecimalSi},
    {"8.1k", "8100", Format::kDecimalSi},
    {"50000", "50k", Format::kDecimalSi},
    {"12E", "12E", Format::kDecimalSi},
    {"100.035k", "100.035k", Format::kDecimalSi},
    {"3.001n", "4n", Format::kDecimalSi},
    {"0.00000012345", "124n", Format::kDecimalSi},
    {".001", "1m", Format::kDecimalSi},
    {"1.", "1.", Format::kDecimalSi},
    {"1.G", "1.G", Format::kDecimalSi},
    {"+5", "+5", Format::kDecimalSi},
    {"-1.5Gi", "-1536Mi", Format::kBinarySi},
    {"1e3", "1e3", Format::kDecimalExponent},
    {"1E3", "1E3", Format::kDecimalExponent},
    {"1.2e3", "1200", Format::kDecimalExponent},
    {"1e4", "10e3", Format::kDecimalExponent},
    {"1.1E-9", "2e-9", Format::kDecimalExponent},
    {"1e400", "10e399", Format::kDecimalExponent},
    {"0.5e0", "500e-3", Format::kDecimalExponent},
    {"123456789012345678901234567890", "123456789012345678901234567890", Format::kDecimalSi},
    {"-", "0", Format::kDecimalSi},
    {"M", "0", Format::kDecimalSi},
};

TEST(Quantity, ParsesAndPrintsAsTheReferenceDoes) {
  for (const Case& test : kCases) {
    const auto quantity = Quantity::Parse(test.text);
    ASSERT_TRUE(quantity) << test.text << ": " << quantity.error();
    EXPECT_EQ(quantity->ToString(), test.canonical) << test.text;
    EXPECT_EQ(quantity->GetFormat(), test.format) << test.text;
  }
}

TEST(Quantity, RefusesWhatIsNone) {
  const std::string format =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  const std::pair<std::string, std::string> cases[] = {
      {"", format},
      {"1.1.M", format},
      {"1+1.0M", format},
      {"0.1am", format},
      {"aoeu", format},
      {" 1", format},
      {"1 ", format},
      {"0.1mi", "unable to parse quantity's suffix"},
      {"1i", "unable to parse quantity's suffix"},
      {"-3.01e-", "unable to parse quantity's suffix"},
      {"Ei", "unable to parse numeric part of quantity"},
  };
  for (const auto& [text, error] : cases) {
    const auto quantity = Quantity::Parse(text);
    ASSERT_FALSE(quantity) << text;
    EXPECT_EQ(quantity.error(), error) << text;
  }
}

TEST(Quantity, HasALimitOfDigits) {
  EXPECT_EQ(Quantity::Parse(std::string(4096, '7'))->ToString(), std::string(4096, '7'));
  EXPECT_EQ(Quantity::Parse(std::string(1'000'000, '7')).error(), "unable to parse numeric part of quantity");
  EXPECT_FALSE(Quantity::Parse("1." + std::string(4096, '7')));
}

TEST(Quantity, ComparesAcrossNotations) {
  const auto q = [](std::string_view text) { return *Quantity::Parse(text); };
  EXPECT_EQ(q("1Ki"), q("1024"));
  EXPECT_EQ(q("1"), q("1000m"));
  EXPECT_LT(q("999m"), q("1"));
  EXPECT_LT(q("-1"), q("1n"));
  EXPECT_GT(q("1e900000000"), q("123456789012345678901234567890"));
  EXPECT_EQ(q("1e999999999"), q("1e999999999"));
  EXPECT_LT(q("100E"), q("1000000000000000000001"));
}

TEST(Quantity, AddsAndRounds) {
  Quantity sum;
  sum.Add(*Quantity::Parse("512Mi"));
  sum.Add(*Quantity::Parse("512Mi"));
  EXPECT_EQ(sum.ToString(), "1Gi");
  sum.Sub(*Quantity::Parse("1Gi"));
  EXPECT_TRUE(sum.IsZero());
  Quantity cpu = *Quantity::Parse("250m");
  cpu.Add(*Quantity::Parse("1"));
  EXPECT_EQ(cpu.ToString(), "1250m");
  EXPECT_EQ(cpu.Value(), 2);
  EXPECT_EQ(cpu.MilliValue(), 1250);
  Quantity large(std::numeric_limits<std::int64_t>::max());
  large.Add(Quantity(1));
  EXPECT_EQ(large.ToString(), "9223372036854775808");
}

}  // namespace
}  // namespace apimesh::meta
