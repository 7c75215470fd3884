#include "lib/schema/values/formats.h"

#include <string>

#include <gtest/gtest.h>

namespace apimesh::schema {
namespace {

struct Case {
  const char* format;
  const char* text;
  bool valid;
};

// The verdicts are those of kube-apiserver v1.36.3.
TEST(Formats, OfTexts) {
  const Case cases[] = {
      {"bsonobjectid", "507f1f77bcf86cd799439011", true},
      {"bsonobjectid", "507f1f77bcf86cd79943901", false},
      {"uri", "http://a.example/b?c#d", true},
      {"uri", "/path", true},
      {"uri", "//host/x", true},
      {"uri", "mailto:a@b", true},
      {"uri", "http://", true},
      {"uri", "no scheme", false},
      {"uri", "foo", false},
      {"uri", "http://[::1]:80/", true},
      {"uri", "http://a b/", false},
      {"uri", "http://a/%zz", false},
      {"uri", "http://a:x/", false},
      {"uri", "*", true},
      {"uri", "", false},
      {"uri", "1http://a", false},
      {"uri", "http://u@h/", true},
      {"uri", "http://h/a b", true},
      {"email", "a@b", true},
      {"email", "a.b@c.d", true},
      {"email", "Barry <b@c.d>", true},
      {"email", "\"q q\"@c", true},
      {"email", "@b", false},
      {"email", "a@", false},
      {"email", "a b@c", false},
      {"email", "a..b@c", false},
      {"email", "<a@b>", true},
      {"email", "a@b c", false},
      {"email", "a@[127.0.0.1]", true},
      {"email", "", false},
      {"hostname", "a", true},
      {"hostname", "a.b", false},
      {"hostname", "a.bc", true},
      {"hostname", "-a", false},
      {"hostname", "a-", true},
      {"hostname", "a_b.com", false},
      {"hostname", "1.2.3.4", false},
      {"hostname", "xn--a.com", true},
      {"hostname", "ü.com", true},
      {"hostname", "", false},
      {"ipv4", "1.2.3.4", true},
      {"ipv4", "01.2.3.4", true},
      {"ipv4", "1.2.3", false},
      {"ipv4", "::ffff:1.2.3.4", true},
      {"ipv4", "256.1.1.1", false},
      {"ipv6", "::1", true},
      {"ipv6", "1.2.3.4", false},
      {"ipv6", "fe80::1%eth0", false},
      {"ipv6", "::ffff:1.2.3.4", true},
      {"ipv6", "g::", false},
      {"cidr", "10.0.0.0/8", true},
      {"cidr", "10.0.0.0/33", false},
      {"cidr", "010.0.0.0/8", true},
      {"cidr", "::/129", false},
      {"cidr", "::/0", true},
      {"cidr", "10.0.0.0", false},
      {"cidr", "10.0.0.0/08", true},
      {"mac", "01:23:45:67:89:ab", true},
      {"mac", "0123.4567.89ab", true},
      {"mac", "01-23-45-67-89-ab-cd-ef", true},
      {"mac", "01:23:45:67:89", false},
      {"mac", "01:23-45:67:89:ab", false},
      {"uuid", "7a3f2c44-1111-2222-3333-444455556666", true},
      {"uuid", "7A3F2C44111122223333444455556666", true},
      {"uuid", "x", false},
      {"uuid3", "7a3f2c44-1111-3222-3333-444455556666", true},
      {"uuid3", "7a3f2c44-1111-4222-3333-444455556666", false},
      {"uuid4", "7a3f2c44-1111-4222-8333-444455556666", true},
      {"uuid4", "7a3f2c44-1111-4222-3333-444455556666", false},
      {"uuid5", "7a3f2c44-1111-5222-8333-444455556666", true},
      {"uuid5", "x", false},
      {"isbn", "0321751043", true},
      {"isbn", "978-0321751041", true},
      {"isbn", "0321751044", false},
      {"isbn10", "0321751043", true},
      {"isbn10", "978-0321751041", false},
      {"isbn10", "080442957X", true},
      {"isbn13", "978-0321751041", true},
      {"isbn13", "0321751043", false},
      {"creditcard", "4111 1111 1111 1111", true},
      {"creditcard", "4111-1111-1111-1112", false},
      {"creditcard", "x", false},
      {"ssn", "111-11-1111", true},
      {"ssn", "111111111", false},
      {"ssn", "111 11 1111", true},
      {"ssn", "11-111-1111", false},
      {"hexcolor", "#FFF", true},
      {"hexcolor", "ffffff", true},
      {"hexcolor", "#ffff", false},
      {"rgbcolor", "rgb(1,2,255)", true},
      {"rgbcolor", "rgb( 1 , 2 , 3 )", true},
      {"rgbcolor", "rgb(1,2,256)", false},
      {"rgbcolor", "rgb(01,2,3)", false},
      {"rgbcolor", "RGB(1,2,3)", false},
      {"byte", "YQ==", true},
      {"byte", "YQ", false},
      {"byte", "a-b_", false},
      {"byte", "", false},
      {"byte", "YWJj", true},
      {"password", "x", true},
      {"password", "", true},
      {"date", "2024-02-29", true},
      {"date", "2023-02-29", false},
      {"date", "2024-2-9", false},
      {"date", "20240101", false},
      {"date", "0000-01-01", true},
      {"duration", "1h2m", true},
      {"duration", "5 days", true},
      {"duration", "1.5s", true},
      {"duration", "3 parsecs", false},
      {"duration", "2 hours", true},
      {"duration", "x", false},
      {"duration", "22 ns", true},
      {"duration", "-1m", true},
      {"duration", "0", true},
      {"duration", "1d", true},
      {"duration", "10 WEEKS", true},
      {"duration", "", false},
      {"duration", "3hs", false},
      {"date-time", "2024-01-01T00:00:00Z", true},
      {"date-time", "2024-01-01t00:00:00.5+01:00", true},
      {"date-time", "2024-01-01 00:00:00Z", false},
      {"date-time", "2024-01-01T24:00:00Z", false},
      {"date-time", "2024-01-01T00:00:60Z", false},
      {"date-time", "2024-01-01T00:00:00", false},
      {"date-time", "2024-13-01T00:00:00Z", false},
      {"date-time", "2024-01-01T00:00:00+99:99", true},
      {"datetime", "x", false},
      {"datetime", "2024-01-01T00:00:00Z", true},
      {"k8s-short-name", "a-b", true},
      {"k8s-short-name", "A", false},
      {"k8s-short-name", "a.b", false},
      {"k8s-long-name", "a.b", true},
      {"k8s-long-name", "a..b", false},
      {"k8s-long-name", "A.b", false},
      {"nope", "x", true},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(HasFormat(one.text, FindFormat("string", one.format)), one.valid) << one.format << ": " << one.text;
  }
  const std::string label(63, 'a');
  EXPECT_TRUE(HasFormat(label, Format::kHostname));
  EXPECT_FALSE(HasFormat(label + "a", Format::kHostname));
  EXPECT_TRUE(HasFormat(label, Format::kShortName));
  EXPECT_FALSE(HasFormat(label + "a", Format::kShortName));
}

TEST(Formats, BelongToATypeOfValues) {
  EXPECT_EQ(FindFormat("integer", "int32"), Format::kInt32);
  EXPECT_EQ(FindFormat("integer", "date"), Format::kNone);
  EXPECT_EQ(FindFormat("number", "double"), Format::kDouble);
  EXPECT_EQ(FindFormat("number", "int64"), Format::kNone);
  EXPECT_EQ(FindFormat("", "date-time"), Format::kDateTime);
  EXPECT_EQ(FindFormat("object", "date-time"), Format::kNone);
  EXPECT_EQ(FindFormat("string", "int32"), Format::kNone);
}

}  // namespace
}  // namespace apimesh::schema
