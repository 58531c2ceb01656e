#if os(Linux)
  import Foundation

  /// The figures of this process from the system and its C library; nil where they have none.
  enum SystemReport {
    /// The memory of the process, in bytes.
    static var residentBytes: Int? { status("VmRSS") }

    /// The peak of it since ``forgetPeak()``.
    static var peakBytes: Int? { status("VmHWM") }

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
      // A mount a line: its device, its place and its kind.
      let mounts = lines(of: "/proc/mounts").map { $0.split(separator: " ") }
      let mount = mounts.filter { folder.hasPrefix($0[1]) }.max { $0[1].count < $1[1].count }
      return mount.map { ["tmpfs", "ramfs"].contains($0[2]) } ?? false
    }

    /// Returns a size in the status of this process, in bytes.
    private static func status(_ name: String) -> Int? {
      lines(of: "/proc/self/status").first { $0.hasPrefix(name) }
        .flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
    }

    private static func lines(of file: String) -> [Substring] {
      let bytes = FileManager.default.contents(atPath: file) ?? Data()
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    }
  }
#endif
