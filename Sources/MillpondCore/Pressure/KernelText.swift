/// What the kernel's small text files say; nil for whatever can't be understood.
enum KernelText {
  /// A count of bytes that is all there is to a file; nil for `max`, or what no `Int` holds.
  static func bytes(_ text: String) -> Int? {
    text.split(whereSeparator: \.isWhitespace).first.flatMap(count)
  }

  /// The count in the line `name count`.
  static func bytes(of name: String, in text: String) -> Int? {
    words(of: name, in: text)?.first.flatMap(count)
  }

  /// The bytes meant by the line `name count kB`.
  static func kibibytes(of name: String, in text: String) -> Int? {
    guard let words = words(of: name, in: text), words.count == 2, words[1] == "kB",
      let count = count(words[0])
    else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: 1_024)
    return overflow ? nil : bytes
  }

  /// The ten-second average, in per cent, in the line `name avg10=2.50 …`.
  static func average(of name: String, in text: String) -> Double? {
    let label = "avg10="
    guard let word = words(of: name, in: text)?.first(where: { $0.hasPrefix(label) }),
      let average = Double(word.dropFirst(label.count)), (0...100).contains(average)
    else { return nil }
    return average
  }

  /// What follows `name` in the first line that begins with it.
  private static func words(of name: String, in text: String) -> [Substring]? {
    for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix(name) {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.first.map({ $0 == name }) == true { return Array(words.dropFirst()) }
    }
    return nil
  }

  private static func count(_ word: Substring) -> Int? {
    Int(word).flatMap { $0 < 0 ? nil : $0 }
  }
}
