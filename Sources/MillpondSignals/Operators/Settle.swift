extension Signal {
  /// Sends each value as a success, and a failure as a last value: it never fails.
  ///
  /// So that one failure doesn't end what joins several: `zip(requests.map { $0.settle() })`.
  @inlinable
  public func settle() -> Signal<Result<Value, any Error>> {
    materialize().compactMap { event in
      switch event {
      case .next(let value): .success(value)
      case .failed(let error): .failure(error)
      case .progress, .completed: nil
      }
    }
  }
}
