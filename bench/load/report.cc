#include "bench/load/report.h"

#include <algorithm>

#include <boost/json.hpp>

namespace apimesh::load {

void Report::Fail(std::string text) {
  ++errors;
  if (error_texts.size() < 8 || error_texts.contains(text)) ++error_texts[std::move(text)];
}

std::string Report::ToJson() {
  std::sort(delays.begin(), delays.end());
  const auto at = [&](double share) {
    return delays.empty() ? 0
                          : delays[std::min(delays.size() - 1,
                                            static_cast<std::size_t>(share * static_cast<double>(delays.size())))];
  };
  boost::json::object texts;
  for (const auto& [text, count] : error_texts) texts[text] = count;
  return boost::json::serialize(
      boost::json::object{{"done", done},
                          {"errors", errors},
                          {"errorTexts", std::move(texts)},
                          {"seconds", seconds},
                          {"bytes", bytes},
                          {"serverCpuSeconds", server_cpu_seconds},
                          {"perSecond", seconds > 0 ? static_cast<double>(done) / seconds : 0},
                          {"p50", at(0.5)},
                          {"p99", at(0.99)},
                          {"max", delays.empty() ? 0 : delays.back()}});
}

}  // namespace apimesh::load
