#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/thorough.h"

namespace conformance {

namespace {

constexpr long long kAll = -1;

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "random_program: unknown option %s\n", what.c_str());
  std::exit(2);
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words{""};
  for (const char c : list)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

}  // namespace

void Options::simplify(const std::string& list) {
  for (const std::string& word : words_of(list)) {
    const std::size_t colon = word.find(':');
    const std::string what = colon == std::string::npos ? word : word.substr(colon + 1);
    bool known = false;
    for (const std::string_view one :
         {"counts", "types", "in_place", "blocking", "plain", "chosen"})
      known = known || what == one;
    if (!known) refuse("--simplify " + word);
    simplify_[colon == std::string::npos ? kAll : std::atoll(word.c_str())].insert(what);
  }
}

Simplified Options::simplified(long long call) const {
  const auto has = [&](const char* what) {
    for (const long long which : {kAll, call}) {
      const auto found = simplify_.find(which);
      if (found != simplify_.end() && found->second.count(what) > 0) return true;
    }
    return false;
  };
  return {has("counts"),   has("types"), has("in_place"),
          has("blocking"), has("plain"), has("chosen")};
}

Options parse_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    bool flag = true;
    if (name == "--verbose")
      o.verbose = true;
    else if (name == "--nonblocking")
      o.nonblocking = true;
    else if (name == "--mixed")
      o.mixed = o.nonblocking = true;
    else
      flag = false;
    if (flag) continue;
    const std::string text = i + 1 < argc ? argv[++i] : "";
    const long long value = std::atoll(text.c_str());
    if (name == "--spec")
      o.spec = text;
    else if (name == "--transport")
      o.transport = text;
    else if (name == "--simplify")
      o.simplify(text);
    else if (name == "--only")
      for (const std::string& call : words_of(text)) o.only.insert(std::atoll(call.c_str()));
    else if (name == "--calls")
      o.calls = value;
    else if (name == "--programs")
      o.programs = value;
    else if (name == "--threads")
      o.threads = static_cast<int>(value);
    else if (name == "--seed")
      o.seed = static_cast<std::uint64_t>(value);
    else if (name == "--from")
      o.from = value;
    else if (name == "--seconds")
      o.seconds = unisono::is_thorough() ? 10 * value : value;
    else if (name == "--patience")
      o.patience = static_cast<int>(value);
    else
      refuse(name);
  }
  if (!o.only.empty()) o.calls = *o.only.rbegin() + 1;
  return o;
}

}  // namespace conformance
