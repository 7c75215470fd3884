#include "lib/codec/json/quote_byte.h"

#include "lib/base/text/utf8.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::codec {

std::string QuoteByte(unsigned char byte) {
  if (byte == '\'') return R"('\'')";
  if (byte == '"') return R"('"')";
  std::string rune;
  AppendUtf8(rune, byte);
  const std::string quoted = meta::Quoted(rune);
  return "'" + quoted.substr(1, quoted.size() - 2) + "'";
}

}  // namespace apimesh::codec
