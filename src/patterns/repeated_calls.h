// What is learned from calls of a collective whose counts no rank knows all of: where they repeat,
// an order of messages that later calls follow without asking for counts. Any order does, whatever
// the counts are by then (algorithms/alltoall/ordered.h): an old one costs time, at most.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "patterns/message_order.h"

namespace unisono {

/// Of a communicator's calls of one collective by one algorithm. Decides by the number of the call
/// and by counts that all ranks have exchanged, so that all decide alike. A call whose forerunners'
/// counts have not come yet has to wait for them. Thread-safe.
///
/// Counts are exchanged until the last ones are the same as those before with a period of 1 to 8
/// calls, or alike three times with one of 1 to 4: where they take at most 5 % longer in the
/// other's order than in their own, as those of a program whose lengths vary a little do, and by
/// chance some others. From then on calls follow the orders of that cycle. About every 64th call
/// exchanges counts again, and where they are not alike any more all begins anew.
class RepeatedCalls {
 public:
  using Rule = std::function<MessageList(const CountMatrix&)>;
  static constexpr int kLongestPeriod = 8;
  static constexpr int kCheckEvery = 64;
  /// Of the matrices and lists that are kept: 28 bytes each.
  static constexpr std::size_t kMostEntries = std::size_t{1} << 20;

  RepeatedCalls(int rank, Rule rule) : rank_(rank), rule_(std::move(rule)) {}

  /// The number of the next call: all ranks make the same ones in the same order.
  std::uint64_t enter();
  struct Decision {
    std::shared_ptr<const MessageOrder> order;  ///< null: counts are to be exchanged, for learn()
  };
  /// Nothing: ask again when earlier calls have gone on.
  std::optional<Decision> decide(std::uint64_t call);
  enum class News { nothing, planned, dropped };
  struct Learned {
    std::shared_ptr<const MessageOrder> order;  ///< for this call
    News news = News::nothing;
    int period = 0;
  };
  /// The counts of a call that was to exchange them.
  Learned learn(const CountMatrix& matrix);
  struct Latest {
    CountMatrix matrix;
    MessageList list;
  };
  /// Counts that were exchanged last, and the order made of them; nothing: none were.
  std::optional<Latest> latest();
  /// A call has failed, before that or after. Before, ranks cannot know alike any more: from this
  /// call on nothing is planned.
  void give_up(std::uint64_t call);

 private:
  /// Counts, and the order that is best for them.
  struct Known {
    CountMatrix matrix;
    MessageList list;
    Count time = 0;
  };
  using KnownPtr = std::shared_ptr<const Known>;
  struct Planned {
    MessageList list;
    std::shared_ptr<const MessageOrder> order;
  };

  bool has_given_up() const { return next_ >= failed_; }
  KnownPtr know(const CountMatrix& matrix) const;
  static bool are_alike(const Known& now, const MessageList& list);
  /// Whether each of the last `times` cycles is like the one before.
  template <class Like>
  bool repeats(std::size_t period, std::size_t times, const Like& like) const;
  int find_period() const;
  void keep(KnownPtr known);
  void plan(int period);
  /// Calls of a cycle from one check to the next. Prime to its length: every one is looked at.
  int check_after() const { return kCheckEvery + (cycle_.size() % 2 == 0 ? 1 : 0); }

  const int rank_;
  const Rule rule_;
  std::mutex mutex_;
  std::uint64_t entered_ = 0;
  std::uint64_t next_ = 0;  ///< the first call that has not been decided, or whose counts are due
  std::uint64_t failed_ = ~std::uint64_t{0};  ///< the first call that has
  std::deque<KnownPtr> last_;                 // of the last calls
  KnownPtr latest_;
  std::vector<Planned> cycle_;  // empty: learning
  std::size_t position_ = 0;    // in it, of the next call
  int planned_calls_ = 0;       // since the last check
};

}  // namespace unisono
