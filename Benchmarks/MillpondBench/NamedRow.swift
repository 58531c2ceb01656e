/// A line of a table, which the beginning of its name selects.
protocol NamedRow {
  var name: String { get }
  var summary: String { get }
}

extension Array where Element: NamedRow {
  /// Returns the rows whose names begin with one of `names`, in order; without names, all rows.
  ///
  /// - Throws: ``OptionsError`` for a name with which no row begins.
  func named(_ names: [String]) throws(OptionsError) -> [Element] {
    for name in names where !contains(where: { $0.name.hasPrefix(name) }) {
      throw .unknownRow(name)
    }
    return names.isEmpty ? self : filter { row in names.contains { row.name.hasPrefix($0) } }
  }
}
