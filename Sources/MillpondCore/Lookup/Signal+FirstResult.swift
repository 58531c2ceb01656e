public import MillpondSignals

extension Signal {
  /// The first value as a success, or the failure; nil for an end without a value.
  @inlinable
  var firstResult: Signal<Result<Value, any Error>?> {
    take(1).map { Optional(Result.success($0)) }
      .ifNoValue { failure in .just(failure.map { .failure($0) }) }
  }
}
