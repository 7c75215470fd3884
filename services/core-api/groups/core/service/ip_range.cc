#include "services/core-api/groups/core/service/ip_range.h"

#include <algorithm>
#include <charconv>

#include <boost/asio/ip/address.hpp>

namespace apimesh::core_api {
namespace {

namespace ip = boost::asio::ip;

constexpr unsigned kMaxHostBits = 20;

std::optional<ip::address> ParseIp(std::string_view text) {
  boost::system::error_code error;
  const ip::address parsed = ip::make_address(std::string(text), error);
  if (error) return std::nullopt;
  return parsed;
}

template <class Bytes>
void Copy(const Bytes& from, std::array<unsigned char, 16>& to) {
  std::copy(from.begin(), from.end(), to.begin());
}

std::size_t BytesOf(const ip::address& address, std::array<unsigned char, 16>& bytes) {
  if (address.is_v4()) {
    Copy(address.to_v4().to_bytes(), bytes);
    return 4;
  }
  Copy(address.to_v6().to_bytes(), bytes);
  return 16;
}

}  // namespace

std::optional<IpRange> IpRange::Parse(std::string_view cidr) {
  const std::size_t slash = cidr.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<ip::address> address = ParseIp(cidr.substr(0, slash));
  IpRange range;
  const std::string_view bits = cidr.substr(slash + 1);
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), range.bits_);
  if (!address || error != std::errc() || end != bits.data() + bits.size()) return std::nullopt;
  range.size_ = BytesOf(*address, range.base_);
  if (range.bits_ > range.size_ * 8) return std::nullopt;
  for (std::size_t bit = range.bits_; bit < range.size_ * 8; ++bit) {
    range.base_[bit / 8] = static_cast<unsigned char>(range.base_[bit / 8] & ~(0x80U >> (bit % 8)));
  }
  const unsigned host_bits = std::min(static_cast<unsigned>(range.size_ * 8) - range.bits_, kMaxHostBits);
  const std::uint64_t reserved = range.size_ == 4 ? 2 : 1;
  const std::uint64_t all = std::uint64_t{1} << host_bits;
  range.count_ = all > reserved ? all - reserved : 0;
  return range;
}

std::uint64_t IpRange::DynamicOffset() const {
  constexpr std::uint64_t kMin = 16, kMax = 256, kStep = 16;
  if (count_ <= kMin) return 0;
  return std::clamp(count_ / kStep, kMin, kMax);
}

std::string IpRange::Network() const { return Offset(0); }
std::string IpRange::At(std::uint64_t index) const { return Offset(index + 1); }

std::string IpRange::Offset(std::uint64_t offset) const {
  std::array<unsigned char, 16> bytes = base_;
  std::uint64_t carry = offset;
  for (std::size_t i = size_; i-- > 0 && carry != 0;) {
    carry += bytes[i];
    bytes[i] = static_cast<unsigned char>(carry & 0xff);
    carry >>= 8;
  }
  if (size_ == 4) return ip::address_v4({bytes[0], bytes[1], bytes[2], bytes[3]}).to_string();
  return ip::address_v6(bytes).to_string();
}

bool IpRange::Contains(std::string_view text) const {
  const std::optional<ip::address> address = ParseIp(text);
  std::array<unsigned char, 16> bytes{};
  if (!address || BytesOf(*address, bytes) != size_) return false;
  for (std::size_t bit = 0; bit < bits_; ++bit) {
    if (((bytes[bit / 8] ^ base_[bit / 8]) & (0x80U >> (bit % 8))) != 0) return false;
  }
  bool zeros = true, ones = true;  // whether all bits after the prefix are 0 or 1
  for (std::size_t bit = bits_; bit < size_ * 8; ++bit) {
    const bool set = (bytes[bit / 8] & (0x80U >> (bit % 8))) != 0;
    zeros = zeros && !set;
    ones = ones && set;
  }
  return !zeros && !(ones && size_ == 4);
}

}  // namespace apimesh::core_api
