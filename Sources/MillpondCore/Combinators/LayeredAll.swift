extension AnyCache {
  /// Layers any number of caches: the first is asked first, and so on, as by ``Cache/layered(over:)``.
  ///
  /// Of none: a cache of nothing. A source that can only be asked may come last.
  ///
  /// - Complexity: O(*n*) once; a miss passes through all of them.
  public init(layering layers: some Sequence<AnyCache>) {
    let fromBelow = layers.reversed()
    let lowest = fromBelow.first ?? AnyCache(EmptyCache())
    self = fromBelow.dropFirst().reduce(lowest) { AnyCache($1.layered(over: $0)) }
  }
}
