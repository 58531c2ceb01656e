/// A set of subscriptions that end together, when the bag is released or disposed of.
///
/// - Note: Any thread.
public final class DisposableBag: Sendable {
  private let lifetime = Lifetime()

  /// Creates an empty bag.
  public init() {}

  deinit {
    lifetime.end()
  }

  /// Adds `disposable`, to be disposed of together with the bag; at once if the bag is disposed of
  /// already.
  ///
  /// A subscription that ends by itself leaves the bag.
  public func insert(_ disposable: Disposable) {
    guard let member = disposable.lifetime, !member.isEnded else { return }
    let link = lifetime.child()
    link.onEnd { member.end() }
    member.onEnd { link.end() }
  }

  /// Disposes of everything in the bag, now and whenever something is inserted later.
  public func dispose() {
    lifetime.end()
  }
}

extension Disposable {
  /// Adds this to `bag`, which disposes of it.
  public func disposed(by bag: DisposableBag) {
    bag.insert(self)
  }
}
