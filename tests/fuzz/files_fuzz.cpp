// Every reader of files, from files that are nearly good; and the folder that jobs share, with
// whatever may lie there. files_fuzz --seconds 4 --seed 1, or --count 20000.
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "base/printable.h"
#include "base/say.h"
#include "files/cache.h"
#include "files/file.h"
#include "files/json.h"
#include "files/names.h"
#include "model/fit.h"
#include "schedule/reader.h"
#include "select/online/memory.h"
#include "select/profile.h"
#include "select/stored_order.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/json_limits.h"
#include "topology/topology_file.h"

namespace unisono::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNow = 1'800'000'000;
const Whereabouts kHere{"mpich", "MPICH 4.2", "a processor", 4, "eth0 10.0.0.0/24"};

/// A kind of file: a good one, and its reader, which says what is wrong.
struct Kind {
  const char* name;
  std::string good;
  std::function<std::string(std::string_view)> read;
  bool is_large = false;  ///< some are as large as a job, and no limit of theirs is near
};

template <class Read>
auto error_of(Read read) {
  return [read](std::string_view text) {
    const auto result = read(text);
    return result ? std::string() : result.error();
  };
}

Machine some_machine() {
  Machine machine;
  machine.levels[kBetweenNodes] = hockney(60e-6, 80e-9);
  machine.gamma = machine.copy = 1e-9;
  machine.node_memory = MemoryTimes{};
  return machine;
}

std::string good_memory() {
  KeptVerdict one{.collective = Collective::bcast, .size_class = 40, .ranks = 7, .nodes = 7};
  one.other = *parse_spec(Collective::bcast, "chain:segment=4K");
  KeptVerdict two{.collective = Collective::allreduce, .size_class = 6, .ranks = 4, .bytes = 8};
  two.other = *parse_spec(Collective::allreduce, "shm");
  one.verdict = two.verdict = {1, {{{11e-6, 12e-6}, {5e-6, 5.1e-6}}}};
  one.when = two.when = kNow - 10;
  return write_memory({kNow - 100, some_machine(), {one, two}}, kHere);
}

const char* const kGoodProfile =
    R"({"schema": "unisono.profile", "schema_version": 1, "environments": [
{"mpi": {"flavour": "mpich", "library": "MPICH 4.2"},
 "machine": {"place": "ethernet", "network_rate": 1e9, "cores": 4}, "shape": {"ranks": 16, "nodes": 16},
 "cells": [{"collective": "bcast", "bytes": [0, 16], "choice": "native"},
  {"collective": "bcast", "bytes": [17, 4096], "choice": "chain:segment=4K"},
  {"collective": "allreduce", "bytes": [0, 4096],
   "choice": "grid:shape=4x4,form=full,rows=ring+ring,columns=native"}]}]})";

const char* const kGoodSamples = R"({"format": "unisono-samples", "version": 1,
"mpi": {"flavour": "a", "library": "b"}, "samples": [
{"quantity": "one_way", "level": 1, "bytes": 0, "seconds": [1e-5, 2e-5]},
{"quantity": "gap", "level": 1, "bytes": 0, "seconds": [1e-5]},
{"quantity": "exchange", "level": 1, "bytes": 0, "active": 4, "seconds": [1e-5]},
{"quantity": "reduce", "bytes": 65536, "seconds": [1e-5]},
{"quantity": "copy", "bytes": 65536, "seconds": [1e-5]}]})";

const char* const kGoodSchedule =
    R"({"unisono_schedule": 1, "rank": 1, "size": 4, "scratch": [10], "ops": [
{"op": "recv", "peer": 0, "slice": ["output", 0, 10]},
{"op": "copy", "from": ["output", 0, 10], "slice": ["scratch0", 0, 10], "after": [0]},
{"op": "send", "peer": 2, "slice": ["scratch0", 0, 10], "after": [1]}]})";

const char* const kGoodTopology =
    "# ours\nTorus=8x8 Wrap=yes,no Routing=minimal\nNodeName=node[00-31]\n"
    "NodeName=login Coordinates=0,7\nSwitchName=leaf1 Nodes=node[00-15],login\n"
    "SwitchName=leaf2 Nodes=node[16-31]\nSwitchName=spine Switches=leaf[1-2]\n"
    "NodeName=node01 Ranks=0-3,8\nNodeName=node02 Ranks=4-7\n";

