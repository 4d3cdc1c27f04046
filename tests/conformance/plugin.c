// A library that a program loads and unloads: it says when it goes.
#include <stdbool.h>
#include <stddef.h>

__attribute__((visibility("default"))) bool* g_plugin_says_loaded = NULL;

__attribute__((destructor)) static void go(void) {
  if (g_plugin_says_loaded != NULL) *g_plugin_says_loaded = false;
}
