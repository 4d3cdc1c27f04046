// What each thread of a random program is doing: said where it fails, crashes or hangs.
#pragma once
#include <string>

namespace conformance {

enum class EntryPoint { interposed, native };

/// Crashes and hangs are told from now on; a hang is when nothing was told for so many seconds.
void begin_watching(int patience);
void end_watching();

/// What this thread begins with.
void tell(const std::string& doing);
/// Through which it goes: tells whose fault a hang is.
void tell_entry_point(EntryPoint through);

/// Ends the whole job.
[[noreturn]] void fail(const std::string& what);

}  // namespace conformance