std::vector<Kind> kinds() {
  const CountMatrix matrix(std::vector<Count>{0, 5, 7, 3, 0, 2, 9, 1, 0}, 3);
  const StoredOrder order = make_order(matrix, MessageRule::greedy, 0);
  const auto sure = [](std::string_view text) {
    const auto samples = read_samples(text);
    return samples ? fit(*samples) : Result<Machine>(Error{samples.error()});
  };
  const auto place = [](std::string_view text) -> Result<TopologyLabels> {
    const auto file = TopologyFile::parse(text);
    return file ? file->labels(64) : Result<TopologyLabels>(Error{file.error()});
  };
  const Platform here{"mpich", "MPICH 4.2", Place::ethernet, 1e9, 4, 0};
  const auto cells = [here](std::string_view text) {
    const auto profile = read_profile(text);
    return profile ? cells_for(*profile, here) : Error{profile.error()};
  };
  return {{"memory", good_memory(),
           error_of([](std::string_view text) { return read_memory(text, kHere, kNow); })},
          {"profile", kGoodProfile, error_of(cells)},
          {"machine", write_machine(some_machine()), error_of(read_machine)},
          {"samples", kGoodSamples, error_of(sure)},
          {"order", write_order(order), error_of(read_order), true},
          {"matrix", R"({"ranks": 3, "messages": [[0, 1, 5], [1, 2, 7]]})", error_of(read_matrix),
           true},
          {"counts", "0,5,7\n3,0,2\n9,1,0\n", error_of(read_matrix), true},
          {"schedule", kGoodSchedule, error_of(read_json), true},
          {"topology", kGoodTopology, error_of(place)}};
}

constexpr std::array<const char*, 22> kNumbers = {"0",
                                                  "-1",
                                                  "1e400",
                                                  "-1e400",
                                                  "1e308",
                                                  "-0.0",
                                                  "9223372036854775808",
                                                  "18446744073709551616",
                                                  "2147483648",
                                                  "-9223372036854775809",
                                                  "0.5",
                                                  "1e-400",
                                                  "NaN",
                                                  "Infinity",
                                                  "00",
                                                  "1e",
                                                  "4294967295",
                                                  "1125899906842625",
                                                  "999999999",
                                                  "0x10",
                                                  "123456789012345678901234567890",
                                                  "[1-750000000]"};
constexpr std::array<const char*, 14> kTexts = {"",
                                                "\x1b]0;owned\x07",
                                                "\xff\xfe",
                                                "\xc2\x9b"
                                                "31m",
                                                "\xe2\x80\xae",
                                                "\r\n\r\n",
                                                "../../etc/passwd",
                                                "=cmd()",
                                                "%s%n",
                                                "'\"\\",
                                                "grid:shape=9999999999x1",
                                                "chain:segment=1e400",
                                                "node[0-999999999]",
                                                "token:file=/dev/zero"};
constexpr std::array<const char*, 12> kPieces = {"[",
                                                 "{\"a\":",
                                                 "[[],",
                                                 "{}",
                                                 ",",
                                                 "\"",
                                                 "0,",
                                                 "[0-9],",
                                                 "x=y ",
                                                 "\n",
                                                 "NodeName=a Ranks=0\n",
                                                 "\\u0000"};

/// Orders, schedules and matrices may be larger, and then cost more: some 50 ns a byte.
constexpr std::size_t kLarge = kBytes;

/// Now and then large.
std::size_t some_length(Random& random) {
  if (random.one_in(12)) return kLarge;
  return std::size_t{1} << random.below(14);
}

/// An object of as many members as fit.
std::string with_members(std::size_t bytes) {
  std::string text = "{";
  for (std::size_t i = 0; text.size() < bytes; ++i) text += "\"" + std::to_string(i) + "\":0,";
  return text + "\"last\":0}";
}

constexpr std::array<const char*, 8> kElements = {"0,",     "[],",       "{},", "1e300,",
                                                  "\"a\",", "[[[[]]]],", " ",   "\n"};

/// A list of as many elements as fit.
std::string with_elements(Random& random, std::size_t bytes) {
  return "[" + repeated(random.of(kElements), bytes) + "0]";
}

/// A value anywhere in the document.
Json& somewhere(Json& document, Random& random) {
  Json* at = &document;
  while (at->is_structured() && !at->empty() && !random.one_in(5)) {
    auto element = at->begin();
    std::advance(element, static_cast<std::ptrdiff_t>(random.below(at->size())));
    at = &*element;
  }
  return *at;
}

