#include "schedule/reader.h"

#include <cassert>
#include <limits>
#include <map>
#include <utility>

#include "files/json.h"
#include "schedule/printer.h"

namespace unisono {

namespace {

constexpr int kFormat = 1;
constexpr const char* kOpNames[] = {"send", "recv", "copy", "reduce", "join"};  // as in OpKind

Json json(Slice slice) {
  return Json::array({buffer_name(slice.buffer), slice.offset, slice.length});
}

constexpr Count kMostUnits = std::numeric_limits<Count>::max() / 2;

class Reader {
 public:
  StoredSchedule read(const Json& file);

 private:
  Op read_op(const Json& object);
  Slice read_slice(const Json& value) const;
  BufferId read_buffer(const Json& value) const;

  int rank_ = 0;
  int size_ = 1;
  std::vector<Count> scratch_;
  std::map<std::pair<OpKind, int>, Count> positions_;
};

BufferId Reader::read_buffer(const Json& value) const {
  for (std::size_t b = 0; b < kFirstScratch + scratch_.size(); ++b)
    if (b != kSlots && value == buffer_name(static_cast<BufferId>(b)))
      return static_cast<BufferId>(b);
  throw Bad{"no buffer " + shown(value) + "; there are input, output and " +
            std::to_string(scratch_.size()) + " scratch buffers"};
}

Slice Reader::read_slice(const Json& value) const {
  if (!value.is_array() || value.size() != 3)
    throw Bad{"a slice is [buffer, offset, length], not " + shown(value)};
  Slice slice{read_buffer(value[0]), integer(value[1], "offset", 0, kMostUnits),
              integer(value[2], "length", 0, kMostUnits)};
  if (slice.buffer >= kFirstScratch &&
      slice.offset + slice.length > scratch_[slice.buffer - kFirstScratch])
    throw Bad{text(slice) + " is out of bounds: it has " +
              std::to_string(scratch_[slice.buffer - kFirstScratch]) + " units"};
  return slice;
}

Op Reader::read_op(const Json& object) {
  const Json& name = field(object, "op");
  std::size_t kind = 0;
  while (kind < std::size(kOpNames) && name != kOpNames[kind]) ++kind;
  if (kind == std::size(kOpNames))
    throw Bad{"no op " + shown(name) + "; valid: send, recv, copy, reduce, join"};
  Op op{.kind = static_cast<OpKind>(kind)};
  if (op.kind == OpKind::join) return op;

  const Slice slice = read_slice(field(object, "slice"));
  op.buffer = slice.buffer;
  op.offset = slice.offset;
  op.length = slice.length;
  if (op.is_message()) {
    op.peer = whole(object, "peer", 0, size_ - 1);
    if (op.peer == rank_) throw Bad{"peer is the rank itself"};
    op.from_offset = positions_[{op.kind, op.peer}]++;
    return op;
  }
  const Slice from = read_slice(field(object, "from"));
  if (from.length != slice.length)
    throw Bad{"from " + text(from) + " and slice " + text(slice) + " differ in length"};
  op.from_buffer = from.buffer;
  op.from_offset = from.offset;
  return op;
}

StoredSchedule Reader::read(const Json& file) {
  integer(field(file, "unisono_schedule"), "format unisono_schedule", kFormat, kFormat);
  size_ = whole(file, "size", 1);
  rank_ = whole(file, "rank", 0, size_ - 1);
  const Json& scratch = field(file, "scratch");
  if (!scratch.is_array() || scratch.size() > kMostScratch)
    throw Bad{"scratch is not a list of lengths"};
  for (const Json& length : scratch) scratch_.push_back(integer(length, "scratch", 0, kMostUnits));
  const Json& list_of_ops = list(file, "ops");
  if (list_of_ops.size() >= kNoOp) throw Bad{"ops is too long"};

  std::vector<Op> ops;
  std::vector<std::uint32_t> first{0};
  std::vector<OpId> after;
  for (const Json& object : list_of_ops) {
    try {
      ops.push_back(read_op(object));
      const auto id = static_cast<Count>(ops.size()) - 1;
      if (const auto it = object.find("after"); it != object.end()) {
        if (!it->is_array()) throw Bad{"after is not a list"};
        for (const Json& dependency : *it)
          after.push_back(static_cast<OpId>(integer(dependency, "after", 0, id - 1)));
      }
      first.push_back(static_cast<std::uint32_t>(after.size()));
    } catch (const Bad& bad) {
      throw Bad{"op " + std::to_string(first.size() - 1) + ": " + bad.what};
    }
  }
  return {rank_, size_,
          Schedule(std::move(ops), std::move(first), std::move(after), std::move(scratch_))};
}

}  // namespace

std::string write_json(const StoredSchedule& stored) {
  const Schedule& schedule = stored.schedule;
  assert(schedule.group_calls().empty() && !schedule.binds_peers() && schedule.groups().empty());
  Json ops = Json::array();
  for (std::size_t i = 0; i < schedule.ops().size(); ++i) {
    const Op& op = schedule.ops()[i];
    Json object{{"op", kOpNames[static_cast<std::size_t>(op.kind)]}};
    if (op.is_message()) object["peer"] = op.peer;
    if (op.kind == OpKind::copy || op.kind == OpKind::reduce) object["from"] = json(op.from());
    if (op.kind != OpKind::join) object["slice"] = json(op.slice());
    const auto dependencies = schedule.dependencies(static_cast<OpId>(i));
    if (!dependencies.empty()) object["after"] = dependencies;
    ops.push_back(std::move(object));
  }
  return Json{{"unisono_schedule", kFormat},
              {"rank", stored.rank},
              {"size", stored.size},
              {"scratch", schedule.scratch()},
              {"ops", std::move(ops)}}
      .dump();
}

Result<StoredSchedule> read_json(std::string_view text) {
  auto stored = result_of([&] { return Reader().read(parse_json(text, kLargeJson)); });
  if (!stored) return Error{"schedule: " + stored.error()};
  return stored;
}

}  // namespace unisono
