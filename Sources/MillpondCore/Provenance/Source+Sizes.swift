extension Source {
  /// The present size of each layer, by its name, or by its title if it has none.
  ///
  /// Sizes of layers with the same name are added; layers that do not report a size are left out.
  ///
  /// - Complexity: O(*n*) in the layers, with a lock of each.
  public var sizes: [String: LayerSize] {
    topology(for: nil).sizes
  }
}

extension Topology {
  /// The sizes of the stores, each under the closest name.
  package var sizes: [String: LayerSize] {
    Dictionary(sizes(under: nil), uniquingKeysWith: +)
  }

  private func sizes(under name: String?) -> [(String, LayerSize)] {
    // The name of a wrapper is that of its layer; the name of several layers applies to none of
    // them.
    let own = self.name ?? (role == .wrapper || parts.isEmpty ? name : nil)
    let passedOn = role == .wrapper ? own : nil
    return (size.map { [(own ?? title, $0())] } ?? [])
      + parts.flatMap { $0.sizes(under: passedOn) }
  }
}

extension LayerSize {
  /// Returns the sum of two sizes, which saturates on overflow.
  fileprivate static func + (one: LayerSize, other: LayerSize) -> LayerSize {
    let cost = one.cost.flatMap { own in other.cost.map { saturatedSum(own, $0) } }
    return LayerSize(count: saturatedSum(one.count, other.count), cost: cost)
  }
}

/// Returns the sum of two numbers that are not negative; the greatest number on overflow.
func saturatedSum(_ one: Int, _ other: Int) -> Int {
  let (sum, isTooLarge) = one.addingReportingOverflow(other)
  return isTooLarge ? .max : sum
}
