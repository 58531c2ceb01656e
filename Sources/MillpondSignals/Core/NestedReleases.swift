#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Releases `contents`; inside many nested releases, defers it until those have returned.
///
/// For objects that may contain others of their kind: a thousand nested releases overflow the
/// stack.
func releaseNested<Contents>(_ contents: inout Contents, leaving empty: Contents) {
  guard let releases = NestedReleases.ofThread else { return contents = empty }
  if releases.count == NestedReleases.limit {
    releases.postponed.append(contents)
    return contents = empty
  }
  releases.count += 1
  replace(&contents, by: empty)
  if releases.count == NestedReleases.limit {
    while releases.postponed.popLast() != nil {}
  }
  releases.count -= 1
}

/// Not inlined: the optimiser would move the release before the count.
@inline(never)
private func replace<Contents>(_ contents: inout Contents, by empty: Contents) {
  contents = empty
}

/// The releases in progress on one thread, used by that thread alone.
private final class NestedReleases {
  /// The number of releases that may be nested.
  static let limit = 8

  var count = 0
  var postponed: [Any] = []

  /// The releases of the current thread; nil if the process has no room for one more key.
  static var ofThread: NestedReleases? {
    guard let key else { return nil }
    if let known = pthread_getspecific(key) {
      return Unmanaged<NestedReleases>.fromOpaque(known).takeUnretainedValue()
    }
    let new = NestedReleases()
    pthread_setspecific(key, Unmanaged.passRetained(new).toOpaque())
    return new
  }

  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    let isMade = pthread_key_create(&key) { releases in
      guard let releases = releases as UnsafeMutableRawPointer? else { return }
      Unmanaged<NestedReleases>.fromOpaque(releases).release()
    }
    return isMade == 0 ? key : nil
  }()
}
