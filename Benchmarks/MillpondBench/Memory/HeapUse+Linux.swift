#if os(Linux)
  import Foundation

  private typealias Inform = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32

  /// Returns the number of bytes that `malloc` has allocated and that were not freed; nil if the C
  /// library does not report it.
  ///
  /// Read from glibc's report in XML, since Swift does not import the structure of `mallinfo2`.
  func heapUse() -> Int? {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_info") else { return nil }
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let stream = open_memstream(&text, &length) else { return nil }
    let failure = unsafeBitCast(symbol, to: Inform.self)(0, stream)
    fclose(stream)
    defer { free(text) }
    return failure == 0 ? text.flatMap { HeapReport(String(cString: $0)).use } : nil
  }

  /// The report of glibc on its heaps.
  struct HeapReport {
    private let totals: Substring

    /// - Parameter text: XML, in which the totals follow the heaps.
    init(_ text: String) {
      totals = text.ranges(of: "</heap>").last.map { text[$0.upperBound...] } ?? text[...]
    }

    /// The bytes of all heaps without their free ones, and those mapped singly.
    var use: Int? {
      guard
        let heaps = size("system type=\"current\""), let free = size("total type=\"rest\""),
        let fast = size("total type=\"fast\""), let mapped = size("total type=\"mmap\"")
      else { return nil }
      return heaps - free - fast + mapped
    }

    private func size(_ element: String) -> Int? {
      guard
        let start = totals.firstRange(of: "<\(element)")?.upperBound,
        let size = totals[start...].firstRange(of: "size=\"")?.upperBound
      else { return nil }
      return Int(totals[size...].prefix { $0 != "\"" })
    }
  }
#endif
