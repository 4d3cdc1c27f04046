// How Unisono speaks to the user of a program: one line on standard error, if that is still there.
#pragma once
#include <string>

struct unisono_standard_error;

namespace unisono {

/// What standard error was when the preloaded library was loaded, which is before this one.
void set_standard_error(const unisono_standard_error& at_load);

/// False where descriptor 2 was closed then, has become another file since, or is a pipe or socket
/// that nobody reads: then nothing is said.
bool user_reads() noexcept;

/// One write, so that lines of several ranks do not mix.
void say(const std::string& text);

/// The same where there may be no memory.
void say_in_need(const char* text) noexcept;

}  // namespace unisono
