import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

#if canImport(Glibc)
  /// Returns a number that identifies the current thread: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(pthread_self())
  }
#elseif canImport(Musl)
  /// Returns a number that identifies the current thread: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(bitPattern: pthread_self())
  }
#endif

#if canImport(Glibc) || canImport(Musl)
  /// Yields the processor to other threads.
  @usableFromInline
  package func yieldThread() {
    sched_yield()
  }
#endif

#if canImport(Glibc) || canImport(Musl)
  /// Returns the stack of the current thread; nil if unknown.
  func threadStack() -> UnsafeMutablePointer<ThreadStack>? {
    let number = numberOfKey.load(ordering: .relaxed)
    if number > 0, let known = pthread_getspecific(pthread_key_t(number - 1)) {
      return known.assumingMemoryBound(to: ThreadStack.self)
    }
    return makeThreadStack()
  }

  /// The key below plus one, zero until it is made: faster to read than a lazy value.
  private let numberOfKey = Atomic<UInt>(0)

  /// The key of the thread's stack; nil if the process has no key left, and then no stack is
  /// guarded.
  private let threadStackKey: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key) { $0?.deallocate() } == 0 ? key : nil
  }()

  @inline(never)
  private func makeThreadStack() -> UnsafeMutablePointer<ThreadStack>? {
    guard let key = threadStackKey else { return nil }
    let stack = UnsafeMutablePointer<ThreadStack>.allocate(capacity: 1)
    stack.initialize(to: ThreadStack(readStackBounds()))
    pthread_setspecific(key, stack)
    numberOfKey.store(UInt(key) + 1, ordering: .relaxed)
    return stack
  }

#endif

#if canImport(Glibc)
  private func readStackBounds() -> StackBounds {
    let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
    defer { attributes.deallocate() }
    guard let read = readAttributes, read(pthread_self(), attributes) == 0 else {
      return StackBounds()
    }
    defer { pthread_attr_destroy(attributes) }
    var lowest: UnsafeMutableRawPointer?
    var size = 0
    guard pthread_attr_getstack(attributes, &lowest, &size) == 0 else { return StackBounds() }
    return StackBounds(lowest: UInt(bitPattern: lowest), size: UInt(size))
  }

  /// `pthread_getattr_np`, looked up by name: the header declares it only under `_GNU_SOURCE`.
  private let readAttributes: ReadAttributes? =
    dlsym(nil, "pthread_getattr_np").map { unsafeBitCast($0, to: ReadAttributes.self) }

  private typealias ReadAttributes =
    @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
#elseif canImport(Musl)
  /// Returns unknown bounds, so no stack is guarded: for the main thread, musl reports only the part
  /// used so far.
  private func readStackBounds() -> StackBounds { StackBounds() }
#endif
