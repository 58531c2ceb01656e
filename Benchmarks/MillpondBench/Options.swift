/// The arguments after the name of a command.
struct Options {
  var names: [String] = []
  var isQuick = false
  var isJSON = false
  var wantsList = false
  var wantsHelp = false

  /// The values of the options that have one.
  private var values: [String: String] = [:]

  /// Reads the arguments.
  ///
  /// - Parameters:
  ///   - flags: The options without a value that the command has, besides `--help`.
  ///   - valued: Its options with a value, and the meaning of that.
  /// - Throws: ``OptionsError`` for anything else.
  init(
    _ arguments: some Sequence<String>, flags: Set<String> = ["--quick", "--json", "--list"],
    valued: [String: String] = [:]
  ) throws(OptionsError) {
    var rest = arguments.makeIterator()
    while let argument = rest.next() {
      if let meaning = valued[argument] {
        values[argument] = try rest.value(of: argument, meaning)
      } else if ["--help", "-h"].contains(argument) {
        wantsHelp = true
      } else if flags.contains(argument) {
        set(argument)
      } else if argument.hasPrefix("-") {
        throw .unknownOption(argument)
      } else {
        names.append(argument)
      }
    }
  }

  private mutating func set(_ flag: String) {
    switch flag {
    case "--quick": isQuick = true
    case "--json": isJSON = true
    default: wantsList = true
    }
  }

  /// Returns the value of an option; nil if it is not among the arguments.
  subscript(option: String) -> String? {
    values[option]
  }
}

extension IteratorProtocol<String> {
  /// Returns the value after an option.
  ///
  /// - Throws: ``OptionsError`` when nothing does, or the next option.
  mutating func value(of option: String, _ meaning: String) throws(OptionsError) -> String {
    guard let value = next(), !value.isEmpty, !value.hasPrefix("-") else {
      throw .valueMissing(option, meaning)
    }
    return value
  }
}

/// A mistake in a command line.
enum OptionsError: Error, CustomStringConvertible {
  case unknownOption(String)
  case unknownRow(String)
  case unexpected(String)
  case valueMissing(String, String)

  var description: String {
    switch self {
    case .unknownOption(let option): "unknown option \(option); see --help"
    case .unknownRow(let name): "no row is called \(name); see --list"
    case .unexpected(let name): "unexpected argument \(name); see --help"
    case .valueMissing(let option, let value): "\(option) needs \(value) after it; see --help"
    }
  }
}
