// How Unisono speaks to the user of a program: one line on standard error.
#pragma once
#include <string>

namespace unisono {

/// One write, so that lines of several ranks do not mix.
void say(const std::string& text);

/// The same where there may be no memory.
void say_in_need(const char* text) noexcept;

}  // namespace unisono
