#include "select/stored_order.h"

#include <charconv>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "files/json.h"

namespace unisono {

namespace {

constexpr Count kOrderVersion = 1;
constexpr int kMostOrderRanks = 1 << 20;
constexpr Count kMostBytes = Count{1} << 50;

using Message = MessageList::Message;

std::string pair_text(int from, int to) {
  return "message from " + std::to_string(from) + " to " + std::to_string(to);
}

struct Triple {
  int from, to;
  Count bytes;
};

Triple read_message(const Json& value, int ranks) {
  if (!value.is_array() || value.size() != 3)
    throw Bad{"a message is [from, to, bytes], not " + shown(value)};
  const auto rank = [&](const Json& number, const char* what) {
    return static_cast<int>(integer(number, what, 0, ranks - 1));
  };
  const Triple message{rank(value[0], "from"), rank(value[1], "to"),
                       integer(value[2], "bytes", 1, kMostBytes)};
  return message;
}

CountMatrix matrix_of(int ranks, std::vector<Triple> messages) {
  std::sort(messages.begin(), messages.end(), [](const Triple& a, const Triple& b) {
    return std::tuple(a.from, a.to) < std::tuple(b.from, b.to);
  });
  CountMatrix matrix;
  std::vector<CountMatrix::Entry> row;
  auto next = messages.begin();
  for (int from = 0; from < ranks; ++from) {
    row.clear();
    for (; next != messages.end() && next->from == from; ++next) {
      if (!row.empty() && row.back().to == next->to)
        throw Bad{pair_text(from, next->to) + " is there twice"};
      row.push_back({next->to, next->bytes});
    }
    matrix.add_row(row);
  }
  return matrix;
}

/// What is wrong with the phase of a file, whose messages these are.
void check_phase(const std::vector<Triple>& messages, bool may_crowd) {
  std::set<int> senders, receivers;
  for (const Triple& m : messages) {
    if (m.from == m.to) throw Bad{"rank " + std::to_string(m.from) + " sends to itself"};
    const bool free_sender = senders.insert(m.from).second;
    const bool free_receiver = receivers.insert(m.to).second;
    if (may_crowd || (free_sender && free_receiver)) continue;
    throw Bad{"rank " + std::to_string(free_sender ? m.to : m.from) +
              (free_sender ? " receives" : " sends") + " twice"};
  }
}

/// One list of messages for each phase; a single one without any.
void read_phases(const Json& file, int ranks, StoredOrder& order) {
  const Json& lists = list(file, "order");
  const auto phases = static_cast<std::size_t>(order.list.phases);
  if (lists.size() != std::max<std::size_t>(phases, 1))
    throw Bad{"order has " + std::to_string(lists.size()) + " lists of messages for " +
              std::to_string(phases) + " phases"};
  std::vector<Triple> all;
  for (std::size_t phase = 0; phase < lists.size(); ++phase) try {
      if (!lists[phase].is_array()) throw Bad{"not a list of messages"};
      std::vector<Triple> messages;
      for (const Json& message : lists[phase]) messages.push_back(read_message(message, ranks));
      bool is_short = phase + 1 == phases;
      for (const Triple& m : messages) is_short = is_short && m.bytes < order.threshold;
      check_phase(messages, phases == 0 || is_short);
      for (const Triple& m : messages)
        order.list.messages.push_back({m.from, m.to, static_cast<int>(phase)});
      all.insert(all.end(), messages.begin(), messages.end());
    } catch (const Bad& bad) {
      throw Bad{"phase " + std::to_string(phase) + ": " + bad.what};
    }
  order.matrix = matrix_of(ranks, std::move(all));
}

StoredOrder read_stored(const Json& file) {
  if (word(file, "format") != kOrderMark) throw Bad{"no order of messages"};
  integer(field(file, "version"), "version", kOrderVersion, kOrderVersion);
  StoredOrder order;
  const int ranks = whole(file, "ranks", 1, kMostOrderRanks);
  const std::string rule = word(file, "rule");
  const auto known = message_rule_named(rule);
  if (!known) throw Bad{"no rule " + in_quotes(rule)};
  order.rule = *known;
  order.threshold = integer(field(file, "threshold"), "threshold", 0, kMostBytes);
  order.list.size = ranks;
  order.list.phases = whole(file, "phases", 0, 2 * kMostOrderRanks);
  read_phases(file, ranks, order);
  return order;
}

CountMatrix read_json_matrix(const Json& file) {
  std::vector<Triple> messages;
  if (file.is_object()) {
    const int ranks = whole(file, "ranks", 1, kMostOrderRanks);
    for (const Json& message : list(file, "messages"))
      messages.push_back(read_message(message, ranks));
    return matrix_of(ranks, std::move(messages));
  }
  CountMatrix matrix;
  for (const Json& row : file) {
    if (!row.is_array() || row.size() != file.size())
      throw Bad{"row " + std::to_string(matrix.size()) + " does not have " +
                std::to_string(file.size()) + " counts"};
    std::vector<Count> counts;
    for (const Json& count : row) counts.push_back(integer(count, "a count", 0, kMostBytes));
    matrix.add_dense_row(counts);
  }
  return matrix;
}

std::vector<Count> read_row(std::string_view line, int number) {
  std::vector<Count> counts;
  for (std::size_t at = 0; (at = line.find_first_not_of(", \t\r", at)) != line.npos;) {
    Count count = 0;
    const char* end = line.data() + line.size();
    const auto [next, error] = std::from_chars(line.data() + at, end, count);
    const auto length = static_cast<std::size_t>(next - line.data()) - at;
    if (error != std::errc{} || count < 0 || count > kMostBytes)
      throw Bad{"line " + std::to_string(number) + ": " +
                in_quotes(line.substr(at, line.find_first_of(", \t\r", at) - at)) +
                " is no count of bytes"};
    counts.push_back(count);
    at += length;
  }
  return counts;
}

CountMatrix read_text_matrix(std::string_view text) {
  std::vector<std::vector<Count>> rows;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::vector<Count> row = read_row(text.substr(0, end), number);
    if (!row.empty()) rows.push_back(std::move(row));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  CountMatrix matrix;
  for (const auto& row : rows) {
    if (row.size() != rows.size())
      throw Bad{"row " + std::to_string(matrix.size()) + " has " + std::to_string(row.size()) +
                " counts, and there are " + std::to_string(rows.size()) + " rows"};
    matrix.add_dense_row(row);
  }
  return matrix;
}

struct Loaded {
  std::mutex mutex;
  std::set<std::string, std::less<>> names;  // whose nodes stay where they are
  std::map<const std::string*, MessageList> lists;
};

// Never destroyed: a program may call MPI in its own exit handlers, after ours.
Loaded& loaded() {
  static Loaded& all = *new Loaded;
  return all;
}

}  // namespace

StoredOrder make_order(const CountMatrix& matrix, MessageRule rule, Count threshold) {
  StoredOrder order{schedule_messages(rule, matrix, threshold), {}, rule, threshold};
  order.matrix = matrix;
  return order;
}

std::string write_order(const StoredOrder& order) {
  Json file;
  file["format"] = kOrderMark;
  file["version"] = kOrderVersion;
  file["ranks"] = order.list.size;
  file["rule"] = name(order.rule);
  file["threshold"] = order.threshold;
  file["busiest_port"] = busiest_port(order.matrix);
  file["time"] = makespan(order.list, order.matrix);
  file["phases"] = order.list.phases;
  // A phase a line, so that a person can read it and a tool compare two.
  std::string text = file.dump(2);
  text.resize(text.rfind('\n'));
  text += ",\n  \"order\": [\n    [";
  int phase = 0;
  bool is_first = true;
  for (const Message& m : order.list.messages) {
    for (; phase < m.phase; ++phase) text += "],\n    [", is_first = true;
    text += (std::exchange(is_first, false) ? "" : ", ") +
            Json::array({m.from, m.to, order.matrix.at(m.from, m.to)}).dump();
  }
  return text + "]\n  ]\n}\n";
}

Result<StoredOrder> read_order(std::string_view text) {
  return result_of([&] { return read_stored(parse_json(text, kLargeJson)); });
}

Result<CountMatrix> read_matrix(std::string_view text) {
  return result_of([&] {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == text.npos) throw Bad{"no counts"};
    if (text[first] != '[' && text[first] != '{') return read_text_matrix(text);
    return read_json_matrix(parse_json(text, kLargeJson));
  });
}

std::optional<std::string> lacks(const MessageList& list, const CountMatrix& matrix) {
  if (list.size != matrix.size())
    return "it is for " + std::to_string(list.size) + " ranks, the counts are of " +
           std::to_string(matrix.size());
  std::set<std::pair<int, int>> listed;
  for (const Message& m : list.messages) listed.emplace(m.from, m.to);
  for (int from = 0; from < matrix.size(); ++from)
    for (const CountMatrix::Entry& e : matrix.row(from))
      if (e.to != from && !listed.contains({from, e.to}))
        return "it does not hold the " + pair_text(from, e.to);
  return std::nullopt;
}

const MessageList* loaded_order(const std::string* file) {
  Loaded& here = loaded();
  const std::lock_guard lock(here.mutex);
  const auto found = here.lists.find(file);
  return found != here.lists.end() ? &found->second : nullptr;
}

void keep_loaded(const std::string* file, MessageList list) {
  Loaded& here = loaded();
  const std::lock_guard lock(here.mutex);
  here.lists.try_emplace(file, std::move(list));
}

const std::string* intern_name(std::string_view name) {
  Loaded& here = loaded();
  const std::lock_guard lock(here.mutex);
  return &*here.names.emplace(name).first;
}

}  // namespace unisono
