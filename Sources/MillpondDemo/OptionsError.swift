/// The reasons why a command line is invalid.
enum OptionsError: Error, Equatable {
  case unknown(option: String)
  case valueMissing(option: String, meaning: String)
  case valueUnwanted(option: String)
  case outOfRange(option: String, value: String, ClosedRange<Int>)
  case notURL(String)
  case meaninglessWithURLs(option: String)
  case notAlone(String)

  /// The exit code of a wrong call, as most tools have it.
  static let exitCode: Int32 = 2
}

extension OptionsError: CustomStringConvertible {
  /// One line for standard error.
  var description: String {
    "millpond-demo: \(problem.harmless) Try millpond-demo --help."
  }

  private var problem: String {
    switch self {
    case .unknown(let option): "There is no option \(option)."
    case .valueMissing(let option, let meaning): "\(option) needs \(meaning) after it."
    case .valueUnwanted(let option): "\(option) takes no value."
    case .outOfRange(let option, let value, let range):
      "\(option) takes a number from \(range.lowerBound) to \(range.upperBound), not '\(value)'."
    case .notURL(let text): "'\(text)' is not a URL that begins with http:// or https://."
    case .notAlone(let command): "\(command) takes no options and no other arguments."
    case .meaninglessWithURLs(let option):
      "\(option) applies to the comment thread, and can't be combined with URLs."
    }
  }
}
