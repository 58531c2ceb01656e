#if os(Linux)
  import Foundation

  /// The figures of this process from the system and its C library; nil where they have none.
  enum SystemReport {
    /// The memory of the process, in bytes.
    static var residentBytes: Int? { kilobytes("VmRSS").map { $0 << 10 } }

    /// The peak of it since ``forgetPeak()``.
    static var peakBytes: Int? { kilobytes("VmHWM").map { $0 << 10 } }

    /// The number of bytes that this process has passed to writing calls, including those to files
    /// in memory only.
    static var writtenBytes: Int? { fact("wchar", in: "/proc/self/io").flatMap { Int($0) } }

    /// The name of the processor.
    static var processorName: String? { fact("model name", in: "/proc/cpuinfo") }

    /// The number of this thread's preemptions.
    static var preemptionsOfThread: Int {
      // `RUSAGE_THREAD`, which Glibc does not export to Swift.
      let ofThread: Int32 = 1
      var usage = rusage()
      getrusage(ofThread, &usage)
      return usage.ru_nivcsw
    }

    static func forgetPeak() {
      let file = FileHandle(forWritingAtPath: "/proc/self/clear_refs")
      try? file?.write(contentsOf: Data("5".utf8))
    }

    /// Gives free memory back to the system, since the remains of other rows would hide growth.
    ///
    /// The function of glibc is looked up, since Swift does not import it and other C libraries may
    /// lack it.
    static func giveBackFree() {
      typealias Trim = @convention(c) (Int) -> Int32
      guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim") else { return }
      _ = unsafeBitCast(symbol, to: Trim.self)(0)
    }

    /// Whether a folder's files are in memory only: on tmpfs or ramfs.
    static func isMemory(_ folder: String) -> Bool {
      var status = stat()
      guard stat(folder, &status) == 0 else { return false }
      let (major, minor) = (status.st_dev >> 8 & 0xfff, status.st_dev & 0xff)
      let device = "\(major):\(minor | status.st_dev >> 12 & 0xfff00)"
      // A mount a line: two numbers, its device, places and options, " - ", and its kind.
      let mount = lines(of: "/proc/self/mountinfo").first { line in
        line.split(separator: " ").dropFirst(2).first.map(String.init) == device
      }
      let kind = mount?.firstRange(of: " - ").map { mount?[$0.upperBound...] ?? "" }
      return ["tmpfs ", "ramfs "].contains { kind?.hasPrefix($0) ?? false }
    }

    /// The number of bytes that `malloc` has allocated and that were not freed.
    ///
    /// Read from glibc's report in XML, since Swift does not import the structure of `mallinfo2`.
    static var heapBytes: Int? {
      typealias Inform = @convention(c) (Int32, UnsafeMutablePointer<FILE>) -> Int32
      guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_info") else { return nil }
      var text: UnsafeMutablePointer<CChar>?
      var length = 0
      guard let stream = open_memstream(&text, &length) else { return nil }
      let failure = unsafeBitCast(symbol, to: Inform.self)(0, stream)
      fclose(stream)
      defer { free(text) }
      return failure == 0 ? text.flatMap { HeapReport(String(cString: $0)).use } : nil
    }

    private static func lines(of file: String) -> [Substring] {
      let bytes = FileManager.default.contents(atPath: file) ?? Data()
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }

    private static func kilobytes(_ name: String) -> Int? {
      fact(name, in: "/proc/self/status").flatMap { $0.split(separator: " ").first }
        .flatMap { Int($0) }
    }

    /// Returns what follows a name and a colon in a file of the system.
    private static func fact(_ name: String, in file: String) -> String? {
      let line = lines(of: file).first { $0.hasPrefix(name) }
      guard let line, let colon = line.firstIndex(of: ":") else { return nil }
      return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
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
