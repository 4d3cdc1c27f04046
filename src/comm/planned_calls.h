// What a communicator has learned of calls that follow an order of messages.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include "algorithms/catalogue.h"
#include "patterns/repeated_calls.h"
#include "select/stored_order.h"

namespace unisono {

/// By collective, algorithm and the parameters that its order depends on. Thread-safe.
class PlannedCalls {
 public:
  /// Null: nothing is planned (UNISONO_REPEATS=0).
  RepeatedCalls* of(Collective collective, const Algorithm& algorithm, const Params& params,
                    int rank);
  /// This rank's part of an order that is known without any exchange: what the program has said, or
  /// what the file of a row with kStored holds, if it has been read and is for as many ranks. If
  /// not, one line of rank 0 says so. Null: there is none.
  std::shared_ptr<const MessageOrder> given(Collective collective, const Algorithm& algorithm,
                                            const Params& params, int rank, int ranks);

  /// What the program says. No call is under way.
  void know(Collective collective, CountMatrix counts);
  void follow(Collective collective, StoredOrder order);
  void forget(Collective collective);
  /// What calls follow because of that, or what the last one has learned.
  std::optional<StoredOrder> latest(Collective collective);

 private:
  std::mutex mutex_;
  using Kind = std::tuple<Collective, const Algorithm*, Count>;
  struct Said {
    CountMatrix counts;
    std::optional<StoredOrder> order;  // else it is made of the counts, as a call's algorithm does
    std::map<Kind, std::shared_ptr<const MessageOrder>> made;
  };
  std::shared_ptr<const MessageOrder> in_file(Collective collective, const Params& params, int rank,
                                              int ranks);

  std::map<const std::string*, std::shared_ptr<const MessageOrder>> stored_;
  std::map<Collective, Said> said_;
  std::map<Kind, RepeatedCalls> kinds_;
  std::map<Collective, Kind> last_;  // that was asked for
};

/// Whether any are planned, the same on all ranks; and whether it is said.
void plan_repeated_calls(bool planned, bool logged);
/// Says what a call has brought, where decisions are logged.
void tell(const RepeatedCalls::Learned& learned, Collective collective, const Algorithm& algorithm,
          int ranks);

}  // namespace unisono
