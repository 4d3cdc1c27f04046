#include "apps/common/command_line.h"

#include <CLI/CLI.hpp>

namespace apps {

struct CommandLine::Parser {
  CLI::App app;
  std::string name;
};

namespace {

CLI::Range within(Between range) { return {range.least, range.most}; }

}  // namespace

CommandLine::CommandLine(const std::string& name, const std::string& about)
    : parser_(new Parser{CLI::App(about, name), name}) {
  parser_->app.option_defaults()->always_capture_default();
}

CommandLine::~CommandLine() = default;

void CommandLine::number(const char* option, int& value, Between range, const char* text) {
  parser_->app.add_option(option, value, text)->check(within(range));
}

void CommandLine::number(const char* option, std::size_t& value, Between range, const char* text) {
  parser_->app.add_option(option, value, text)->check(within(range));
}

void CommandLine::number_of(const char* option, std::size_t& value,
                            const std::vector<std::size_t>& among) {
  parser_->app.add_option(option, value)->check(CLI::IsMember(among));
}

void CommandLine::numbers(const char* option, std::vector<std::size_t>& values, int how_many,
                          Between range, const char* text) {
  parser_->app.add_option(option, values, text)->expected(how_many)->check(within(range));
}

void CommandLine::not_negative(const char* option, double& value, const char* text) {
  parser_->app.add_option(option, value, text)->check(CLI::NonNegativeNumber);
}

void CommandLine::positive(const char* option, double& value, const char* text) {
  parser_->app.add_option(option, value, text)->check(CLI::PositiveNumber);
}

void CommandLine::word_of(const char* option, std::string& value,
                          const std::vector<std::string>& among, const char* text) {
  parser_->app.add_option(option, value, text)->check(CLI::IsMember(among));
}

void CommandLine::required_word_of(const char* option, std::string& value,
                                   const std::vector<std::string>& among, const char* text) {
  word_of(option, value, among, text);
  parser_->app.get_option(option)->required();
}

void CommandLine::results(bool& verify, std::string& json, const char* text) {
  parser_->app.add_flag("--verify", verify, text);
  parser_->app.add_option("--json", json, "also write the results to this file");
}

void CommandLine::excludes(const char* option, const char* other) {
  parser_->app.get_option(option)->excludes(parser_->app.get_option(other));
}

const std::string& CommandLine::name() const { return parser_->name; }

std::optional<int> CommandLine::parse(int argc, char** argv, std::ostream& out, std::ostream& err) {
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parser_->app.exit(error, out, err) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace apps
