/// Layers caches of any types, the first on top.
///
///     let pictures = layers {
///       MemoryCache<URL, Data>(costLimit: .mebibytes(64), cost: \.count)
///       DiskCache(directory: folder, byteLimit: .mebibytes(256)).mapKeys(\.absoluteString)
///       HTTPSource().limited(to: 6)
///     }
///
/// The same as `memory.layered(over: disk).layered(over: network)`. A source that is not a cache
/// may come last. For a list that is known only at run time, use ``AnyCache/init(layering:)``.
///
/// - Parameter build: Lists the layers, one a line.
@inlinable
public func layers<Layers: Source>(@LayersBuilder _ build: () throws -> Layers) rethrows -> Layers {
  try build()
}

/// The builder of the layers in ``layers(_:)``.
@resultBuilder
public enum LayersBuilder {
  /// Returns the top layer.
  ///
  /// - Parameter first: The top layer.
  @inlinable
  public static func buildPartialBlock<First: Source>(first: First) -> First {
    first
  }

  /// Returns the layers so far over the next one.
  ///
  /// - Parameters:
  ///   - accumulated: The layers so far, the first on top.
  ///   - next: The layer below them.
  @inlinable
  public static func buildPartialBlock<Upper: Cache, Lower: Source<Upper.Key, Upper.Value>>(
    accumulated: Upper, next: Lower
  ) -> Layered<Upper, Lower> {
    accumulated.layered(over: next)
  }
}
