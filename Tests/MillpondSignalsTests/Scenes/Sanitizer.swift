import Foundation

/// Whether a sanitizer watches this process: then everything is slow, and released memory is kept.
enum Sanitizer {
  static let isPresent = has("__asan_init") || has("__tsan_init")

  private static func has(_ symbol: String) -> Bool {
    dlsym(dlopen(nil, RTLD_NOW), symbol) != nil
  }
}
