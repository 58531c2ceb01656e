extension Source {
  /// How much each layer keeps now, by its name, or by what it is if it has none.
  ///
  /// Layers of the same name are added up; those that can't tell are left out.
  ///
  /// - Complexity: O(*n*) in the layers, with a lock of each.
  public var sizes: [String: LayerSize] {
    Dictionary(layout(for: nil).allSizes, uniquingKeysWith: +)
  }
}

extension Layout {
  /// What the stores keep, each by the name that stands nearest to it.
  fileprivate var allSizes: [(String, LayerSize)] {
    sizes(under: nil)
  }

  private func sizes(under name: String?) -> [(String, LayerSize)] {
    // A wrapper's name is that of the layer in it; the name of several layers is none of theirs.
    let own = self.name ?? (role == .wrapper || parts.isEmpty ? name : nil)
    let passedOn = role == .wrapper ? own : nil
    return (size.map { [(own ?? title, $0())] } ?? [])
      + parts.flatMap { $0.sizes(under: passedOn) }
  }
}

extension LayerSize {
  /// Both together; what does not fit an `Int` saturates.
  fileprivate static func + (one: LayerSize, other: LayerSize) -> LayerSize {
    let cost = one.cost.flatMap { own in other.cost.map { saturated(own, $0) } }
    return LayerSize(count: saturated(one.count, other.count), cost: cost)
  }

  private static func saturated(_ one: Int, _ other: Int) -> Int {
    let (sum, overflow) = one.addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
