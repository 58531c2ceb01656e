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
/// The types of keys and values are those of the first layer: `MemoryCache<URL, Data>(…)` has to
/// name them there, and an `EmptyCache()` in a later line need not.
///
/// - Parameter build: Lists the layers, one a line.
@inlinable
public func layers<Key, Value, Layers: Source<Key, Value>>(
  @LayersBuilder<Key, Value> _ build: () throws -> Layers
) rethrows -> Layers {
  try build()
}

/// The builder of the layers in ``layers(_:)``.
@resultBuilder
public enum LayersBuilder<Key: Hashable & Sendable, Value: Sendable> {
  /// Returns a layer, whose types are those of the others.
  @inlinable
  public static func buildExpression<Layer: Source<Key, Value>>(_ layer: Layer) -> Layer {
    layer
  }

  /// Returns the top layer.
  ///
  /// - Parameter first: The top layer.
  @inlinable
  public static func buildPartialBlock<First: Source<Key, Value>>(first: First) -> First {
    first
  }

  /// Returns the layers so far over the next one.
  ///
  /// - Parameters:
  ///   - accumulated: The layers so far, the first on top.
  ///   - next: The layer below them.
  @inlinable
  public static func buildPartialBlock<Upper: Cache<Key, Value>, Lower: Source<Key, Value>>(
    accumulated: Upper, next: Lower
  ) -> Layered<Upper, Lower> {
    accumulated.layered(over: next)
  }
}
