/// Goes through a command line's arguments one by one.
///
/// `--` ends the options; `--name=value` is as good as `--name value`.
struct ArgumentReader {
  /// One option, or one of the arguments that are none.
  enum Argument {
    case option(name: String)
    case plain(String)
  }

  private var rest: ArraySlice<String>
  private var isPastOptions = false
  /// The option just read, with the value that was written into the same argument.
  private var name = ""
  private var attached: String?

  init(_ arguments: [String]) { rest = arguments[...] }

  /// The next argument; nil when there are no more.
  ///
  /// - Throws: When the option before has a value attached that nobody has asked for.
  mutating func next() throws(OptionsError) -> Argument? {
    if attached != nil { throw .valueUnwanted(option: name) }
    guard let text = rest.popFirst() else { return nil }
    if isPastOptions || !text.hasPrefix("-") { return .plain(text) }
    if text == "--" {
      isPastOptions = true
      return try next()
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    name = String(parts[0])
    attached = parts.count > 1 ? String(parts[1]) : nil
    return .option(name: name)
  }

  /// The value of the option just read.
  ///
  /// - Throws: When there is none, or another option stands in its place.
  mutating func value(_ meaning: String) throws(OptionsError) -> String {
    let isAttached = attached != nil
    let value = attached ?? rest.popFirst() ?? ""
    attached = nil
    if value.isEmpty || (!isAttached && value.hasPrefix("--")) {
      throw .valueMissing(option: name, meaning: meaning)
    }
    return value
  }
}