void change_value(Json& value, Random& random) {
  switch (random.below(8)) {
    case 0: value = random.of(kTexts); break;
    case 1: value = Json::array(); break;
    case 2: value = Json::object(); break;
    case 3: value = nullptr; break;
    case 4: value = repeated(random.of(kTexts), some_length(random)); break;
    case 5: value = static_cast<std::int64_t>(random.below(SIZE_MAX)); break;
    case 6:
      if (value.is_array() && !value.empty()) {  // the same element again and again
        const Json one = value[random.below(value.size())];
        for (std::size_t i = some_length(random) / 16; i > 0; --i) value.push_back(one);
      }
      break;
    default:
      if (value.is_object())
        for (std::size_t i = random.below(200); i > 0; --i) value[std::to_string(i)] = i;
  }
}

/// As structure, where it is JSON: strings that are no UTF-8 go in as they are.
std::string changed_structure(const std::string& text, Random& random) {
  if (text.size() > kLarge / 4) return text;  // whose objects may have very many members
  Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) return text;
  change_value(somewhere(document, random), random);
  if (random.one_in(4)) somewhere(document, random) = "@HERE@";
  std::string changed = document.dump(-1, ' ', false, Json::error_handler_t::ignore);
  const std::size_t at = changed.find("\"@HERE@\"");
  if (at == changed.npos) return changed;
  // What no document can hold.
  const std::string deep = repeated(random.of(kPieces), some_length(random));
  const std::string into = random.one_in(3)   ? at_limit(random)
                           : random.one_in(4) ? with_elements(random, some_length(random))
                           : random.one_in(8) ? with_members(some_length(random))
                           : random.one_in(2) ? std::string(random.of(kNumbers))
                                              : deep;
  return changed.replace(at, 8, into);
}

std::string changed_text(std::string text, Random& random) {
  const std::size_t at = random.below(text.size() + 1);
  switch (random.below(7)) {
    case 0: return text.substr(0, at);
    case 1: return text.insert(at, repeated(random.of(kPieces), some_length(random)));
    case 2: return text.insert(at, random.of(kTexts));
    case 3: return text.insert(at, random.of(kNumbers));
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
      return text;
    case 5: return text.insert(at, text.substr(random.below(text.size() + 1), some_length(random)));
    default: {  // a number is another
      const std::size_t digit = text.find_first_of("0123456789", at);
      if (digit == text.npos) return text;
      return text.replace(digit, text.find_first_not_of("0123456789.e-", digit) - digit,
                          random.of(kNumbers));
    }
  }
}

std::string input_of(const Kind& kind, Random& random) {
  if (random.one_in(16)) return at_limit(random);
  if (random.one_in(60)) return repeated(random.of(kPieces), some_length(random));
  std::string text = kind.good;
  for (std::size_t i = 1 + random.below(3); i > 0; --i)
    text = random.one_in(2) ? changed_structure(text, random) : changed_text(text, random);
  if (kind.is_large && text.size() > kLarge) text.resize(kLarge);
  return text;
}

/// What lies in a folder, links not followed: whoever changes anything changes this.
std::map<std::string, std::string> look(const fs::path& folder) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat facts {};
    ::lstat(entry.path().c_str(), &facts);
    found[entry.path().lexically_relative(folder)] =
        std::to_string(facts.st_mode) + " " + std::to_string(facts.st_ino) + " " +
        std::to_string(facts.st_size) + " " + std::to_string(facts.st_mtim.tv_nsec);
  }
  return found;
}

