#include "lib/cel/library/library.h"
#include "lib/cel/library/net/address.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::cel {
namespace {

using Args = std::span<const Value>;

class IpValue : public Opaque {
 public:
  explicit IpValue(const Address& address) : address(address) {}
  std::string_view TypeName() const override { return "net.IP"; }
  std::string_view Constructor() const override { return "ip"; }
  bool Equals(const Opaque& other) const override { return address == static_cast<const IpValue&>(other).address; }
  std::string ToString() const override { return address.ToString(); }
  std::uint64_t Size() const override { return static_cast<std::uint64_t>(address.Bits()) / 8; }

  const Address address;
};

class CidrValue : public Opaque {
 public:
  explicit CidrValue(const Prefix& prefix) : prefix(prefix) {}
  std::string_view TypeName() const override { return "net.CIDR"; }
  std::string_view Constructor() const override { return "cidr"; }
  bool Equals(const Opaque& other) const override {
    const Prefix& o = static_cast<const CidrValue&>(other).prefix;
    return prefix.address == o.address && prefix.bits == o.bits;
  }
  std::string ToString() const override { return fmt::format("{}/{}", prefix.address.ToString(), prefix.bits); }
  std::uint64_t Size() const override { return static_cast<std::uint64_t>(prefix.bits + 7) / 8; }

  const Prefix prefix;
};

std::optional<Address> ParseIpText(std::string_view text, std::string& error) {
  bool has_zone = false;
  const auto out = ParseAddress(text, has_zone, error);
  if (!out) {
    error = fmt::format("IP Address {} parse error during conversion from string: {}", meta::Quoted(text), error);
  } else if (has_zone) {
    error = fmt::format("IP address {} with zone value is not allowed", meta::Quoted(text));
  } else if (out->Is4In6()) {
    error = fmt::format("IPv4-mapped IPv6 address {} is not allowed", meta::Quoted(text));
  } else {
    return out;
  }
  return std::nullopt;
}

std::optional<Prefix> ParseCidrText(std::string_view text, std::string& error) {
  const auto out = ParsePrefix(text, error);
  if (!out) {
    error = "network address parse error during conversion from string: " + error;
  } else if (out->address.Is4In6()) {
    error = fmt::format("IPv4-mapped IPv6 address {} is not allowed", meta::Quoted(text));
  } else {
    return out;
  }
  return std::nullopt;
}

const Address& IpOf(const Value& value) { return static_cast<const IpValue&>(value.AsOpaque()).address; }
const Prefix& CidrOf(const Value& value) { return static_cast<const CidrValue&>(value.AsOpaque()).prefix; }
Value Ip(Arena& arena, const Address& address) { return Value::Of(arena.New<IpValue>(address)); }
Value Cidr(Arena& arena, const Prefix& prefix) { return Value::Of(arena.New<CidrValue>(prefix)); }

Value ToIp(Args args, Arena& arena) {
  std::string error;
  const auto address = ParseIpText(args[0].AsString(), error);
  return address ? Ip(arena, *address) : Value::Error(arena, error);
}

Value ToCidr(Args args, Arena& arena) {
  std::string error;
  const auto prefix = ParseCidrText(args[0].AsString(), error);
  if (prefix) return Cidr(arena, *prefix);
  return Errorf(arena, "network address parse error during conversion from string: {}", error);
}

Value IsCanonical(Args args, Arena& arena) {
  std::string error;
  const auto address = ParseIpText(args[0].AsString(), error);
  return address ? Value::Bool(address->ToString() == args[0].AsString()) : Value::Error(arena, error);
}

Value Print(Args args, Arena& arena) { return Value::String(arena.Copy(args[0].AsOpaque().ToString())); }

bool IsUnspecified(const Address& a) { return a == Address{{}, a.v6}; }
bool IsLoopback(const Address& a) {
  Address one{{}, true};
  one.bytes[15] = 1;
  return a.v6 ? a == one : a.bytes[0] == 127;
}
bool IsLinkLocalMulticast(const Address& a) {
  return a.v6 ? a.bytes[0] == 0xff && (a.bytes[1] & 0x0f) == 2
              : a.bytes[0] == 224 && a.bytes[1] == 0 && a.bytes[2] == 0;
}
bool IsLinkLocalUnicast(const Address& a) {
  return a.v6 ? a.bytes[0] == 0xfe && (a.bytes[1] & 0xc0) == 0x80 : a.bytes[0] == 169 && a.bytes[1] == 254;
}
bool IsMulticast(const Address& a) { return a.v6 ? a.bytes[0] == 0xff : (a.bytes[0] & 0xf0) == 0xe0; }
bool IsGlobalUnicast(const Address& a) {
  Address broadcast{{0xff, 0xff, 0xff, 0xff}, false};
  return !IsUnspecified(a) && !IsLoopback(a) && !IsMulticast(a) && !IsLinkLocalUnicast(a) && !(a == broadcast);
}
template <bool (*kTest)(const Address&)>
Value Test(Args args, Arena&) {
  return Value::Bool(kTest(IpOf(args[0])));
}

Value ContainsIp(Args args, Arena&) { return Value::Bool(CidrOf(args[0]).Contains(IpOf(args[1]))); }
Value ContainsIpText(Args args, Arena&) {
  std::string error;
  const auto address = ParseIpText(args[1].AsString(), error);
  return address ? Value::Bool(CidrOf(args[0]).Contains(*address)) : NoSuchOverload();
}
bool ContainsPrefix(const Prefix& outer, const Prefix& inner) {
  return outer.bits <= inner.bits && outer.Contains(inner.address);
}
Value ContainsCidr(Args args, Arena&) { return Value::Bool(ContainsPrefix(CidrOf(args[0]), CidrOf(args[1]))); }
Value ContainsCidrText(Args args, Arena& arena) {
  const Value prefix = ToCidr(args.subspan(1), arena);
  return prefix.IsError() ? prefix : Value::Bool(ContainsPrefix(CidrOf(args[0]), CidrOf(prefix)));
}

}  // namespace

