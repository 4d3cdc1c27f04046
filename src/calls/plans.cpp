#include "calls/plans.h"

#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

#include "algorithms/composition.h"
#include "exec/messages.h"
#include "patterns/message_order.h"
#include "schedule/flow_control.h"

namespace unisono {

namespace {

/// Numbers and names only: what has been freed may come again at the same address and be another.
class Key {
 public:
  explicit Key(std::string& memory) : bytes_(memory) { bytes_.clear(); }
  template <class T>
  void add(const T& value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(std::string_view name) {
    add(name.size());
    bytes_.append(name);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  void add(std::span<const Count> values) {
    add(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void add(const Layout& layout) {
    add(layout.count);
    add(layout.counts);
    add(layout.displs);
  }
  void add(const Params& params) {
    add(params.segment);
    add(params.radix);
    add(params.window);
    add(params.threshold);
    add(params.trees);
    add(params.file != nullptr ? std::string_view(*params.file) : std::string_view());
    add(params.pause);
    add(params.composition != nullptr);
    if (params.composition != nullptr) add(*params.composition);
    add(params.late != nullptr);
    if (params.late != nullptr) add(*params.late);
  }

 private:
  void add(const Composition& composition) {
    add(composition.shape);
    add(composition.levels);
    add(composition.form);
    for (const NestedSpec& row : composition.rows) add(row);
    add(composition.columns);
  }
  void add(const NestedSpec& nested) {
    add(nested.algorithm != nullptr ? nested.algorithm->name : std::string_view());
    add(nested.params);
  }

  std::string& bytes_;
};

/// Row by row: of those that are short, only what they hold.
void add_matrix(Key& key, const Args& args) {
  key.add(args.matrix != nullptr);
  if (args.matrix == nullptr) return;
  for (int from = 0; from < args.matrix->size(); ++from) {
    key.add(args.matrix->row(from).size());
    for (const CountMatrix::Entry& entry : args.matrix->row(from)) {
      key.add(entry.to);
      key.add(entry.count);
    }
  }
}

void add_order(Key& key, const MessageOrder& order) {
  key.add(order.phases);
  key.add(order.steps.size());
  for (const MessageOrder::Step& step : order.steps) {
    key.add(step.peer);
    key.add(step.phase);
    key.add(step.sends);
  }
}

}  // namespace

void describe_plan(std::string& memory, const Algorithm& algorithm, const Args& args) {
  Key key(memory);
  key.add(algorithm.name);
  key.add(args.collective);
  key.add(args.in_place);
  key.add(args.commutative);
  key.add(args.all_counts_known);
  key.add(args.root);
  key.add(args.count);
  key.add(args.unit_bytes);
  key.add(args.params);
  key.add(args.send);
  key.add(args.recv);
  add_matrix(key, args);
  key.add(args.edge_counts);
  key.add(args.order != nullptr);
  if (args.order != nullptr) add_order(key, *args.order);
}

std::shared_ptr<const Plan> plan_for(Communicator& communicator, const Algorithm& algorithm,
                                     const Args& args) {
  const std::lock_guard lock(communicator.plans_mutex());
  std::string& key = communicator.key_memory();
  describe_plan(key, algorithm, args);
  if (auto plan = communicator.plans().find(key)) return plan;
  auto plan = std::make_shared<const Plan>(limit_sends(build(algorithm, args), kSendsUnderWay));
  communicator.plans().store(key, plan);
  return plan;
}

}  // namespace unisono
