#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of the system, whose absence is a result.
package enum SystemThread {
  /// Runs `body` on a new thread; returns false when the system has none.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let passed = Unmanaged.passRetained(ThreadBody(body))
    guard spawn(passed.toOpaque()) else {
      _ = passed.takeRetainedValue()
      return false
    }
    return true
  }

  private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  fileprivate static func run(_ passed: UnsafeMutableRawPointer) {
    Unmanaged<ThreadBody>.fromOpaque(passed).takeRetainedValue().run()
  }
}

#if canImport(Darwin)
  extension SystemThread {
    static var current: UInt { UInt(bitPattern: pthread_self()) }

    private static func spawn(_ passed: UnsafeMutableRawPointer) -> Bool {
      var thread: Darwin.pthread_t?
      let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { passed in
        SystemThread.run(passed)
        return nil
      }
      guard pthread_create(&thread, nil, entry, passed) == 0, let thread else { return false }
      pthread_detach(thread)
      return true
    }
  }
#else
  extension SystemThread {
    private static let entry:
      @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { passed in
        if let passed { SystemThread.run(passed) }
        return nil
      }
  }
#endif

#if canImport(Glibc)
  extension SystemThread {
    static var current: UInt { UInt(pthread_self()) }

    private static func spawn(_ passed: UnsafeMutableRawPointer) -> Bool {
      var thread = pthread_t()
      guard pthread_create(&thread, nil, entry, passed) == 0 else { return false }
      pthread_detach(thread)
      return true
    }
  }
#elseif canImport(Musl)
  extension SystemThread {
    static var current: UInt { UInt(bitPattern: pthread_self()) }

    private static func spawn(_ passed: UnsafeMutableRawPointer) -> Bool {
      var thread: pthread_t?
      guard pthread_create(&thread, nil, entry, passed) == 0, let thread else { return false }
      pthread_detach(thread)
      return true
    }
  }
#endif