void AddIp(Declarations& out) {
  const TypeRef ip = Type::Opaque("net.IP"), &s = Type::String(), &b = Type::Bool();
  out.types["net.IP"] = ip;
  out.Add("ip", {"string_to_ip", false, {s}, ip, ToIp});
  out.Add("family", {"ip_family", true, {ip}, Type::Int(), [](Args args, Arena&) {
                       return Value::Int(IpOf(args[0]).v6 ? 6 : 4);
                     }});
  out.Add("ip.isCanonical", {"ip_is_canonical", false, {s}, b, IsCanonical});
  out.Add("isUnspecified", {"ip_is_unspecified", true, {ip}, b, Test<IsUnspecified>});
  out.Add("isLoopback", {"ip_is_loopback", true, {ip}, b, Test<IsLoopback>});
  out.Add("isLinkLocalMulticast", {"ip_is_link_local_multicast", true, {ip}, b, Test<IsLinkLocalMulticast>});
  out.Add("isLinkLocalUnicast", {"ip_is_link_local_unicast", true, {ip}, b, Test<IsLinkLocalUnicast>});
  out.Add("isGlobalUnicast", {"ip_is_global_unicast", true, {ip}, b, Test<IsGlobalUnicast>});
  out.Add("isIP", {"is_ip", false, {s}, b, [](Args args, Arena&) {
                     std::string error;
                     return Value::Bool(ParseIpText(args[0].AsString(), error).has_value());
                   }});
  out.Add("string", {"ip_to_string", false, {ip}, s, Print});
}

void AddCidr(Declarations& out) {
  const TypeRef ip = Type::Opaque("net.IP"), cidr = Type::Opaque("net.CIDR"), &s = Type::String(), &b = Type::Bool();
  out.types["net.CIDR"] = cidr;
  out.Add("cidr", {"string_to_cidr", false, {s}, cidr, ToCidr});
  out.Add("containsIP", {"cidr_contains_ip_string", true, {cidr, s}, b, ContainsIpText});
  out.Add("containsIP", {"cidr_contains_ip_ip", true, {cidr, ip}, b, ContainsIp});
  out.Add("containsCIDR", {"cidr_contains_cidr_string", true, {cidr, s}, b, ContainsCidrText});
  out.Add("containsCIDR", {"cidr_contains_cidr", true, {cidr, cidr}, b, ContainsCidr});
  out.Add("ip",
          {"cidr_ip", true, {cidr}, ip, [](Args args, Arena& arena) { return Ip(arena, CidrOf(args[0]).address); }});
  out.Add("prefixLength", {"cidr_prefix_length", true, {cidr}, Type::Int(), [](Args args, Arena&) {
                             return Value::Int(CidrOf(args[0]).bits);
                           }});
  out.Add("masked", {"cidr_masked", true, {cidr}, cidr, [](Args args, Arena& arena) {
                       const Prefix& prefix = CidrOf(args[0]);
                       return Cidr(arena, {prefix.Masked(), prefix.bits});
                     }});
  out.Add("isCIDR", {"is_cidr", false, {s}, b, [](Args args, Arena&) {
                       std::string error;
                       return Value::Bool(ParseCidrText(args[0].AsString(), error).has_value());
                     }});
  out.Add("string", {"cidr_to_string", false, {cidr}, s, Print});
}

}  // namespace apimesh::cel
