// Orders of messages in files: what compiled communication calls its third level. A call that
// follows one exchanges no counts, from the first on. docs/reference/schedule.md has the format.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "patterns/message_scheduling.h"

namespace unisono {

struct StoredOrder {
  MessageList list;
  CountMatrix matrix;  ///< that it was made from
  MessageRule rule = MessageRule::token_list;
  Count threshold = 0;
};

/// The order that the rule makes.
StoredOrder make_order(const CountMatrix& matrix, MessageRule rule, Count threshold);

/// In the first lines of such a file.
inline constexpr const char* kOrderMark = "unisono-order";

std::string write_order(const StoredOrder& order);
/// The error is one line that says what is wrong and where: not this version, a message twice, a
/// port twice in a phase, ...
Result<StoredOrder> read_order(std::string_view text);

/// p rows of p counts, in bytes: as JSON ([[0, 5], [7, 0]], or {"ranks": 2, "messages": [[0, 1,
/// 5], ...]}) or separated by commas or blanks, a row a line. The error is one line.
Result<CountMatrix> read_matrix(std::string_view text);

/// Why an order is not complete for such counts, or nothing: a message that it does not hold.
std::optional<std::string> lacks(const MessageList& list, const CountMatrix& matrix);

/// The files that orders were read from at the start, by name: null where there is none. What is
/// kept is never changed.
const MessageList* loaded_order(const std::string* file);
void keep_loaded(const std::string* file, MessageList list);
/// The same name always has the same address.
const std::string* intern_name(std::string_view name);

}  // namespace unisono
