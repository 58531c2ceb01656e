/// A line of a table, which the beginning of its name selects.
protocol NamedRow {
  var name: String { get }
}

extension Row: NamedRow {}
extension MemoryRow: NamedRow {}
extension DiskRow: NamedRow {}
extension NetworkRow: NamedRow {}

extension Array where Element: NamedRow {
  /// Those whose names begin so, in order; all of them for no names.
  ///
  /// - Throws: ``OptionsError`` for a name that none has.
  func named(_ names: [String]) throws(OptionsError) -> [Element] {
    for name in names where !contains(where: { $0.name.hasPrefix(name) }) {
      throw .unknownRow(name)
    }
    return names.isEmpty ? self : filter { row in names.contains { row.name.hasPrefix($0) } }
  }
}
