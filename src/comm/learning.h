// What a selector learns on a communicator, as the communicator sees it.
#pragma once

namespace unisono {

class Communicator;

/// Kept by a communicator from its first use to its free. Its messages go over the communicator's
/// private duplicate, which must not be freed while some are under way.
class Learning {
 public:
  Learning() = default;
  virtual ~Learning() = default;
  Learning(const Learning&) = delete;
  Learning& operator=(const Learning&) = delete;

  /// Keeps what has been learned, for the report; nothing is learned any more.
  virtual void record(const Communicator& communicator) = 0;
  /// Whether nothing is under way any more; complete() waits until then.
  virtual bool is_over() = 0;
  virtual void complete() = 0;
  /// The same unless another thread is in a call just now, which may be a session's.
  virtual void complete_if_idle() = 0;
};

}  // namespace unisono
