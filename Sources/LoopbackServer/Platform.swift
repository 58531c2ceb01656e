#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Thin wrappers of the system calls; no file above this one imports the C library.
enum Platform {
  /// The result of one attempt to move bytes.
  enum Transfer {
    case moved(Int)
    case wouldBlock
    case failed(Int32)
  }

  /// The state of a connection and its wake-up pipe after one wait.
  struct Readiness {
    let isReadable: Bool
    let isWritable: Bool
    let isHungUp: Bool
    let isWoken: Bool
  }

  static var lastError: Int32 { errno }

  static func message(for code: Int32) -> String { String(cString: strerror(code)) }

  private static func retrying(_ call: () -> Int) -> Int {
    while true {
      let result = call()
      guard result == -1 && errno == EINTR else { return result }
    }
  }

  private static func transfer(_ call: () -> Int) -> Transfer {
    let moved = retrying(call)
    guard moved == -1 else { return .moved(moved) }
    return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed(errno)
  }
}

// MARK: - Sockets

extension Platform {
  static func openStream() -> Int32 { socket(AF_INET, streamType, 0) }

  /// Binds to 127.0.0.1 on a port that the system chooses.
  static func bindToLoopback(_ descriptor: Int32) -> Bool {
    withLoopbackAddress(port: 0) { bind(descriptor, $0, $1) } == 0
  }

  /// Starts to connect to a port of 127.0.0.1; the socket is writable once it is connected.
  static func connectToLoopback(_ descriptor: Int32, _ port: UInt16) {
    _ = withLoopbackAddress(port: port) { connect(descriptor, $0, $1) }
  }

  private static func withLoopbackAddress(
    port: UInt16, _ call: (UnsafePointer<sockaddr>?, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return withUnsafeBytes(of: &address) { bytes in
      call(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
    }
  }

  static func boundPort(_ descriptor: Int32) -> UInt16? {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafeMutableBytes(of: &address) { bytes in
      getsockname(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &size)
    }
    return failed == 0 ? UInt16(bigEndian: address.sin_port) : nil
  }

  static func startListening(_ descriptor: Int32, queue length: Int32?) -> Bool {
    listen(descriptor, length ?? SOMAXCONN) == 0
  }

  static func acceptOne(_ descriptor: Int32) -> Int32 {
    Int32(retrying { Int(accept(descriptor, nil, nil)) })
  }

  static func receiveBytes(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer)
    -> Transfer
  {
    transfer { recv(descriptor, buffer.baseAddress, buffer.count, 0) }
  }

  static func sendBytes(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Transfer {
    transfer { send(descriptor, bytes.baseAddress, bytes.count, withoutSignal) }
  }

  /// Makes a socket non-blocking, not inherited by child processes, and free of SIGPIPE.
  static func configure(_ descriptor: Int32) {
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    silenceSignal(descriptor)
  }

  static func sendSmallPiecesAtOnce(_ descriptor: Int32) {
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
  }

  /// Makes the next close send a reset instead of an orderly end.
  static func resetOnClose(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  static func endBothWays(_ descriptor: Int32) { shutdown(descriptor, bothWays) }

  static func endWriting(_ descriptor: Int32) { shutdown(descriptor, writingWay) }

  // Not retried after EINTR: the descriptor is gone, and its number may have been assigned again.
  static func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
}

// MARK: - Pipes and waiting

extension Platform {
  /// Opens a pipe; returns nil when the process has no descriptors left.
  static func openPipe() -> (readEnd: Int32, writeEnd: Int32)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    return (ends[0], ends[1])
  }

  static func writeByte(_ descriptor: Int32) {
    var byte: UInt8 = 1
    _ = retrying { write(descriptor, &byte, 1) }
  }

  static func readBytes(_ descriptor: Int32) {
    var bytes: (UInt64, UInt64) = (0, 0)
    _ = retrying { read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) }
  }

  /// Waits once, without a timeout indefinitely; an interrupted wait reports nothing ready.
  static func look(
    at descriptor: Int32, reading: Bool, writing: Bool, wake: Int32, timeout: Duration?
  ) -> Readiness {
    let events = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0) | hangUpInterest
    var entries = [
      pollfd(fd: descriptor, events: Int16(events), revents: 0),
      pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
    ]
    let found = poll(&entries, nfds_t(entries.count), timeout.map(wholeMilliseconds) ?? -1)
    let seen = found > 0 ? Int32(entries[0].revents) : 0
    return Readiness(
      isReadable: seen & POLLIN != 0,
      isWritable: seen & POLLOUT != 0,
      isHungUp: seen & (hangUpInterest | POLLHUP | POLLERR | POLLNVAL) != 0,
      isWoken: found > 0 && entries[1].revents != 0)
  }

  // Rounded up, because a wait that ends early would be followed by a spin.
  private static func wholeMilliseconds(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = max(duration, .zero).components
    let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return seconds > 1_000_000 ? 1_000_000_000 : Int32(seconds * 1_000 + fraction)
  }
}

// MARK: - Threads

extension Platform {
  /// A mutex and a condition at fixed addresses.
  struct Lock {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
      mutex.initialize(to: pthread_mutex_t())
      condition.initialize(to: pthread_cond_t())
      pthread_mutex_init(mutex, nil)
      Platform.initialize(condition)
    }

