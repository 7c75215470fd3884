#include "lib/encryption/ciphers.h"

#include <gtest/gtest.h>

#include "lib/base/text/base64.h"

namespace apimesh::encryption {
namespace {

const std::string kKey = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kPlain = R"({"kind":"Secret","apiVersion":"v1"})";
constexpr std::string_view kPath = "/registry/secrets/default/s1";

struct Case {
  const char* name;
  TransformerPtr transformer;
  const char* from_reference;  // kPlain as encrypted by kube-apiserver's own code, in base64
  bool authentic;              // detects every flipped bit
  bool bound;                  // detects another path
};

// The values were written by k8s.io/apiserver v0.36.3 with kKey (or its beginning) at kPath.
const Case kCases[] = {
    {"Gcm16", AesGcm(kKey.substr(0, 16)),
     "3RsaKa2GzdCKAdwhmJrT8J5JrAWb4O63/nnjSVoc7WmiBxedU6sf0W2s57cwsjFKP342uEqjDHkS6wzy/v0K", true, true},
    {"Gcm24", AesGcm(kKey.substr(0, 24)),
     "af8mXTvS57ulKHCBQvZFfPWaxKSWhlK8bbly3UZFiPj26hkdOplje330TeMbNqQ34QCUAhjN8u+IhTJbjBzi", true, true},
    {"Gcm32", AesGcm(kKey), "APJSMJdKXblkEUZ6OT+hxQHY0ztS1T6omYMZevzKpBjGScjaIcW/2MQVUhy0Rucr3U8EcqEevmrGqKhuttQ0",
     true, true},
    {"Cbc16", AesCbc(kKey.substr(0, 16)),
     "EaIuiecevGaDfOYOjMRGdrKwfyzCm7jhpd4kY6gC0oy24N4W9mWdVLzYmPhoWPo6Ueb577CBEVw0ynCVDTuK3Q==", false, false},
    {"Cbc24", AesCbc(kKey.substr(0, 24)),
     "65Y0j+/jfGshwwGhV4VVKxc6go/R4EGbU5pwh1tK4/awbB6p6Sz0wMv0VFHTkaN6dEqNuYSQabUzwp1Tncjt+Q==", false, false},
    {"Cbc32", AesCbc(kKey),
     "HMs9OKzFFNlKzmkivemBUcZPsEX9pCed3O18+9vAARYvfN7/myfOm3OBgkck5D/b7pPnxOz+wEmcUp+qmvgBZw==", false, false},
    {"Secretbox", Secretbox(kKey),
     "CBpDwwXONF3lgLdr1r8hscB3pTqdhibL7esrqouI5JXgQtX8gegBxrk/Ku2vnpF2oL2HZ4GxIWYoeT9phJt3PkhMc+dUzWJl6FNi", true,
     false},
    {"Seeded", SeededAesGcm(kKey),
     "zsOVBcm6Zs1OEe1avmQ843cDh3KXrfkm8ZJLdFHlSXwFTSXisgwkbl0zbdsXcUOaEAJrHpW3opE6CyF114BLTB/"
     "t7+4WYpc6BVQT+CZTmw+e+GRw1fYG1GgAbyLPCqs=",
     true, true},
};

class Ciphers : public ::testing::TestWithParam<Case> {};

TEST_P(Ciphers, ReadsKubeApiserversValues) {
  std::string stored;
  ASSERT_FALSE(DecodeBase64(GetParam().from_reference, stored));
  const auto opened = GetParam().transformer->Open(stored, kPath);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->plain, kPlain);
  EXPECT_FALSE(opened->stale);
}

TEST_P(Ciphers, ReadsWhatItWrote) {
  for (const std::size_t size : {0, 1, 15, 16, 17, 4096}) {
    const std::string plain(size, 'x');
    const auto sealed = GetParam().transformer->Seal(plain, kPath);
    ASSERT_TRUE(sealed);
    EXPECT_NE(*sealed, *GetParam().transformer->Seal(plain, kPath)) << "a nonce came twice";
    const auto opened = GetParam().transformer->Open(*sealed, kPath);
    ASSERT_TRUE(opened) << size << ": " << opened.error().message;
    EXPECT_EQ(opened->plain, plain);
  }
}

/// CBC has no tag: as in kube-apiserver, a change is detected only if it breaks the padding or the object.
class AuthenticCiphers : public Ciphers {};

TEST_P(AuthenticCiphers, DetectsEveryFlippedBit) {
  const std::string sealed = *GetParam().transformer->Seal(kPlain, kPath);
  for (std::size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string flipped = sealed;
    flipped[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    EXPECT_FALSE(GetParam().transformer->Open(flipped, kPath)) << bit;
  }
}

TEST_P(Ciphers, IsBoundToItsPath) {
  const std::string sealed = *GetParam().transformer->Seal(kPlain, kPath);
  EXPECT_EQ(GetParam().transformer->Open(sealed, "/registry/secrets/default/other").has_value(), !GetParam().bound);
}

TEST_P(Ciphers, RejectsTruncatedValues) {
  const std::string sealed = *GetParam().transformer->Seal(kPlain, kPath);
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    const auto opened = GetParam().transformer->Open(sealed.substr(0, size), kPath);
    EXPECT_FALSE(opened && opened->plain == kPlain) << size;
    if (GetParam().authentic) {
      EXPECT_FALSE(opened) << size;
    }
  }
}

std::vector<Case> AuthenticCases() {
  std::vector<Case> cases;
  std::copy_if(std::begin(kCases), std::end(kCases), std::back_inserter(cases),
               [](const Case& one) { return one.authentic; });
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Table, AuthenticCiphers, ::testing::ValuesIn(AuthenticCases()),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Table, Ciphers, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IdentityTransformer, RejectsEncryptedValues) {
  EXPECT_EQ(Identity()->Open("{}", "/k")->plain, "{}");
  EXPECT_EQ(Identity()->Open("k8s:enc:aescbc:v1:a:x", "/k").error().message,
            "identity transformer tried to read encrypted data");
}

}  // namespace
}  // namespace apimesh::encryption
