extension Signal {
  /// Sends the elements of `sequence` in order, and completes; stops where the subscriber leaves.
  @inlinable
  public static func from(_ sequence: some Sequence<Value> & Sendable) -> Signal {
    Signal { observer, lifetime in
      for element in sequence {
        if lifetime.isEnded { return }
        observer.next(element)
      }
      if !lifetime.isEnded { observer.completed() }
    }
  }

  /// Sends `values` in order, and completes.
  @inlinable
  public static func of(_ values: Value...) -> Signal {
    from(values)
  }
}
