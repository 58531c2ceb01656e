#if canImport(Glibc)
  import Glibc
  import Synchronization
#elseif canImport(Musl)
  import Musl
#endif

#if canImport(Glibc)
  /// What tells threads apart: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(pthread_self())
  }
#elseif canImport(Musl)
  /// What tells threads apart: even, and never zero.
  @usableFromInline
  package func threadMark() -> UInt {
    UInt(bitPattern: pthread_self())
  }
#endif

#if canImport(Glibc) || canImport(Musl)
  /// Lets others run.
  @usableFromInline
  package func yieldThread() {
    sched_yield()
  }
#endif

#if canImport(Glibc)
  /// The stack of the current thread; nil if it is not known.
  func threadStack() -> UnsafeMutablePointer<ThreadStack>? {
    let number = numberOfKey.load(ordering: .relaxed)
    if number > 0, let known = pthread_getspecific(pthread_key_t(number - 1)) {
      return known.assumingMemoryBound(to: ThreadStack.self)
    }
    return makeThreadStack()
  }

  /// One more than the key below, zero until that is made: quicker to read than a lazy value.
  private let numberOfKey = Atomic<UInt>(0)

  /// Nil if the process has no key left; then no stack is guarded.
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

  /// `pthread_getattr_np`, by its name: without `_GNU_SOURCE` the header does not declare it.
  private let readAttributes: ReadAttributes? =
    dlsym(nil, "pthread_getattr_np").map { unsafeBitCast($0, to: ReadAttributes.self) }

  private typealias ReadAttributes =
    @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
#elseif canImport(Musl)
  /// Not guarded: of the main thread, musl tells only how much of its stack has been used so far.
  func threadStack() -> UnsafeMutablePointer<ThreadStack>? {
    nil
  }
#endif
