#if MILLPOND_SCHEDULES
  import Dispatch

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// A thread of a schedule, which runs when the schedule says so.
  ///
  /// In a build with schedules, locks, atomic values, queues and hand-overs to other threads are
  /// points at which a logical thread asks its schedule who goes on. Other threads are not affected.
  package final class LogicalThread {
    private let decide: (SchedulePoint, CodeLine) -> Void

    /// Whether no other thread goes on, unless this one has to wait for it.
    private var isQuiet = false

    /// Lets others go on until ``wake`` is called for the object.
    package let wait: (AnyObject) -> Void

    /// Lets the threads that wait for an object go on.
    package let wake: (AnyObject) -> Void

    /// Adds a logical thread.
    package let fork: (@escaping @Sendable () -> Void) -> Void

    /// Returns the identity of the schedule.
    package let schedule: () -> ObjectIdentifier?

    /// The queue whose work the thread does.
    var queue: DispatchQueue?

    /// Creates a thread.
    package init(
      pass: @escaping (SchedulePoint, CodeLine) -> Void, wait: @escaping (AnyObject) -> Void,
      wake: @escaping (AnyObject) -> Void,
      fork: @escaping (@escaping @Sendable () -> Void) -> Void,
      schedule: @escaping () -> ObjectIdentifier?
    ) {
      decide = pass
      self.wait = wait
      self.wake = wake
      self.fork = fork
      self.schedule = schedule
    }

    /// Lets the schedule decide who goes on.
    package func pass(_ point: SchedulePoint, at line: CodeLine) {
      if !isQuiet { decide(point, line) }
    }

    /// Runs `body` without points.
    func runQuietly(_ body: () -> Void) {
      let wasQuiet = exchange(&isQuiet, with: true)
      body()
      isQuiet = wasQuiet
    }

    /// Makes this thread of the process the logical one, for as long as it lives.
    package func adopt() {
      pthread_setspecific(key, Unmanaged.passRetained(self).toOpaque())
    }

    /// The logical thread that runs on this thread; nil on a thread that belongs to no schedule.
    package static var current: LogicalThread? {
      pthread_getspecific(key).map {
        Unmanaged<LogicalThread>.fromOpaque($0).takeUnretainedValue()
      }
    }
  }

  private let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// What a logical thread is about to do.
  package enum SchedulePoint: UInt8, Sendable {
    case call, lock, load, change, yield
  }

  /// A line of the code.
  package struct CodeLine: Hashable, Sendable, CustomStringConvertible {
    private let file: StaticString
    private let line: UInt

    package init(file: StaticString, line: UInt) {
      self.file = file
      self.line = line
    }

    package var description: String { "\(file):\(line)" }

    package static func == (one: CodeLine, other: CodeLine) -> Bool {
      one.file.utf8Start == other.file.utf8Start && one.line == other.line
    }

    package func hash(into hasher: inout Hasher) {
      hasher.combine(file.utf8Start)
      hasher.combine(line)
    }
  }
#endif
