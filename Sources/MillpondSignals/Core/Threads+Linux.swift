#if canImport(Glibc)
  import Glibc

  /// Returns the number of the current thread, for ``threadMark()`` alone.
  func readThreadMark() -> UInt { UInt(pthread_self()) }

  func readStackBounds() -> StackBounds {
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
  import Musl

  /// Returns the number of the current thread, for ``threadMark()`` alone.
  func readThreadMark() -> UInt { UInt(bitPattern: pthread_self()) }

  /// Returns unknown bounds, so no stack is guarded: for the main thread, musl reports only the part
  /// used so far.
  func readStackBounds() -> StackBounds { StackBounds() }
#endif
