extension Signal {
  /// Lets through the values that satisfy `isIncluded`.
  @inlinable
  public func filter(_ isIncluded: @escaping @Sendable (Value) -> Bool) -> Signal {
    derived { observer, lifetime in
      let next = observer.onNext
      run(observer.replacingNext { if isIncluded($0) { next($0) } }, lifetime)
    }
  }
}
