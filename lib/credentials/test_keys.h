#pragma once

// Keys for tests only. They protect nothing.
namespace apimesh::credentials::test_keys {

inline constexpr char kRsaPem[] = R"(
-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEA0d2qS6Llza7OOcoh2ZQqcUV3Ydbx4aEWgwb3zuluLqsO+kIt
Ux8XoIR5+ISUvc1QHQ9nFTV8w3HiAtsnBzomfcqLxcHvsDSGVLfyMTqQ0CecBl6f
VrcjDOsu3XncjHI0NPJfmtGwCC/tQVWaIWyRh79DG7TlWEP7bYO4sSSGeYjrFaSg
lR5RcSFfNhZ/jWymuKG2zZznc2yIluLmkJ18BEhbXMoayK7LB5xNeMdcfBMDdfo+
BHxHhRqgbvXZbXsCh5yQIobsQlxhn7dUHy8yyznbvYdC/z+lI5a6Kyd3nHRVxMCV
ChV3/LeTxMJfDbQGi7prHSTwCY2cLtCnq4NbswIDAQABAoIBAGiCn0Y4UoF5vlg4
CWBdcT9kTR3LmTv36QqKI0kGpSiXZgeJgiHFN5Jntofkml/kyTMXkwmUT9PSuC8c
7NQkCLwW7EEooZDZr1WsHu+WDzyhpQjlASuBWvKZggaoI4VLcCU32BV0u9lv6JJj
KzTe6KA1xpkbHiU1AZYZhRWuL0uA1Vb5VzlEmrIStJMWXO2PISBqsE9YZBrX+MF4
XFjsAYzfafyQzeaKKpyfuW0FdAUctn1vw8RtnP6DE4jT20UIgXBccgqsKwE3Q186
G8Mdx6q6EGwWZgWhqKg3D4e0p2wi9kYmPHDQiFHlCv4vzCmv8RDSOxn90iy9ZJzs
iSQzPw0CgYEA6f+fq0BvfPTn5b1dxCRKOHfi8jB+/LpLm2Eh3RI1QyD3Q2MIKKux
rw1BWJ1WiPXPXc/mvDhSlXC47kofRbeL/Ygt74NvWQMkVYcOiX4UtDBWcuYuZUgA
I/yLeyBVIDhNWlcNEbDwNtQ2PicrtuaSGawfsy2FTQV5w0+OBfUUlBcCgYEA5Zkq
VFQPiOg5oFUPODuGdaU/Y0wSQNchmLMMhmkss8vUCMcvaKMQt9Hgsyh0L+UHibEO
RwRjstLlRzsxwzHv3OuGaD7wX55pTobtHNcc5YGW9QAJBnkPQQFlIeVYeO8H46oQ
gbRbAx3puhZZI0Cg6NLrF6mFxh0DVDJSqw6PisUCgYB+LkXfhuOXskjKbg7+EcOk
J6HNj7Eqfxr+MqacG5F1HXW4dNKVe+BY0QEH0/Ax8rtbjxyRKp39z8cpV/b9FTj8
Ak8i9PE6QqN5K1b/dWmcsOQtGUqzetv4i9p7DrhYo4Oyz3ZQr+UY695ELcM44aSv
C04cxNM48Vbzpxaix8HNCQKBgQDa1uyzyBOuiLo0ih6hmIsGo2URvjY/u034f+DW
VHUZQpRtcX1MnPCYZOFpootsAz72DN7w7cwhbEbBaDh8NqLLzWok/qiaWyFAifaD
YL3YO3apO0le9BCIA05jynhTfHHmm/hzyHZfOCnJBvgbU8SLZk5SFXC+bnT30ade
B9jliQKBgHBHE/Lq46xqf1veZXElcU4etFX8xz2JlK0+gTs9eYwCSzp0ByxTo54c
mjbxX+Piwbq+EtOzMShvXV+fi3eF5Wxem2haTTW8OF7yxAvHh0HYhltZz0MAFqqR
QP5oMgCSL3yu3TTbPGyA5CYGcidxPcuV4msp/8kBQz8FPFx1kZ+1
-----END RSA PRIVATE KEY-----
)";

inline constexpr char kEcPem[] = R"(
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIEu3BA0k6c/E/QbB4Ftz/EmE0/Ac3sPMbPaZTL9n5aQPoAoGCCqGSM49
AwEHoUQDQgAEYIOUPCj/xgW+FJTA+ZwHi9NYkdu/Jktumi2IkYhADOfYcU5Wasf0
iNj7z+ZEKOXA+iPLi9XRb/qp5KpIbo8Xtg==
-----END EC PRIVATE KEY-----
)";

inline constexpr char kEcPublicPem[] = R"(
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYIOUPCj/xgW+FJTA+ZwHi9NYkdu/
Jktumi2IkYhADOfYcU5Wasf0iNj7z+ZEKOXA+iPLi9XRb/qp5KpIbo8Xtg==
-----END PUBLIC KEY-----
)";

}  // namespace apimesh::credentials::test_keys
