// The public API of a process in which Unisono does nothing.
#pragma once

/// The stand-in for a function of unisono.h, null for any other name.
void* unisono_inactive_function(const char* name);