class Sandbox {
 public:
  Sandbox() {
    std::string pattern = (fs::temp_directory_path() / "unisono-fuzz-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directories(outside());
    for (const char* name : {"one", "two", "three"}) write(outside() / name, "precious");
    ::setenv("XDG_CACHE_HOME", home().c_str(), 1);
  }
  ~Sandbox() { fs::remove_all(root_); }
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  fs::path outside() const { return root_ / "outside"; }
  fs::path home() const { return root_ / "home"; }
  fs::path folder() const { return home() / "unisono"; }
  fs::path file() const { return root_ / "file"; }

  static void write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  /// Something that is no plain file, or one that is odd; of a name that is free.
  void put_odd(const fs::path& path, Random& random, std::string_view text) const {
    switch (random.below(8)) {
      case 0: ::mkfifo(path.c_str(), 0600); break;
      case 1: fs::create_directory(path); break;
      case 2: fs::create_symlink("/dev/zero", path); break;
      case 3: fs::create_symlink(outside() / "one", path); break;
      case 4: fs::create_symlink(path, path); break;
      case 5:
        write(path, text);
        fs::resize_file(path, std::uintmax_t{1} << 40);
        break;
      case 6:
        write(path, text);
        if (::chown(path.c_str(), 12345, 12345) != 0) ::chmod(path.c_str(), 0666);
        break;
      default: fs::create_directory_symlink(outside(), path);
    }
  }

 private:
  fs::path root_;
};

/// Reads a file as the library does, and says what is wrong as it does.
void read_one(const Kind& kind, const Sandbox& box, Random& random) {
  fs::remove_all(box.file());
  const std::string text = input_of(kind, random);
  random.one_in(50) ? box.put_odd(box.file(), random, text) : Sandbox::write(box.file(), text);
}

/// The folder of jobs, with files of the user's own and odd ones, or itself odd.
std::vector<fs::path> fill_folder(const Sandbox& box, Random& random, const std::string& name) {
  fs::remove_all(box.home());
  fs::create_directories(box.home());
  if (random.one_in(8)) {
    box.put_odd(box.folder(), random, "");
    return {};
  }
  fs::create_directory(box.folder());
  if (random.one_in(8)) ::chmod(box.folder().c_str(), 0777);
  const std::array<std::string, 8> own = {"a.json",
                                          name + ".bak",
                                          "my-" + name,
                                          name + ".part",
                                          name + ".part.1",
                                          "lock.bak",
                                          "x.part.0123456789abcdef",
                                          "libraries"};
  std::vector<fs::path> made;
  for (const std::string& each : own) {
    if (random.one_in(2)) continue;
    made.push_back(box.folder() / each);
    random.one_in(4) ? box.put_odd(made.back(), random, "own") : Sandbox::write(made.back(), "own");
  }
  for (std::size_t i = random.one_in(4) ? 70 : 0; i > 0; --i)
    Sandbox::write(box.folder() / memory_name("openmpi", i), "{}");
  if (random.one_in(4)) box.put_odd(box.folder() / "lock", random, "");
  if (random.one_in(2)) box.put_odd(box.folder() / name, random, good_memory());
  return made;
}

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : seed_(seed) {}

  /// In a child.
  void one(std::uint64_t input, Counts& counts) {
    if (!captured_) captured_.emplace();
    Random random(seed_, input);
    const auto before = look(box_.outside());
    double spent = 0;
    if (random.one_in(6))
      spent = share(random, counts);
    else
      spent = read(random, counts);
    counts.note(spent, input);
    count_lines(captured_->take(), kLongestLine, counts);
    counts.touched += look(box_.outside()) != before ? 1 : 0;
  }

 private:
  double read(Random& random, Counts& counts) {
    const Kind& kind = random.of(kinds_);
    read_one(kind, box_, random);
    const double begin = processor_seconds();
    const auto text = read_file(box_.file().string());
    const std::string wrong = text ? kind.read(*text) : text.error();
    if (!wrong.empty())
      say(line_about("UNISONO_FILE=" + box_.file().string(), wrong, "all goes on as without it"));
    const double spent = processor_seconds() - begin;
    if (text && result_of([&] { return parse_json(*text); }))
      counts.touched += is_within_limits(*text) ? 0 : 1;
    return spent;
  }

  /// As at the start and at the end of a job.
  double share(Random& random, Counts& counts) {
    const std::string name = kHere.file_name();
    const auto own = fill_folder(box_, random, name);
    std::map<std::string, std::string> before;
    if (!own.empty()) before = look(box_.folder());
    const double begin = processor_seconds();
    const auto text = cache::read(name);
    const std::string wrong =
        text ? error_of([](std::string_view t) { return read_memory(t, kHere, kNow); })(*text)
             : text.error();
    if (!wrong.empty()) say(line_about("memory " + name, wrong, "all is measured anew"));
    const auto problem = cache::update(name, [](const std::string&) { return good_memory(); });
    if (problem) say(line_about("memory " + name, *problem, "what was learned is not kept"));
    const double spent = processor_seconds() - begin;
    if (own.empty()) return spent;
    const auto after = look(box_.folder());
    for (const fs::path& each : own) {
      const std::string key = each.filename().string();
      counts.touched += after.contains(key) && after.at(key) == before.at(key) ? 0 : 1;
    }
    return spent;
  }

  std::uint64_t seed_;
  std::vector<Kind> kinds_ = kinds();
  Sandbox box_;
  std::optional<Captured> captured_;
};

}  // namespace
}  // namespace unisono::fuzz

int main(int argc, char** argv) {
  using namespace unisono::fuzz;
  const Options options = options_of(argc, argv);
  Fuzzer fuzzer(options.seed);
  return run(
      options, [&fuzzer](std::uint64_t input, Counts& counts) { fuzzer.one(input, counts); },
      "files touched, or read beyond the limits");
}
