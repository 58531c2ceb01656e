/// A reader of a command line's arguments, one by one.
///
/// `--` ends the options; `--name=value` means the same as `--name value`.
struct ArgumentReader {
  /// An option, or an argument that is none.
  enum Argument {
    case option(name: String)
    case plain(String)
  }

  private var rest: ArraySlice<String>
  private var isPastOptions = false
  /// The option just read, with the value from the same argument.
  private var name = ""
  private var attached: String?

  init(_ arguments: [String]) { rest = arguments[...] }

  /// Returns the next argument; nil when there are no more.
  ///
  /// - Throws: ``OptionsError`` if the option before it has an attached value that was not read.
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

  /// Returns the value of the option just read.
  ///
  /// - Parameter meaning: The kind of value, for the error.
  /// - Throws: ``OptionsError`` if there is none, or another option in its place.
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
