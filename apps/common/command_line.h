// The command line of an application: CLI11, whose templates are compiled once for all of them.
#pragma once
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace apps {

struct Between {
  long long least, most;
};

/// Options set the variables that they are given, which must outlive it and hold the defaults.
class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& about);
  ~CommandLine();

  void number(const char* option, int& value, Between range, const char* text = "");
  void number(const char* option, std::size_t& value, Between range, const char* text = "");
  void number_of(const char* option, std::size_t& value, const std::vector<std::size_t>& among);
  /// `how_many` of them.
  void numbers(const char* option, std::vector<std::size_t>& values, int how_many, Between range,
               const char* text);
  void not_negative(const char* option, double& value, const char* text);
  void positive(const char* option, double& value, const char* text);
  void word_of(const char* option, std::string& value, const std::vector<std::string>& among,
               const char* text = "");
  void required_word_of(const char* option, std::string& value,
                        const std::vector<std::string>& among, const char* text);
  /// What all have: --verify, which `text` describes, and --json, a path.
  void results(bool& verify, std::string& json, const char* text);
  /// `option` and `other` cannot both be given.
  void excludes(const char* option, const char* other);

  const std::string& name() const;
  /// Nothing: go on. Otherwise what to print is on `out` and `err`, and the status to end with: 0
  /// after --help, else 2.
  std::optional<int> parse(int argc, char** argv, std::ostream& out, std::ostream& err);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

/// The names of a table, for word_of().
template <class Table>
std::vector<std::string> names(const Table& table) {
  std::vector<std::string> found;
  for (const auto& [name, value] : table) found.push_back(name);
  return found;
}

}  // namespace apps
