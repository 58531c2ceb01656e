/// The options of a command that measures rows.
protocol RowOptions {
  associatedtype Effort: QuickEffort

  var names: [String] { get set }
  var effort: Effort { get set }
  var isJSON: Bool { get set }
  var wantsList: Bool { get set }
  var wantsHelp: Bool { get set }
}

/// The number of measurements.
protocol QuickEffort {
  /// Enough to find a wrong sum.
  static var quick: Self { get }
}

extension RowOptions {
  /// - Throws: ``OptionsError`` for what it doesn't know.
  mutating func read(_ arguments: some Sequence<String>) throws(OptionsError) {
    for argument in arguments {
      switch argument {
      case "--quick": effort = .quick
      case "--json": isJSON = true
      case "--list": wantsList = true
      case "--help", "-h": wantsHelp = true
      case let option where option.hasPrefix("-"): throw .unknownOption(option)
      case let name: names.append(name)
      }
    }
  }
}
