#include "calls/plans.h"

#include <cstdint>
#include <string>

#include "exec/messages.h"
#include "schedule/flow_control.h"

namespace unisono {

namespace {

/// The bytes by which plans are told apart: everything that a schedule depends on.
class Key {
 public:
  explicit Key(std::string& memory) : bytes_(memory) { bytes_.clear(); }
  template <class T>
  void add(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
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
  const std::string& bytes() const { return bytes_; }

 private:
  std::string& bytes_;
};

// Size, rank and topology are those of the communicator that holds the cache.
void describe(Key& key, const Algorithm& algorithm, const Args& args) {
  key.add(reinterpret_cast<std::uintptr_t>(&algorithm));
  key.add(args.collective);
  key.add(args.in_place);
  key.add(args.commutative);
  key.add(args.all_counts_known);
  key.add(args.root);
  key.add(args.count);
  key.add(args.unit_bytes);
  key.add(args.params.segment);
  key.add(args.params.radix);
  key.add(args.params.window);
  key.add(args.params.pause);
  key.add(reinterpret_cast<std::uintptr_t>(args.params.composition));  // interned
  key.add(reinterpret_cast<std::uintptr_t>(args.params.late));         // interned
  key.add(args.send);
  key.add(args.recv);
  key.add(args.matrix);
}

}  // namespace

std::shared_ptr<const Plan> plan_for(Communicator& communicator, const Algorithm& algorithm,
                                     const Args& args) {
  Key key(communicator.key_memory());
  describe(key, algorithm, args);
  if (auto plan = communicator.plans().find(key.bytes())) return plan;
  auto plan = std::make_shared<const Plan>(limit_sends(build(algorithm, args), kSendsUnderWay));
  communicator.plans().store(key.bytes(), plan);
  return plan;
}

}  // namespace unisono