    func destroy() {
      pthread_cond_destroy(condition)
      pthread_mutex_destroy(mutex)
      condition.deallocate()
      mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }

    func unlock() { pthread_mutex_unlock(mutex) }

    func wakeAll() { pthread_cond_broadcast(condition) }

    /// Waits under the lock, without a limit indefinitely; may return early.
    func sleep(atMost limit: Duration?) {
      guard let limit else {
        pthread_cond_wait(condition, mutex)
        return
      }
      let (seconds, attoseconds) = min(max(limit, .zero), .seconds(1_000_000)).components
      let span = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
      Platform.sleep(on: condition, mutex, span)
    }
  }

  /// Runs `body` on a new thread; returns false when the system has none.
  static func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
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

  private static func runThread(_ passed: UnsafeMutableRawPointer) {
    Unmanaged<ThreadBody>.fromOpaque(passed).takeRetainedValue().run()
  }
}

// MARK: - Platform differences

#if canImport(Darwin)
  extension Platform {
    private static var streamType: Int32 { SOCK_STREAM }
    private static var withoutSignal: Int32 { 0 }
    private static var hangUpInterest: Int32 { POLLHUP }
    private static var bothWays: Int32 { SHUT_RDWR }
    private static var writingWay: Int32 { SHUT_WR }

    static var currentThread: UInt { UInt(bitPattern: pthread_self()) }

    private static func silenceSignal(_ descriptor: Int32) {
      var on: Int32 = 1
      let size = socklen_t(MemoryLayout<Int32>.size)
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, size)
    }

    private static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
      pthread_cond_init(condition, nil)
    }

    private static func sleep(
      on condition: UnsafeMutablePointer<pthread_cond_t>,
      _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ span: timespec
    ) {
      var span = span
      pthread_cond_timedwait_relative_np(condition, mutex, &span)
    }

    private static func spawn(_ passed: UnsafeMutableRawPointer) -> Bool {
      var thread: pthread_t?
      let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { passed in
        Platform.runThread(passed)
        return nil
      }
      guard pthread_create(&thread, nil, entry, passed) == 0, let thread else { return false }
      pthread_detach(thread)
      return true
    }
  }
#else
  extension Platform {
    private static var withoutSignal: Int32 { Int32(MSG_NOSIGNAL) }
    private static var hangUpInterest: Int32 { 0x2000 }  // POLLRDHUP, which Swift does not see
    private static var bothWays: Int32 { Int32(SHUT_RDWR) }
    private static var writingWay: Int32 { Int32(SHUT_WR) }

    private static func silenceSignal(_ descriptor: Int32) {}

    // Uses the monotonic clock, so that setting the wall clock ends no wait.
    private static func initialize(_ condition: UnsafeMutablePointer<pthread_cond_t>) {
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    }

    private static func sleep(
      on condition: UnsafeMutablePointer<pthread_cond_t>,
      _ mutex: UnsafeMutablePointer<pthread_mutex_t>, _ span: timespec
    ) {
      var end = timespec()
      clock_gettime(CLOCK_MONOTONIC, &end)
      let nanoseconds = end.tv_nsec + span.tv_nsec
      end.tv_sec += span.tv_sec + nanoseconds / 1_000_000_000
      end.tv_nsec = nanoseconds % 1_000_000_000
      pthread_cond_timedwait(condition, mutex, &end)
    }
  }
#endif

#if canImport(Glibc)
  extension Platform {
    private static var streamType: Int32 { Int32(SOCK_STREAM.rawValue) }

    static var currentThread: UInt { UInt(pthread_self()) }

    private static func spawn(_ passed: UnsafeMutableRawPointer) -> Bool {
      var thread = pthread_t()
      guard pthread_create(&thread, nil, entry, passed) == 0 else { return false }
      pthread_detach(thread)
      return true
    }
  }
#elseif canImport(Musl)
  extension Platform {
    private static var streamType: Int32 { SOCK_STREAM }

    static var currentThread: UInt { UInt(bitPattern: pthread_self()) }

    private static func spawn(_ passed: UnsafeMutableRawPointer) -> Bool {
      var thread: pthread_t?
      guard pthread_create(&thread, nil, entry, passed) == 0, let thread else { return false }
      pthread_detach(thread)
      return true
    }
  }
#endif

#if !canImport(Darwin)
  extension Platform {
    private static var entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
    {
      { passed in
        if let passed { Platform.runThread(passed) }
        return nil
      }
    }
  }
#endif
