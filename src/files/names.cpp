#include "files/names.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace unisono {

namespace {

constexpr std::string_view kPart = ".part.", kEnding = ".json";
constexpr std::size_t kDigits = 16, kLongestFlavour = 16;

bool is_digits(std::string_view text) {
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string hexadecimal(std::uint64_t number) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

std::string memory_name(std::string_view flavour, std::uint64_t hash) {
  std::string letters;
  for (const char c : flavour.substr(0, kLongestFlavour))
    if (is_letter(c)) letters += c;
  return (letters.empty() ? "mpi" : letters) + "-" + hexadecimal(hash) + std::string(kEnding);
}

bool is_memory_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == name.npos || dash == 0 || dash > kLongestFlavour) return false;
  const std::string_view flavour = name.substr(0, dash), rest = name.substr(dash + 1);
  return std::all_of(flavour.begin(), flavour.end(), is_letter) &&
         is_digits(rest.substr(0, kDigits)) && rest.substr(kDigits) == kEnding;
}

bool is_part_of_memory(std::string_view name) {
  const std::size_t part = name.find(kPart);
  return part != name.npos && is_memory_name(name.substr(0, part)) &&
         is_digits(name.substr(part + kPart.size()));
}

std::string part_of(const std::string& path) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
    number =
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) *
        static_cast<std::uint64_t>(::getpid());
  return path + std::string(kPart) + hexadecimal(number);
}

}  // namespace unisono
