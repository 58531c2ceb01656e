#if canImport(Darwin)
  import Darwin
  import Synchronization

  /// Returns a number that identifies the current thread: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(bitPattern: pthread_self())
  }

  /// Yields the processor to other threads.
  @usableFromInline
  package func yieldThread() {
    sched_yield()
  }

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
    return pthread_key_create(&key) { $0.deallocate() } == 0 ? key : nil
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

  private func readStackBounds() -> StackBounds {
    let highest = UInt(bitPattern: pthread_get_stackaddr_np(pthread_self()))
    let size = UInt(pthread_get_stacksize_np(pthread_self()))
    return StackBounds(lowest: highest - size, size: size)
  }
#endif
